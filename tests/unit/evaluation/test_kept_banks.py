from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.evaluation.asking import digest, keep_banks
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = Corpus("c", (Item("k1", "The kiln is mended."), Item("k2", "The mast broke.")))
DATASET = Dataset("invented", ((CORPUS, (Question("q1", "What broke?", ("k2",), "1"),)),))


def test_banks_are_retained_once_and_asked_again(tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        banks = keep_banks(
            DATASET, tmp_path, window=2, embedder=None, progress=lambda phase, *_: told.append(phase)
        )
        assert banks.ask("lexical")[0].ranked == ("k2",)
    assert told == ["retain"]
    other = replace(DATASET, corpora=((CORPUS, (Question("q2", "kiln", ("k1",), "1"),)),))
    assert keep_banks(other, tmp_path, window=2, embedder=None).ask("lexical")[0].ranked == ("k1",)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_retained_otherwise_gets_a_bank_of_its_own() -> None:
    longer = replace(CORPUS, items=(*CORPUS.items, Item("k3", "more")))
    shuffled = replace(CORPUS, items=CORPUS.items[::-1])
    sets = [DATASET, *(replace(DATASET, corpora=((corpus, ()),)) for corpus in (longer, shuffled))]
    found = {digest(each, 2, "none") for each in sets} | {
        digest(DATASET, 1, "none"),
        digest(DATASET, 2, "auto"),
    }
    assert len(found) == 5
    assert digest(DATASET, 2, "none") == digest(replace(DATASET, corpora=((CORPUS, ()),)), 2, "none")


def test_banks_without_their_keys_are_refused(tmp_path: Path) -> None:
    keep_banks(DATASET, tmp_path, window=2, embedder=None)
    next(tmp_path.glob("*/keys.json")).unlink()
    with pytest.raises(InputError, match="cut off"):
        keep_banks(DATASET, tmp_path, window=2, embedder=None)
