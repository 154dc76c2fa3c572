"""Profiles: which stages run, in which order, with which options. Data, not code."""

from __future__ import annotations

from simonides.options import PROFILES

SUFFIX = ".toml"


def list_profiles() -> tuple[str, ...]:
    """Names of the built-in profiles, sorted."""
    return PROFILES
