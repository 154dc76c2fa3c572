"""Doors to the engine: each only translates between its callers and the store."""
