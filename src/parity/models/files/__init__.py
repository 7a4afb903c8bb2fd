"""Files of weights: what kind one is, what it holds, and how that comes into a module. Nothing of a file is run."""
