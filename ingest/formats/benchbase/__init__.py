"""BenchBase, OLTPBench before it: the summary of a run, and what it prints."""
