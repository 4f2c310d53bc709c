"""Tables of metrics as people and scripts write them, as text, CSV and JSON."""
