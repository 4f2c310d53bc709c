"""The way of a file from its arrival to its runs."""
