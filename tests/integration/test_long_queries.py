"""A query of any length is answered by every profile, or refused, in bounded time."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError
from simonides.profiles import list_profiles
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank

WORDS = [f"word{number}" for number in range(900)] + ["Odalys", "Norrhav", "because", "review"]
QUERIES = {
    "words": " ".join(random.Random(7).choices(WORDS, k=9_000)),
    "new words": " ".join(f"zq{number}" for number in range(9_500)),
    "phrases": '"word1 word2" ' * 4_600,
    "prefixes": "word* " * 10_800,
    "times": "3 weeks ago and before last Monday in 2023, " * 1_450,
    "intents": "why when who how " * 3_800,
    "signs": "$" * 65_000,
}
"""About as long as a query may be."""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    chosen = random.Random(3)
    folder = tmp_path_factory.mktemp("long")
    with simonides.open(folder, embedder=StubEmbedder(dimension=16)) as store:
        found = store.bank("b")
        found.retain([{"text": " ".join(chosen.choices(WORDS, k=20))} for _ in range(300)])
        yield found


# Each profile with every other sort; the soak has all of them, at full length.
@pytest.mark.parametrize(
    ("profile", "sort", "length"),
    [
        *(
            (profile, sort, 20_000)
            for row, profile in enumerate(list_profiles())
            for column, sort in enumerate(QUERIES)
            if (row + column) % 2 == 0
        ),
        *(
            pytest.param(profile, sort, 65_000, marks=pytest.mark.soak)
            for profile in list_profiles()
            for sort in QUERIES
        ),
    ],
)
def test_a_long_query_is_answered_in_bounded_time(bank: Bank, profile: str, sort: str, length: int) -> None:
    began = time.process_time()
    bank.recall(QUERIES[sort][:length], profile=profile)
    # About a third of a second; what grows with the square of the length takes many seconds.
    assert time.process_time() - began < length / 3_250


@pytest.mark.parametrize("profile", list_profiles())
def test_a_query_of_a_hundred_kilobytes_is_refused_in_words(bank: Bank, profile: str) -> None:
    with pytest.raises(
        InputError, match="query: is 100,000 characters long, at most 65,536 are allowed; shorten it"
    ):
        bank.recall("a" * 100_000, profile=profile)
