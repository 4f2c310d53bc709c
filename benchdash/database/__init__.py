"""The connection to PostgreSQL, and the few helpers that every package may use."""
