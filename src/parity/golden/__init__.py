"""What was approved at the last release: record it, read it, hold today against it."""
