"""N84: what a caller or a file says takes time that grows with its length, whatever its characters are."""

from __future__ import annotations

import io
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.errors import InputError, QuerySyntaxError
from simonides.json_schema import IN_PATH, NOT_BLANK, UnsaidBySchemaError, checked, text
from simonides.recall.answering import CitationCheck
from simonides.records.hygiene import shows_nothing
from simonides.retain.importing.formats import FORMATS
from simonides.retain.importing.markdown import split_front_matter
from simonides.retain.importing.sources import ImportReport, NamedFile
from simonides.surfaces.operations.table import OPERATIONS
from simonides.text.times.lexer import _CLOSING, _OPENING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank

pytestmark = pytest.mark.fault("N84")

PIECES = (
    "a", "\0", " ", "\n", "\t", '"', "'", "[", "]", "(", "{", "<", "-", "- ", "_", ".", ",", ":", ";", "/",
    "\\", "|", "#", "*", "=", "@", "!", "~", "`", "1", "1/", "1.", "1:", "A", "A.", "Ab ", "i ", "é", "\u4e2d",
    "\uac00", "\u200b", "\u0301", "a@", "a:", "a ", "in ", "and ", "not ", "today ", "a://b:", "<<", "[1",
    "---\n", "#\n", "\r\n", "| a ", "eyJ", "-----BEGIN ", "the ", "my ", "5 May ", "2026-01-01 ", "he said ",
)  # fmt: skip
GROWTH = 9.0
"""Largest ratio of the CPU for four times the input; 4 is linear, 16 quadratic."""


def ratio(work: Callable[[str], object], piece: str, size: int, *, before: str = "", end: str = "") -> float:
    """How many times the CPU four times the input takes; 0 where even that takes less than 0.1 s."""

    def taken(length: int) -> float:
        given = before + piece * (length // len(piece)) + end
        begun = time.process_time()
        with suppress(InputError, ValueError):
            work(given)
        return time.process_time() - begun

    taken(256)
    if (long := taken(4 * size)) < 0.1:
        return 0.0
    short = min(taken(size) for _ in range(3))
    # What both cost, such as the commit of a write, is no growth.
    if long / short < GROWTH:
        return 0.0
    # Other programs slow a run down: the least of several counts.
    return min(long, *(taken(4 * size) for _ in range(4))) / max(short, *(taken(size) for _ in range(4)))


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Bank]:
    """A bank without an embedder, that knows a few names."""
    with simonides.open(tmp_path / "plain", embedder=None, environ={}, redact="mask") as store:
        bank = store.bank("diary")
        bank.retain(["Ana Fennimark lives in Norrhav.", "The ferry leaves on 5 May 2026."])
        yield bank


def test_validation_is_linear() -> None:
    bind = OPERATIONS["recall"].bind
    retain = OPERATIONS["retain"].bind
    for piece in (" ", "a", "\u0085", "/"):
        assert ratio(lambda given: bind({"query": given}), piece, 16_000, end="\0") < GROWTH
        assert ratio(lambda given: retain({"items": given}), piece, 250_000, end="\0") < GROWTH
        for pattern in (NOT_BLANK, IN_PATH):
            assert ratio(re.compile(pattern).search, piece, 4_000, end="\0") < GROWTH


@given(st.text(" \t\n\x1c\x1f\x85\u2003\0/ab\ufeff", max_size=6))
def test_a_text_is_blank_as_it_was(given: str) -> None:
    old = re.compile(r"^[^\u0000]*[^\s\u0000\u001c-\u001f\u0085][^\u0000]*$", re.DOTALL)
    in_path = re.compile(r"^[^\u0000/]*[^\s\u0000\u001c-\u001f\u0085/][^\u0000/]*$", re.DOTALL)
    assert bool(old.search(given)) == bool(re.search(NOT_BLANK, given))
    assert bool(in_path.search(given)) == bool(re.search(IN_PATH, given))
    try:
        checked(given, text(longest=9), "x")
    except UnsaidBySchemaError:
        assert old.search(given)
        assert shows_nothing(given)
    except InputError:
        assert not old.search(given)
    else:
        assert old.search(given)


