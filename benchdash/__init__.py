"""benchdash: the history of benchmark results."""
