"""bench/peers/compare.py: what it reads off the runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench.peers.compare import OUTPUT, write_comparison

if TYPE_CHECKING:
    from pathlib import Path


def write_run(runs: Path, system: str, ranked: dict[str, list[str]]) -> None:
    lines = [
        f"{qid} Q0 {key} {rank} {100 - rank} {system}\n"
        for qid, keys in ranked.items()
        for rank, key in enumerate(keys, start=1)
    ]
    (runs / f"talk-{system}.run").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "peers"
    folder.mkdir()
    qrels = "".join(f"q{number} 0 D{number} 1\n" for number in range(40))
    (folder / "talk.qrels").write_text(qrels, encoding="utf-8")
    return folder


def test_ours_is_compared_with_each_peer_in_each_measure(runs: Path) -> None:
    right = {f"q{number}": [f"D{number}"] for number in range(40)}
    write_run(runs, "simonides", right)
    write_run(runs, "bm25", {qid: ["none", *keys] for qid, keys in list(right.items())[:20]})
    write_run(runs, "dense", right)

    assert write_comparison(runs.parent) == 0

    rows = json.loads((runs.parent / OUTPUT).read_text("utf-8"))["result"]["talk"]["simonides"]
    found = {(row["against"], row["measure"]): row for row in rows}
    assert len(found) == 8
    better = found["bm25", "recall@10"]
    assert better["difference"] == pytest.approx(0.5)
    assert 0.3 < better["low"] < better["difference"] < better["high"] < 0.7
    assert better["p"] < 0.01
    assert better["p_holm"] >= better["p"]
    same = found["dense", "recall@10"]
    assert (same["difference"], same["p"], same["p_holm"]) == (0.0, 1.0, 1.0)


def test_without_a_run_of_ours_nothing_is_compared(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(runs, "bm25", {"q1": ["D1"]})
    assert write_comparison(runs.parent) == 1
    assert not (runs.parent / OUTPUT).exists()
    assert "no run of simonides" in capsys.readouterr().err
