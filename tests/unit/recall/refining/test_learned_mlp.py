from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError, ModelDamagedError
from simonides.recall.refining.mlp import FEATURES, LearnedMlp, Network, features_of, load_network, network_at
from simonides.recall.refining.pool import UNRERANKED
from simonides.records.candidate import Candidate
from simonides.records.kind import Layer
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400_000_000


def network(**changes: Any) -> Network:
    """One hidden unit that looks at the cosine alone."""
    hidden = np.zeros((len(FEATURES), 1))
    hidden[0, 0] = 2.0
    plain = Network(hidden, np.array([-1.0]), np.array([3.0]), 0.5, 20)
    return replace(plain, **changes)


@pytest.mark.spec("EN-08")
def test_ten_features_by_hand() -> None:
    memory = fake_memory(
        "a", salience=0.25, access_count=3, layer=Layer.PROCEDURAL, ingested_at_micros=70 * DAY
    )
    view = FakeView.of([memory], vectors=[[3.0, 4.0]], as_of=100 * DAY)
    query = fake_query("?", vector=np.array([1.0, 0.0], np.float32))
    (row,) = features_of(view, query, np.array([0], np.int64)).tolist()
    assert FEATURES[4:9] == tuple(f"layer_{layer.value}" for layer in Layer)
    assert row == pytest.approx([0.6, 0.25, math.log(4) / 5, math.log(31) / 5, 0, 0, 0, 1, 0, 0.5], abs=1e-9)


@pytest.mark.spec("EN-08")
def test_without_a_query_vector_the_cosine_is_zero() -> None:
    view = FakeView.of([fake_memory("a")], vectors=[[1.0]])
    assert features_of(view, fake_query("?"), np.array([0], np.int64))[0, 0] == 0.0


@pytest.mark.spec("EN-08")
def test_two_layers_by_hand() -> None:
    rows = np.zeros((2, 10))
    rows[:, 0] = (1.0, 0.25)
    # relu(2 · 1 − 1) = 1 and relu(2 · ¼ − 1) = 0
    expected = [1 / (1 + math.exp(-3.5)), 1 / (1 + math.exp(-0.5))]
    assert network().predict(rows).tolist() == [round(value, 9) for value in expected]


def test_huge_weights_give_probabilities_still() -> None:
    huge = network(output=np.array([1e300]), output_bias=-1e300)
    assert huge.predict(np.eye(2, 10)).tolist() == pytest.approx([0.5, 0.0])


def pool_of(count: int) -> tuple[Candidate, ...]:
    return tuple(Candidate(n, 1 / (61 + n), "reciprocal_rank") for n in range(count))


@pytest.mark.spec("EN-08")
def test_without_a_trained_network_the_order_stands_and_the_trace_says_why() -> None:
    pool = pool_of(2)
    view = FakeView.of([fake_memory("a"), fake_memory("b")])
    refined = LearnedMlp(20).refine(view, fake_query("?"), pool, fake_tools())
    assert refined.pool == pool
    assert refined.reason == "not trained yet; the order stands"


@pytest.mark.spec("EN-08")
def test_the_head_is_in_the_networks_order_and_the_tail_follows() -> None:
    view = FakeView.of([fake_memory(name) for name in "abc"], vectors=[[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    tools = replace(fake_tools(), learned=network())
    query = fake_query("?", vector=np.array([1.0, 0.0], np.float32))
    pool = LearnedMlp(2).refine(view, query, pool_of(3), tools).pool
    assert [each.ordinal for each in pool] == [1, 0, 2]
    assert pool[0].score == pool[0].signals["learned_mlp"] == round(1 / (1 + math.exp(-3.5)), 9)
    assert [each.scored_by for each in pool] == ["learned_mlp", "learned_mlp", "reciprocal_rank"]
    assert pool[2].signals == {UNRERANKED: 1.0}


def test_scores_that_are_no_numbers_leave_the_order() -> None:
    tools = replace(fake_tools(), learned=network(output_bias=math.nan))
    refined = LearnedMlp(20).refine(FakeView.of([fake_memory("a")]), fake_query("?"), pool_of(1), tools)
    assert refined.pool == pool_of(1)
    assert "no usable scores" in refined.reason


def test_an_empty_pool_stays_empty() -> None:
    assert LearnedMlp(20).refine(FakeView.of([]), fake_query("?"), (), fake_tools()).pool == ()


@pytest.mark.spec("EN-08")
def test_a_network_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "reranker.npz"
    network().save(path)
    again = load_network(path)
    rows = np.arange(20.0).reshape(2, 10) / 20
    assert again.predict(rows).tolist() == network().predict(rows).tolist()
    assert again.samples == 20


def write(path: Path, **changes: Any) -> None:
    good = network()
    arrays: dict[str, Any] = {
        "version": np.array(1), "hidden": good.hidden, "hidden_bias": good.hidden_bias, "output": good.output,
        "output_bias": np.array(0.5), "samples": np.array(20), **changes,
    }  # fmt: skip
    with path.open("wb") as file:
        np.savez(file, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.spec("EN-08")
@pytest.mark.parametrize(
    "changes",
    [
        {"version": np.array(2)},
        {"hidden": np.zeros((9, 1))},
        {"hidden": None},
        {"output": np.array([1.0, 2.0])},
        {"hidden_bias": np.array([math.inf])},
        {"hidden": np.array([[pickle.dumps]], object)},
        {"samples": np.array(["many"])},
    ],
    ids=str,
)
def test_a_file_that_cannot_be_weights_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "reranker.npz", **changes)
    with pytest.raises(ModelDamagedError, match="train it anew"):
        load_network(tmp_path / "reranker.npz")


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", pickle.dumps({"hidden": 1})], ids=["empty", "cut", "pickle"]
)
def test_what_is_no_such_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "reranker.npz"
    path.write_bytes(content)
    with pytest.raises(ModelDamagedError, match="no file of a learned reranker"):
        load_network(path)


def test_a_depth_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="depth: 0"):
        LearnedMlp(0)


def test_the_file_is_read_again_only_when_it_is_another(tmp_path: Path) -> None:
    path = tmp_path / "reranker.npz"
    network(samples=20).save(path)
    first = network_at(path)
    assert network_at(path) is first
    other = tmp_path / "partial"
    network(samples=30).save(other)
    other.replace(path)
    assert network_at(path).samples == 30
    path.write_bytes(b"no network")
    for _ in range(2):
        with pytest.raises(ModelDamagedError):
            network_at(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        network_at(path)
