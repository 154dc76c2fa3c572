"""Profiles: which stages run, in which order, with which options. Data, not code."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

SUFFIX = ".toml"


@cache
def list_profiles() -> tuple[str, ...]:
    """Names of the built-in profiles, sorted."""
    names = (entry.name for entry in files("simonides.profiles").iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))
