"""Channels: first-stage retrievers, strangers to each other."""
