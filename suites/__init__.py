"""The regression suites and the models they register."""
