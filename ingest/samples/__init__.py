"""The sample projects and their files."""
