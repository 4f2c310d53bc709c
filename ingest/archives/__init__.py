"""Archives and folders: what lies in them, what goes with what, and their files as uploads."""
