"""Where did the level of a series change, and how do two versions compare? Pure numbers, no framework."""
