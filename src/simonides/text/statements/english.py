"""The word lists of the reading of statements, from ``english.txt`` beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_VOWELS = "aeiou"


@cache
def words(section: str) -> frozenset[str]:
    """The words of one section."""
    return frozenset(word for entry in _sections()[section] for word in entry.split("/"))


@cache
def kept_forms(section: str) -> Mapping[str, str]:
    """Spelling → the one that is kept, for a section whose words are given with their spellings."""
    found: dict[str, str] = {}
    for entry in _sections()[section]:
        kept, equals, others = entry.partition("=")
        if not equals:
            kept, *rest = entry.split("/")
            others = "/".join(rest)
        found[kept] = kept
        found.update({other: kept for other in others.split("/") if other})
    return found


@cache
def verb_bases() -> Mapping[str, str]:
    """Form of a verb → its base, for the verbs of the list."""
    found: dict[str, str] = {}
    for entry in _sections()["verbs"]:
        base, *irregular = entry.split("/")
        for form in (base, *irregular, *_regular(base, past=not irregular)):
            found.setdefault(form, base)
    # These are forms of two verbs; the commoner one counts.
    found.update({"left": "leave", "found": "find", "saw": "see", "felt": "feel", "fell": "fall"})
    return found


def base_of(form: str) -> str:
    """The base of a verb: of the list, or by its ending."""
    known = verb_bases().get(form)
    if known is not None:
        return known
    for ending, instead in (
        ("ies", "y"),
        ("ied", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("sses", "ss"),
        ("xes", "x"),
    ):
        if form.endswith(ending):
            return form[: -len(ending)] + instead
    if form.endswith("ed"):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def _regular(base: str, *, past: bool) -> list[str]:
    if base.endswith("y") and base[-2] not in _VOWELS:
        third, root = f"{base[:-1]}ies", f"{base[:-1]}i"
    elif base.endswith(("s", "sh", "ch", "x", "z", "o")):
        third, root = f"{base}es", base
    else:
        third, root = f"{base}s", base
    short = base[:-1] if base.endswith("e") and not base.endswith(("ee", "ye")) else base
    doubles = len(base) >= 3 and base[-1] in "bdglmnprt" and base[-2] in _VOWELS and base[-3] not in _VOWELS
    going = [f"{short}ing"] + ([f"{base}{base[-1]}ing", f"{base}{base[-1]}ed"] if doubles else [])
    ended = [f"{root[:-1]}ed" if root.endswith("e") else f"{root}ed"] if past else []
    return [third, *going, *ended]


@cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    sections: dict[str, tuple[str, ...]] = {}
    text = files("simonides.text.statements").joinpath("english.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, listed = line.split(":", 1)
            sections[name] = (*sections.get(name, ()), *listed.split())
    return sections
