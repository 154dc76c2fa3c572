"""A year's journal of a small, invented team, and ten questions to it."""
