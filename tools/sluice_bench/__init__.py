"""Reads, judges and shows the measurements of the benchmark; `python -m sluice_bench --help`."""
