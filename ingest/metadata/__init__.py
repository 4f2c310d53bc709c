"""Words about a file: fields, meta, configuration; read strictly and without secrets."""
