"""Which model it is, and how it is built again in any process."""
