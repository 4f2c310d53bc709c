"""Tools whose workload is made after TPC-C, and which count new orders a minute."""
