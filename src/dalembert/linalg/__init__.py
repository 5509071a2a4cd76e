"""Linear algebra: the saddle solve, orderings, the dense reference."""
