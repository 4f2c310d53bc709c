"""A simulated year of benchmarks, driven through the public door and held against what truly happened."""
