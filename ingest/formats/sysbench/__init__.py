"""sysbench: its text, and the JSON of its Lua hooks."""
