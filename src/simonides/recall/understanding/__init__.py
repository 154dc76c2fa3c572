"""Understanders: what the words of a query mean to the channels."""
