"""The index is derived: deleted, rebuilt, or laid out otherwise, it changes no byte of any answer."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.backends.embedded import merge
from simonides.backends.embedded.bank import EmbeddedBank
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Start

    from simonides.store import Store

TAIL = 50
"""Rows that are retained last."""
PEOPLE = ("Ilse Brandauer", "Tomas Reuel", "Nadia Okafor", "Pirjo Lahti", "Mateus Couto")
THINGS = ("relay", "kiln", "orchard", "ledger", "sluice", "barometer", "quarry", "loom", "retryPolicyV2")
DEEDS = ("moved", "repaired", "sold", "measured", "forgot", "found", "painted", "deployed")
PLACES = ("by the harbour", "in the attic", "at the mill", "before the audit", "after the storm")

Answers = list[tuple[list[tuple[str, float]], str, list[str]]]
"""Per question: ids with scores, the context, ids that were over budget."""


def _texts(rows: int) -> list[str]:
    """Sentences from few words: many equal scores, a few equal texts, lengths that differ."""
    chance = random.Random(31)
    texts = []
    for i in range(rows):
        words = [
            chance.choice(PEOPLE),
            chance.choice(DEEDS),
            f"the {chance.choice(THINGS)}",
            chance.choice(PLACES),
        ]
        if chance.random() < 0.2:
            words.append(
                f"for the {chance.randint(2, 400)}th time, as lot {i} of {chance.randint(1, 9)} says"
            )
        texts.append(" ".join(words))
    return texts


QUERIES = [
    *(f"what did {person} do {place}" for person in PEOPLE for place in PLACES[:3]),
    *(f"who {deed} the {thing}" for deed, thing in zip(DEEDS, THINGS, strict=False)),
    *(
        "retry policy",
        "lot 1234",
        "the 17th time",
        "harbour attic mill",
        "kiln kiln sluice",
        "Nadia",
        "of the",
    ),
]
QUESTIONS = [(query, profile) for query in QUERIES for profile in ("default", "lexical")]


def test_the_questions_are_many() -> None:
    assert len(set(QUERIES)) == 30


@pytest.fixture(scope="module", params=[1_000, pytest.param(3_000, marks=pytest.mark.soak)])
def rows(request: pytest.FixtureRequest) -> int:
    """How many texts a store is given."""
    return int(request.param)


@pytest.fixture(scope="module")
def built(rows: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose only bank was merged on the way, with forgotten rows and a tail that waits."""
    folder = tmp_path_factory.mktemp("built") / "store"
    with pytest.MonkeyPatch.context() as patch:
        _fill(folder, patch, rows, threshold=rows // 3, batch=rows // 12, merge_after=())
    with _opened(folder) as store:
        stats = store.bank().stats()
        assert stats["generation"] >= 2
        assert stats["tail_rows"] > 0
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def expected(built: Path) -> Answers:
    with _opened(built) as store:
        answers = _answers(store)
    assert sum(len(hits) for hits, _, _ in answers) > 300
    assert any(omitted for _, _, omitted in answers)
    return answers


@pytest.mark.spec("DF-06")
def test_opened_again(folder: Path, expected: Answers) -> None:
    with _opened(folder) as store:
        assert _answers(store) == expected


@pytest.mark.spec("DF-06")
def test_deleted_while_closed(folder: Path, expected: Answers) -> None:
    shutil.rmtree(folder / "bank-default" / "index")
    with _opened(folder) as store:
        assert _answers(store) == expected
        assert store.bank().verify().ok
    # The first reader has written it anew, and that one answers alike.
    assert (folder / "bank-default" / "index").is_dir()
    with _opened(folder) as store:
        assert _answers(store) == expected


@pytest.mark.spec("DF-06")
def test_deleted_while_open(folder: Path, expected: Answers) -> None:
    with _opened(folder) as store:
        assert _answers(store) == expected
        shutil.rmtree(folder / "bank-default" / "index")
        assert _answers(store) == expected
        assert store.bank()._rows.merge_if_due(force=True)
        assert _answers(store) == expected
        assert store.bank().verify().ok


@pytest.mark.spec("DF-06")
def test_deleted_and_merged_while_open_in_another_process(
    folder: Path, expected: Answers, ask: Callable[[Path], Callable[[], Answers]]
) -> None:
    answers = ask(folder)
    assert answers() == expected
    shutil.rmtree(folder / "bank-default" / "index")
    assert answers() == expected
    with _opened(folder) as store:
        assert _answers(store) == expected
        assert store.bank()._rows.merge_if_due(force=True)
        assert answers() == expected
        assert _answers(store) == expected


@pytest.mark.spec("DF-06")
@pytest.mark.parametrize(
    ("threshold", "batch", "merge_after"),
    [
        # Above 512 items a batch is compared later, which is another store.
        pytest.param(10**9, 500, (), id="never merged, large batches"),
        pytest.param(90, 37, (), id="many small merges"),
        pytest.param(10**9, 100, (300, 400, 900, 2_900), id="merged at other moments"),
    ],
)
def test_another_layout_of_blocks(
    tmp_path: Path,
    rows: int,
    built: Path,
    expected: Answers,
    monkeypatch: pytest.MonkeyPatch,
    threshold: int,
    batch: int,
    merge_after: tuple[int, ...],
) -> None:
    folder = tmp_path / "store"
    _fill(folder, monkeypatch, rows, threshold=threshold, batch=batch, merge_after=merge_after)
    with _opened(folder) as store, _opened(built) as reference:
        assert _layout(store) != _layout(reference)
        assert _answers(store) == expected
        assert store.bank().verify().ok


def _fill(
    folder: Path,
    patch: pytest.MonkeyPatch,
    rows: int,
    *,
    threshold: int,
    batch: int,
    merge_after: tuple[int, ...],
) -> None:
    """Retain the texts, forget some, retain a few more. The bank's identity is fixed: ids depend on it."""
    patch.setattr(merge, "SMALLEST_MERGE", threshold)
    patch.setitem(EmbeddedBank.__init__.__kwdefaults__ or {}, "new_id", lambda: "0" * 32)
    texts, early = _texts(rows), rows - TAIL
    with _opened(folder) as store:
        bank = store.bank()
        ids: list[str] = []
        for first in range(0, early, batch):
            ids += bank.retain(texts[first : min(first + batch, early)], deduplicate=False)
            if len(ids) in merge_after:
                assert bank._rows.merge_if_due(force=True)
        some = ids[100 : rows * 5 // 6 : 97]
        assert bank.forget(some) == len(some) > 7
        bank.retain(texts[early:], deduplicate=False)


def _opened(folder: Path) -> Store:
    return simonides.open(folder, embedder=StubEmbedder(), clock=FrozenClock())


def _answers(store: Store) -> Answers:
    found = [store.bank().recall(query, profile=profile, max_tokens=200) for query, profile in QUESTIONS]
    return [([(h.id, h.score) for h in one], one.context, [o.id for o in one.omitted]) for one in found]


def _layout(store: Store) -> list[int]:
    with store.bank()._rows.reading() as reading:
        return [block.start for block in reading.snapshot.blocks]


@pytest.fixture
def ask(start: Start, tmp_path: Path) -> Callable[[Path], Callable[[], Answers]]:
    """Keeps a store open in another process; each call of what it returns asks all questions there."""

    def opened(folder: Path) -> Callable[[], Answers]:
        (tmp_path / "questions.json").write_text(json.dumps(QUESTIONS))
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = start("asker.py", folder, tmp_path / "questions.json", **pipes)

        def answers() -> Answers:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("again\n")
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            return [([(i, s) for i, s in hits], context, omitted) for hits, context, omitted in said]

        return answers

    return opened
