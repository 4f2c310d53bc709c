"""What is said of a file: fields, meta, configuration; read strictly and without secrets."""
