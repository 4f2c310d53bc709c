"""Where the bytes of files are kept."""
