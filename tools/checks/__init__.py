"""The checks of check_sources.py: each takes the root of the tree and returns a list of Problem."""
