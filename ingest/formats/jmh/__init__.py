"""JMH: its text output, its JSON and its CSV."""
