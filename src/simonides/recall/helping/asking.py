"""Asks a language model about a query, and about nothing else: no memory is in what it is sent (HX-17).

hyde         a passage that would answer the query, invented (Gao et al., Precise Zero-Shot Dense Retrieval
             without Relevance Labels, 2022)
query2doc    the same, to be searched together with the query (Wang, Yang and Wei, Query2doc, 2023)
multi_query  the query in other words, each searched for itself (Rackauckas, RAG-Fusion, 2024)

Cost: one call to the model for each helper. What fails is said in ``problems`` and leaves the others alone.
Weakness: a model that knows nothing of the people in the bank invents names, which then attract others.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.options import HELPER_NAMES
from simonides.recall.answering import aloud
from simonides.recall.packing.as_data import harmless

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from simonides.protocols import Answerer

HYDE, QUERY2DOC, MULTI_QUERY = HELPER_NAMES

MOST_OUTPUT_TOKENS = 512
MOST_QUERIES = 4
_LONGEST_PASSAGE = 2_000
_LONGEST_QUERY = 500
# What a model puts before the entries of a list.
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*")

_ALIKE = "Write nothing else: no introduction, no remark, no quotation marks."
_INSTRUCTIONS: Mapping[str, str] = {
    HYDE: f"Write one short note that answers the query, as somebody's own records may hold it. {_ALIKE}",
    QUERY2DOC: f"Write one short passage that answers the query, in the words of such texts. {_ALIKE}",
    MULTI_QUERY: f"Write {MOST_QUERIES} other wordings of the query, one a line. Keep its names and dates, "
    f"and use other words for the rest. {_ALIKE}",
}


@dataclass(frozen=True, slots=True)
class HelperTexts:
    """What a model made of a query.

    Attributes:
        hyde, query2doc: invented passages; empty = not asked for, or none came.
        multi_query: the query in other words.
        problems: why a helper gave nothing, with its name.
    """

    hyde: tuple[str, ...] = ()
    query2doc: tuple[str, ...] = ()
    multi_query: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def by_helper(self) -> dict[str, tuple[str, ...]]:
        """The texts of each helper that gave one."""
        return {name: texts for name in HELPER_NAMES if (texts := getattr(self, name))}

    def to_json(self) -> str:
        """The whole as text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_json(cls, text: str) -> HelperTexts:
        """What ``to_json`` wrote."""
        return cls(**{name: tuple(texts) for name, texts in json.loads(text).items()})


def read_helpers(tier: str, helpers: str | Collection[str] | None) -> tuple[str, ...] | None:
    """The helpers that are asked for, in the order of ``HELPER_NAMES``; ``None`` in the default tier.

    Raises:
        InputError: helpers without ``tier="async"``.
    """
    later = tier == "async"
    named = {helpers} if isinstance(helpers, str) else set(helpers or ())
    if named and not later:
        raise InputError("helpers", 'ask a language model, which a recall waits for only with tier="async"')
    return tuple(name for name in HELPER_NAMES if name in named) if later else None


def ask_helpers(query: str, helpers: Iterable[str], answerer: Answerer | None) -> HelperTexts:
    """What a model makes of *query*.

    Args:
        query: the caller's words.
        helpers: of ``HELPER_NAMES``.
        answerer: the model; ``None`` = there is none, which is a problem of each helper.
    """
    found: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for helper in helpers:
        if answerer is None:
            problems.append(f"{helper}: no language model is set up")
            continue
        try:
            said = _ask(query, helper, answerer)
        except Exception as error:  # noqa: BLE001 any fault of a model must leave the plain recall
            problems.append(f"{helper}: {type(error).__name__}: {error}")
            continue
        found[helper] = _queries(said, query) if helper == MULTI_QUERY else _passage(said)
        if not found[helper]:
            problems.append(f"{helper}: the model said nothing of use")
    return HelperTexts(**found, problems=tuple(problems))


def _ask(query: str, helper: str, answerer: Answerer) -> str:
    messages = (
        {"role": "system", "content": _INSTRUCTIONS[helper]},
        {"role": "user", "content": f"Query: {harmless(query)}"},
    )
    return "".join(aloud(answerer.stream(messages, MOST_OUTPUT_TOKENS)))


def _passage(said: str) -> tuple[str, ...]:
    text = _clean(said)[:_LONGEST_PASSAGE].strip()
    return (text,) if text else ()


def _queries(said: str, query: str) -> tuple[str, ...]:
    """Each line once, without bullets; not what says the same as the query."""
    lines = (
        _clean(_BULLET.sub("", line)).strip("\"'")[:_LONGEST_QUERY].strip() for line in said.splitlines()
    )
    seen = {query.strip().casefold()}
    kept = []
    for line in lines:
        if line and line.casefold() not in seen:
            seen.add(line.casefold())
            kept.append(line)
    return tuple(kept[:MOST_QUERIES])


def _clean(text: str) -> str:
    """On one line, without what no query may hold."""
    return " ".join(text.replace("\0", " ").encode("utf-8", "ignore").decode().split())
