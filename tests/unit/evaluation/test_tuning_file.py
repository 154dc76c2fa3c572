"""A tuned profile extends its base, states what changed, and can be moved together with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.evaluation.tuning_file import Change, base_of, changes_of, check_target, write_tuned
from simonides.evaluation.tuning_search import tunable
from simonides.profiles.describing import differences
from simonides.profiles.loader import describe_profile

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"mean": 0.5, "low": 0.4, "high": 0.6}
EVIDENCE: dict[str, Any] = {
    "queries": {"tuning": 60, "held_out": 40},
    "settings": {"measure": "ndcg@10", "seed": 7},
    "search": {"trials": 33},
    "held_out": {"before": ROW, "after": ROW, "difference": {**ROW, "p": 0.003}},
}


def doubled(profile: str | Path) -> tuple[Change, ...]:
    numbers = tunable(base_of(profile).described)
    return changes_of(
        numbers,
        [
            n.value * 2 if n.stage in {"score_sum", "lexical"} and len(n.path) == 2 else n.value
            for n in numbers
        ],
    )


def test_it_runs_the_base_with_the_new_numbers_and_tells_why(tmp_path: Path) -> None:
    changes = doubled("default")
    target = tmp_path / "mine.toml"

    beside = write_tuned(target, base_of("default"), changes, EVIDENCE)

    found = differences(describe_profile("default"), describe_profile(target))
    assert {f"{c.stage}.{c.option}": (c.before, c.after) for c in found} == {
        str(change.number): (change.number.value, change.after) for change in changes
    }
    text = target.read_text("utf-8")
    assert 'name = "mine"' in text
    assert "weights.dense = 1.6 # was 0.8" in text
    assert (
        "# Tuned by `simonides tune` on 60 judged queries,\n# tested on 40 others; split by seed 7.\n" in text
    )
    assert "p = 0.003" in text
    assert str(tmp_path) not in text
    assert beside == tmp_path / "mine.evidence.json"
    assert json.loads(beside.read_text("utf-8")) == EVIDENCE


def test_a_base_of_ones_own_is_named_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    base = tmp_path / "old" / "house"
    base.write_text('extends = "default"\n', encoding="utf-8")
    for folder, named in (("new", "./../old/house"), ("old", "./house")):
        target = tmp_path / folder / "mine.toml"
        write_tuned(target, base_of(base), doubled(base), EVIDENCE)
        assert f'extends = "{named}"' in target.read_text("utf-8")
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    assert describe_profile(moved / "new" / "mine.toml").plan.name == "mine"
    moved.rename(tmp_path)


def test_places_that_will_not_do(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "default"\n', encoding="utf-8")
    base = base_of(own)
    for target, problem in (
        (tmp_path / "mine.json", "does not end in .toml"),
        (tmp_path / ".toml", "does not end in .toml"),
        (tmp_path / "nowhere" / "mine.toml", "there is no folder"),
    ):
        with pytest.raises(InputError, match=problem):
            check_target(target, base)
    with pytest.raises(InputError, match="is the profile that is tuned"):
        check_target(own, base, force=True)
    (tmp_path / "mine.evidence.json").write_text("{}")
    with pytest.raises(InputError, match="is there already"):
        check_target(tmp_path / "mine.toml", base)
    check_target(tmp_path / "mine.toml", base, force=True)


def test_the_fingerprint_follows_a_parent(tmp_path: Path) -> None:
    parent, child = tmp_path / "parent.toml", tmp_path / "child.toml"
    parent.write_text('extends = "default"\n', encoding="utf-8")
    child.write_text('extends = "./parent.toml"\n', encoding="utf-8")
    before = base_of(child).fingerprint
    parent.write_text('extends = "default"\n[stages.lexical]\nk1 = 2.0\n', encoding="utf-8")
    assert base_of(child).fingerprint != before
