"""Agents of others: which project they work on, what their hooks do, and what is written into their files."""