@given(st.text("".join(sorted(set(_OPENING + _CLOSING))) + "a1'", min_size=1, max_size=8))
def test_punctuation_around_a_word_is_as_it_was(chunk: str) -> None:
    parts = re.compile(
        f"(?P<opening>[{re.escape(_OPENING)}]*+)(?P<core>.*?)(?P<closing>[{re.escape(_CLOSING)}]*+)\\Z",
        re.DOTALL,
    ).match(chunk)
    assert parts is not None
    bare = chunk.lstrip(_OPENING)
    assert parts["core"] == bare.rstrip(_CLOSING)
    assert parts["opening"] + bare == chunk


@given(st.text("[1, ]\tx\uff3b", max_size=40), st.lists(st.integers(1, 6), max_size=8))
def test_citations_are_found_as_they_were(given: str, cuts: list[int]) -> None:
    class Old(CitationCheck):
        def feed(self, piece: str) -> str:
            held = self._held + piece
            begun = re.search(r"[ \t]*(?:[\[\uff3b\u3010][\d\s,;]*)?\Z", held)
            cut = begun.start() if begun and len(held) - begun.start() <= 80 else len(held)
            self._held = held[cut:]
            return self._taken(held[:cut])

        def end(self) -> str:
            return self._taken(self._held).rstrip()

        def _taken(self, shown: str) -> str:
            pattern = r"[ \t]*[\[\uff3b\u3010](\s*\d+(?:\s*[,;]\s*\d+)*\s*)[\]\uff3d\u3011]"
            return re.sub(pattern, self._checked, shown)

    said = []
    for check in (CitationCheck(["m"] * 11), Old(["m"] * 11)):
        left, parts = given, []
        for cut in cuts:
            parts.append(check.feed(left[:cut]))
            left = left[cut:]
        parts += [check.feed(left), check.end()]
        said.append((parts, check.removed, check.citations))
    assert said[0] == said[1]


def test_front_matter_and_citations_are_linear() -> None:
    for piece in ("a, ", "'a', ", " ", ",", "'a' ", '"', "[", "#", "a:"):
        for head in ("---\ntags: [", "---\ntitle: ", "---\n", "---\n- "):
            for tail in ("]\n---\nx", "\n---\nx", ""):
                assert ratio(split_front_matter, piece, 16_000, before=head, end=tail) < GROWTH
    for piece in (" ", "[", "[1", "[1 ", "1,", "1 ", ", "):
        assert (
            ratio(lambda given: CitationCheck(["m"]).feed(given), piece, 16_000, before="[", end="x") < GROWTH
        )


def every_other(first: int) -> list[Any]:
    """Half of the pieces; the soak has the others."""
    return [
        piece if number % 2 == first else pytest.param(piece, marks=pytest.mark.soak)
        for number, piece in enumerate(PIECES)
    ]


@pytest.mark.parametrize("piece", every_other(0))
def test_a_question_is_linear(plain: Bank, piece: str) -> None:
    assert ratio(plain.recall, piece, 4_000) < GROWTH


@pytest.mark.parametrize("piece", every_other(1))
def test_a_memory_is_linear(plain: Bank, piece: str) -> None:
    def retain(given: str) -> None:
        plain.retain(given, deduplicate=False)

    assert ratio(retain, piece, 4_000, end=" Ana Fennimark left.") < GROWTH


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_file_is_linear(name: str) -> None:
    def read(given: str) -> None:
        list(FORMATS[name].read(io.StringIO(given), NamedFile("notes"), ImportReport(lambda _: None)))

    for piece in (
        '{"text": "a"}\n',
        "{",
        "[",
        '"',
        " ",
        "\n",
        "a\n\n",
        "# a\n",
        "- a\n",
        "```\n",
        "1,",
        "\\",
    ):
        for before in ("", "["):
            assert ratio(read, piece, 4_000, before=before) < GROWTH


def test_an_extended_query_is_linear(plain: Bank) -> None:
    def ask(given: Any) -> None:
        with suppress(QuerySyntaxError):
            plain.recall(given, syntax="extended")

    for piece in ("(", "a OR ", '"', "NOT ", "a ", ")", "a:", "-a ", '"a" ', "before:", "~", "(a) "):
        assert ratio(ask, piece, 4_000) < GROWTH
