"""One stage of one cell in one child process."""
