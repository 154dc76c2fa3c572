"""Profiles: which stages run, in which order, with which options. Data, not code."""

from functools import cache
from importlib.resources import files

SUFFIX = ".toml"


@cache
def list_profiles() -> tuple[str, ...]:
    """Names of the built-in profiles, sorted."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))
