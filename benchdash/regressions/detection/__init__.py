"""Finding changes of level in series, and comparing versions. Pure numbers, no framework."""
