"""The page of a gate."""
