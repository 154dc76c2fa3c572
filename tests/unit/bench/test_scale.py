"""Banks for `bench.scale`: made the same every time, asked by every sort of query, measured in a process."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench import scale_measure
from bench.scale import ScaleRun, budget, run_scale, slopes
from bench.scale_bank import scale_bank
from bench.scale_data import (
    BLOCK,
    HELD_OUT,
    TAGS,
    RealVectors,
    TextMaker,
    VectorMaker,
    exact_nearest,
    plain_scan_recall,
)
from bench.scale_peer import SETTINGS, ask_peer, build_peer
from bench.scale_queries import SHARES, ReplayedEmbedder, load_queries, make_queries, save_queries

from simonides.errors import InputError, UnknownNameError
from simonides.testing.embedder import StubTokenEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from bench.scale_bank import ScaleBank

ROWS = 1_200
DIMENSION = 64


def _real(texts: int = HELD_OUT + 400) -> RealVectors:
    source = np.random.default_rng(3)
    vectors = source.standard_normal((texts, DIMENSION)) / np.sqrt(np.arange(1, DIMENSION + 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = source.standard_normal((texts * 3, DIMENSION)).astype(np.float16)
    offsets = np.arange(texts + 1, dtype=np.int64) * 3
    return RealVectors("noise", "noise-1", vectors.astype(np.float32), tokens, offsets, 0)


@pytest.fixture(scope="module")
def keep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scale")


@pytest.fixture(scope="module")
def bank(keep: Path) -> ScaleBank:
    return scale_bank(keep, ROWS, _real(), seed=1, tokens=True, workers=1)


# -- texts


def test_texts_are_the_same_for_a_seed_and_differ_for_another() -> None:
    one, again, other = (TextMaker(300, seed).block(0) for seed in (1, 1, 2))
    assert one.items == again.items
    assert one.items[0]["text"] != other.items[0]["text"]
    assert len({item["text"] for item in one.items}) == 300


def test_a_block_can_be_made_alone() -> None:
    maker = TextMaker(BLOCK + 5, 1)
    assert maker.blocks == 2
    assert [item["text"] for item in maker.block(1).items] == [
        item["text"] for item in TextMaker(BLOCK + 5, 1).block(1).items
    ]
    assert len(maker.block(1).items) == 5


def test_words_and_names_are_unequal_as_in_life() -> None:
    maker = TextMaker(4_000, 1)
    block = maker.block(0)
    words = Counter(word for item in block.items for word in item["text"].lower().split())
    counts = sorted(words.values(), reverse=True)
    # Rank times frequency stays near one number.
    assert 0.3 < (counts[99] * 100) / (counts[9] * 10) < 3
    names = Counter(block.names[block.names >= 0].tolist())
    assert names.most_common(1)[0][1] > 20 * sum(names.values()) / len(names) / 2
    person = maker.people[int(block.names[block.names >= 0][0])]
    assert any(person in item["text"] for item in block.items)


def test_tags_are_borne_by_their_shares_and_time_goes_on() -> None:
    maker = TextMaker(8_000, 1)
    block = maker.block(0)
    for place, share in enumerate(TAGS.values()):
        assert block.tagged[:, place].mean() == pytest.approx(share, rel=0.4)
    moments = [item["event_time"] for item in block.items]
    assert moments == sorted(moments)
    assert [tag in block.items[7]["tags"] for tag in TAGS] == block.tagged[7].tolist()


# -- vectors


def test_grown_vectors_are_unit_and_the_same_for_a_seed() -> None:
    grower = VectorMaker(_real().vectors, 1)
    vectors, bases = grower.block(0, 50)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors, VectorMaker(_real().vectors, 1).block(0, 50)[0])
    assert bases.max() < len(grower.real) - HELD_OUT


@pytest.mark.parametrize("depth", [1, 7, 100])
def test_the_exact_twin_is_what_sorting_all_cosines_gives(depth: int) -> None:
    source = np.random.default_rng(5)
    vectors = source.standard_normal((90, 8)).astype(np.float32)
    queries = source.standard_normal((4, 8)).astype(np.float32)
    masks = [source.random(90) < 0.5 for _ in queries]

    found = exact_nearest(queries, masks, ((i, vectors[i : i + 13]) for i in range(0, 90, 13)), depth)

    for query, mask, rows in zip(queries, masks, found, strict=True):
        order = np.argsort(-(vectors @ query), kind="stable")
        assert rows.tolist() == [row for row in order.tolist() if mask[row]][:depth]


def test_a_plain_scan_that_keeps_all_loses_nothing() -> None:
    vectors = np.random.default_rng(6).standard_normal((300, 64)).astype(np.float32)
    queries = vectors[:5]
    exact = exact_nearest(queries, [np.ones(300, np.bool_)] * 5, [(0, vectors)], 20)
    signs = np.packbits(vectors > 0, axis=1)
    assert plain_scan_recall(queries, exact, signs, 300) == 1.0
    assert plain_scan_recall(queries, exact, signs, 20) < 1.0


# -- banks and queries


def test_a_bank_that_is_there_is_used(keep: Path, bank: ScaleBank) -> None:
    assert scale_bank(keep, ROWS, _real(), seed=1, tokens=True, workers=1) == bank
    assert bank.about["count"] == ROWS
    assert bank.about["graph"]["mentions"] > ROWS / 2
    assert bank.about["intake"]["rows_per_cpu_second"] > 0


def test_a_bank_of_a_run_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    made = scale_bank(tmp_path, 1_000, _real(), seed=1, tokens=False, workers=1)
    (made.folder / "about.json").unlink()
    with pytest.raises(InputError, match="cut off"):
        scale_bank(tmp_path, 1_000, _real(), seed=1, tokens=False, workers=1)


def test_queries_are_of_every_sort_and_kept(tmp_path: Path) -> None:
    real, maker = _real(), TextMaker(ROWS, 1)
    made = make_queries(maker, VectorMaker(real.vectors, 1), real, 1)
    assert Counter(query.sort for query in made.queries) == SHARES
    assert sum(SHARES.values()) >= 500
    assert len({query.text for query in made.queries}) == len(made.queries)

    save_queries(tmp_path, made)
    kept = load_queries(tmp_path)

    assert kept.queries == made.queries
    text = made.queries[3].text
    assert np.array_equal(kept.embedder.encode_query(text), made.embedder.encode_query(text))
    assert np.array_equal(kept.embedder.encode_query_both(text)[1], made.embedder.encode_query_both(text)[1])


def test_an_embedder_that_replays_knows_no_other_text() -> None:
    embedder = ReplayedEmbedder("noise", "noise-1", 3, {"fig": np.ones(3, np.float32)})
    assert embedder.encode(["fig"]).shape == (1, 3)
    with pytest.raises(InputError, match="whose vector was kept"):
        embedder.encode_query("plum")


# -- measures


@pytest.mark.soak
def test_a_bank_is_measured_whole(
    bank: ScaleBank, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlite_vec")
    monkeypatch.setattr(scale_measure, "_encoder_ms", lambda _: None)
    build_peer(
        bank.folder / scale_measure.PEER_FILE, TextMaker(ROWS, 1), np.load(bank.folder / "vectors.npy")
    )
    monkeypatch.setattr(sys, "argv", ["scale_measure", str(bank.folder), "helix", "fts5-sqlite-vec"])

    scale_measure.main()

    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["queries"], found["profile"]) == (ROWS, 500, "helix")
    assert set(found["cpu_ms"]) == {"p50", "p95", "p99"}
    assert {"dense", "lexical", "graph_expansion", "outside"} <= found["stages"].keys()
    # All rows are scored exactly in so small a bank; int8 may move the last place.
    assert found["dense_recall_at_100"] > 0.98
    assert found["fewer_than_asked"] == 0
    assert 0 < found["plain_scan_recall_at_100"] <= 1
    assert found["derived_bytes_per_memory"]["helix"] < found["derived_bytes_per_memory"]["all"]
    assert found["settle"]["waiting"] == 2 * ROWS
    assert found["cpu_ratio"] == found["against"]["cheapest"]["cpu_ratio"]
    assert set(SETTINGS) <= found["against"].keys()
    assert str(bank.folder) not in json.dumps(found)


def test_a_peer_that_rescores_enough_agrees_with_exact_search(bank: ScaleBank, tmp_path: Path) -> None:
    pytest.importorskip("sqlite_vec")
    vectors = np.load(bank.folder / "vectors.npy")
    build_peer(tmp_path / "peer.db", TextMaker(ROWS, 1), vectors)
    queries = _real().vectors[-3:]
    exact = exact_nearest(queries, [np.ones(ROWS, np.bool_)] * 3, [(0, vectors)], 100)
    cost = ask_peer(tmp_path / "peer.db", ["what is the fig", "of the", "who"], queries, exact, "rescored")
    assert min(cost.recall) > 0.97
    assert len(cost.cpu_ms) == 3


def test_budgets_lie_between_the_stated_sizes() -> None:
    assert budget("helix", 10_000) == 9.0
    assert budget("helix", 1_000_000) == 40.0
    assert budget("default", 100_000) == 27.0
    assert 9.0 < (budget("helix", 30_000) or 0) < 18.0
    assert budget("lexical", 10_000) is None


def test_the_slope_of_what_grows_with_the_size_is_one() -> None:
    measured = [
        {"n": n, "cpu_ms": {"p50": n / 1e3, "p95": 5.0}, "private_growth_mb": n / 1e4, "mapped_mb": n / 1e2}
        for n in (10_000, 100_000, 1_000_000)
    ]
    assert slopes(measured) == {"cpu_p50": 1.0, "cpu_p95": 0.0, "private_growth_mb": 1.0, "mapped_mb": 1.0}


def test_wrong_arguments_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    run = ScaleRun(tmp_path / "keep", None, StubTokenEmbedder())
    with pytest.raises(InputError, match="too few"):
        run_scale(run, [10])
    with pytest.raises(UnknownNameError):
        run_scale(ScaleRun(tmp_path / "keep", None, StubTokenEmbedder(), against="faiss"), [1_000])
    assert not (tmp_path / "keep").exists()
