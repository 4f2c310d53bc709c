"""Looks for files that no format understands or refuses: a coverage-guided fuzzer over every format."""
