"""Invented memories in any number: English words by Zipf's law, names, identifiers and dates; seeded.

They are for measuring speed and size, never quality: the words of a sentence have nothing to do with each
other.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST = datetime(2024, 1, 1, tzinfo=UTC)
_SYLLABLES = ("bra", "ke", "lin", "mor", "na", "quil", "ros", "tha", "vel", "wen", "yor", "zan")
_PEOPLE = 400
_PROJECTS = 60
_FEWEST_WORDS, _MOST_WORDS = 8, 34


def synthetic_items(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """*count* items for ``bank.retain``: about 20 words each, a person in half of them, an event time each.

    Args:
        count: how many.
        seed: the same seed gives the same items.
    """
    source = random.Random(seed)  # noqa: S311 not for secrets
    words = _words()
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    people = [_name(source) for _ in range(_PEOPLE)]
    for number in range(count):
        chosen = source.choices(words, cum_weights=weights, k=source.randint(_FEWEST_WORDS, _MOST_WORDS))
        extra = source.random()
        if extra < 0.5:
            chosen.insert(source.randrange(len(chosen)), source.choice(people))
        if extra < 0.2:
            chosen.append(f"(see TG-{source.randrange(10_000)}, src/module_{source.randrange(500)}.py)")
        text = " ".join(chosen)
        yield {
            "text": f"{text[0].upper()}{text[1:]}.",
            "event_time": _FIRST + timedelta(minutes=20 * number),
            "project": f"project-{source.randrange(_PROJECTS)}",
            "tags": [f"tag-{source.randrange(20)}"],
        }


def _words() -> list[str]:
    text = files("simonides.retain.extraction").joinpath("lists/common_words.txt").read_text("utf-8")
    return sorted({word for word in text.lower().split() if word.isalpha() and word.isascii()})


def _name(source: random.Random) -> str:
    first, last = ("".join(source.choices(_SYLLABLES, k=k)).capitalize() for k in (2, 3))
    return f"{first} {last}"
