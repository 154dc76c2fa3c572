"""Frozen records that the rooms hand to each other."""
