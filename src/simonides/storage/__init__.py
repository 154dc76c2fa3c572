"""Reads and writes of a bank's rows: protocols that a backend implements, without SQL or connections."""
