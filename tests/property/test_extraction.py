"""Whatever is written, the extractor reads it: no error, spans inside, the same again, in linear time."""

from __future__ import annotations

import time
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.retain.conversations import context_of
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.extraction.known_names import KnownNames

if TYPE_CHECKING:
    from simonides.records.extraction import Extraction

PIECES = """
Ann Bo Lisbon Gullspire Project the lives in works at likes because since so that led to decided Caroline: I my is
name 's not if maybe , . ? ! " ( ) - / @ # ` _ 3 May TG-118 v1.2.3 retryPolicy a.py x@y.org
"""
WORDS = st.sampled_from([*PIECES.split(), "\n", ""])
SENTENCES = st.lists(WORDS, max_size=40).map(" ".join)
TEXTS = st.one_of(st.text(max_size=300), SENTENCES, st.lists(WORDS, max_size=40).map("".join))
KNOWN = st.lists(st.one_of(st.text(max_size=12), SENTENCES), max_size=6)


def extract(text: str, known: list[str]) -> Extraction:
    return RuleExtractor().extract(text, anchor=0, zone=UTC, known=known)


@given(TEXTS, KNOWN)
def test_mentions_lie_in_the_text_in_order_and_apart(text: str, known: list[str]) -> None:
    mentions = extract(text, known).mentions

    for mention in mentions:
        assert 0 <= mention.start < mention.stop <= len(text)
        assert mention.name.strip()
    for earlier, later in pairwise(mentions):
        assert earlier.stop <= later.start


@given(TEXTS)
def test_a_name_is_the_text_of_its_span(text: str) -> None:
    straight = text.translate(str.maketrans("‘’“”", "''\"\""))

    assert all(straight[m.start : m.stop] == m.name for m in extract(text, []).mentions)


@given(TEXTS, KNOWN)
def test_causes_and_effects_lie_in_the_text_and_apart(text: str, known: list[str]) -> None:
    for cause in extract(text, known).causes:
        first, second = sorted((cause.cause, cause.effect))
        assert 0 <= first[0] < first[1] <= second[0] < second[1] <= len(text)
        assert 0 < cause.weight <= 1


@given(TEXTS, KNOWN)
def test_numbers_keep_their_range_and_relations_their_two_ends(text: str, known: list[str]) -> None:
    found = extract(text, known)

    assert 0 <= found.salience <= 1
    assert 0 < found.confidence <= 1
    assert all(relation.subject and relation.object for relation in found.relations)


@given(TEXTS, KNOWN, st.randoms(use_true_random=False))
def test_the_same_text_gives_the_same_again_whatever_the_order_of_the_known(
    text: str, known: list[str], shuffler: object
) -> None:
    shuffled = list(known)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]

    assert extract(text, known) == extract(text, shuffled)


def brute_force(text: str, names: list[str]) -> set[tuple[str, int]]:
    """Where a single-word name stands as a whole word, by looking at every place."""
    found = set()
    for name in names:
        for start in range(len(text) - len(name) + 1):
            stop = start + len(name)
            whole = (start == 0 or text[start - 1] == " ") and (stop == len(text) or text[stop] == " ")
            if whole and text[start:stop].lower() == name.lower():
                found.add((name, start))
    return found


ODD_WORDS = st.sampled_from([
    "Kestrel", "kestrel", "KESTREL", "Kestrels", "Osprey", "ospre", "Merlinq", "xKestrel"
])  # fmt: skip


@given(
    st.lists(ODD_WORDS, max_size=12).map(" ".join),
    st.lists(st.sampled_from(["Kestrel", "Osprey", "Merlinq"]), unique=True),
)
def test_known_names_agree_with_a_search_at_every_place(text: str, names: list[str]) -> None:
    assert {(name, start) for name, start, _ in KnownNames(names).find(text)} == brute_force(text, names)


@pytest.mark.parametrize(
    "unit",
    [
        "a", "A ", "Ann. ", "Ann's ", "a.", "a/", "aA", "1.", "` ", "?!", "because ", "I like ", '"A ', "since Ann ",
        "Ann works at Acme and ", "raised from 1 to ", "a@a.", "C:\\a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("length", [30_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_anything_long_is_read_in_linear_time(unit: str, length: int) -> None:
    extractor = RuleExtractor()
    junk = (unit * length)[:length]

    started = time.process_time()
    extractor.extract(junk, anchor=0, zone=UTC)

    # A quadratic rule takes many seconds here; what is measured is about 0.1 s, and 0.3 s for the longer text.
    assert time.process_time() - started < length / 20_000


@given(st.lists(st.text(max_size=5), min_size=1, max_size=8), st.data())
def test_a_window_never_holds_the_turn_itself(turns: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(turns) - 1))
    marked = [f"{number}:{turn}" for number, turn in enumerate(turns)]
    before, after = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))

    context = context_of(marked, index, before=before, after=after)

    expected = [
        t.strip() for n, t in enumerate(marked) if n != index and index - before <= n <= index + after
    ]
    assert context == "\n".join(expected)
