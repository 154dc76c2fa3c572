"""Profiles: which stages run, in which order, with which options. Data, not code."""
