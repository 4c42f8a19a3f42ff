"""Reads, judges and shows what the benchmark measured; `python -m sluice_bench --help`."""
