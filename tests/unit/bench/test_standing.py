"""The measure of standing memories, on a file of one bank."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from bench.standing import MODES, load_standing, run_standing, summary

from simonides.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

BANK: dict[str, Any] = {
    "id": "cook",
    "standing": [{"id": "s1", "kind": "preference", "text": "I am allergic to shellfish."}],
    "facts": [{"id": "f1", "text": "The kiln is red."}, {"id": "f2", "text": "Basil grows by the door."}],
    "queries": [
        {"id": "q1", "query": "Which colour is the kiln?", "standing": ["s1"], "gold": ["f1"]},
        {"id": "q2", "query": "Zzz qqq?", "standing": ["s1"], "gold": []},
    ],
}


def put(folder: Path, stored: Any) -> Path:
    (folder / "always.json").write_text(json.dumps(stored), encoding="utf-8")
    return folder


@pytest.mark.fault("N11")
def test_only_standing_facts_are_present_whatever_is_asked(tmp_path: Path) -> None:
    banks = load_standing(put(tmp_path, {"banks": [BANK]}))
    shown = run_standing(banks, store_path=tmp_path / "store", profile="lexical", embedder=None)

    found = summary(shown)
    assert tuple(found) == MODES
    for mode in ("plain", "pinned"):
        assert (found[mode]["present"], found[mode]["told"], found[mode]["refused"]) == (0.0, 1.0, 0.5)
    assert found["standing"] == {
        "queries": 2,
        "needed": 2,
        "present": 1.0,
        "all present": 1.0,
        "answered": 1,
        "told": 1.0,
        "refused": 0.0,
        "memories": 1.5,
    }


@pytest.mark.parametrize("stored", [[], {"banks": [{"id": "cook"}]}])
def test_another_form_is_refused_by_the_file(tmp_path: Path, stored: Any) -> None:
    with pytest.raises(InputError, match=r"always\.json does not have the form of"):
        load_standing(put(tmp_path, stored))
    with pytest.raises(InputError, match=r"always\.json is not there"):
        load_standing(tmp_path / "elsewhere")


def test_of_real_banks_all_are_present_and_answers_are_told(data_folder: Path, tmp_path: Path) -> None:
    """Without a model; with the default embedder see docs/guide/quality.md."""
    banks = load_standing(data_folder / "everyday")
    found = summary(run_standing(banks, store_path=tmp_path, embedder=None))["standing"]
    assert found["present"] >= 0.98
    assert found["told"] >= 0.9
