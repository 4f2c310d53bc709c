"""The stores of the bytes of files."""
