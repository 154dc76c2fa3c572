"""Refiners: rescore, reorder, add or remove candidates of the pool."""
