"""How often the latency gate is right, beside what people use in its place."""
