"""Public faults of vectors: unusable ones, changed models, floors, filters after the cut, churn."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simonides
from simonides.errors import EmbedderMismatchError
from simonides.index.vectors import exact_dot, quantise, split_query
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def strict_json(recall: Recall) -> Any:
    """The answer, read back as JSON that has neither NaN nor infinities."""
    return json.loads(json.dumps(recall.to_dict(), allow_nan=False), parse_constant=pytest.fail)


UNUSABLE = {
    "kettle zeros": (0.0, 0.0, 0.0, 0.0),
    "kettle not a number": (math.nan, 0.0, 0.0, 0.0),
    "kettle huge": (1e38,) * 4,
    "kettle infinite": (math.inf, 0.0, 0.0, 0.0),
}
USABLE = {
    "kettle near": (0.9, 0.1, 0.0, 0.0),
    "kettle far": (0.1, 0.9, 0.0, 0.0),
    "kettle": (1.0, 0.0, 0.0, 0.0),
}


@pytest.mark.fault("V1")
def test_unusable_vectors_never_outrank_a_neighbour_and_are_reported(
    tmp_path: Path, clock: FrozenClock, dense_only: Path
) -> None:
    stub = StubEmbedder(dimension=4, overrides={**UNUSABLE, **USABLE})
    with simonides.open(tmp_path / "v1", clock=clock, embedder=stub) as store:
        bank = store.bank("diary")
        ids = bank.retain([*UNUSABLE, "kettle near", "kettle far"])
        assert len(set(ids)) == 6

        dense = bank.recall("kettle", profile=dense_only, precision="wide")
        assert texts(dense) == ["kettle near", "kettle far"]
        both = bank.recall("kettle", precision="wide")
        assert set(texts(both)) == {*UNUSABLE, "kettle near", "kettle far"}
        for recall in (dense, both, bank.recall("kettle", profile="lexical", precision="wide")):
            assert strict_json(recall)["hits"]
            assert all(-1 <= hit.channel_scores.get("dense", 0.0) <= 1 for hit in recall)

        report = bank.verify()
        assert report.ok
        assert report.notes == ("4 versions have no vector; they are found by words",)
        assert bank.stats()["with_vector"] == 2


@pytest.mark.fault("V1")
@pytest.mark.parametrize("query", ["kettle zeros", "kettle not a number", "kettle infinite"])
def test_a_query_without_a_usable_vector_is_answered_by_words_and_says_so(
    tmp_path: Path, clock: FrozenClock, query: str
) -> None:
    stub = StubEmbedder(dimension=4, overrides={**UNUSABLE, **USABLE})
    with simonides.open(tmp_path / "v1", clock=clock, embedder=stub) as store:
        bank = store.bank("diary")
        bank.retain(["kettle near", "kettle far"])

        recall = bank.recall(query, precision="wide")

        assert len(strict_json(recall)["hits"]) == 2
        assert [note for note in recall.trace.degraded if "the embedder gave" in note]
        assert all(math.isfinite(hit.score) for hit in recall)


@pytest.mark.fault("V2")
def test_another_model_is_refused_by_name_and_size_and_nothing_is_dropped(
    tmp_path: Path, clock: FrozenClock
) -> None:
    def opened(dimension: int) -> Store:
        return simonides.open(
            tmp_path / "v2", clock=clock, embedder=StubEmbedder(dimension, name=f"stub-{dimension}")
        )

    items = [f"kettle number {n}" for n in range(20)]
    with opened(256) as store:
        store.bank("diary").retain(items)
        before = [
            (hit.id, hit.score) for hit in store.bank("diary").recall("kettle number 7", precision="wide")
        ]
    with opened(384) as store:
        bank = store.bank("diary")
        with pytest.raises(EmbedderMismatchError) as caught:
            bank.retain("kettle number 20")
        for part in ("256", "384", "'stub-256'", "'stub-384'", "open it with"):
            assert part in str(caught.value)

        recall = bank.recall("kettle number 7", limit=50, precision="wide")
        assert len(recall) == 20
        assert recall[0].text == "kettle number 7"
        assert recall[0].ranks.keys() == {"lexical"}
        assert any("256" in note and "384" in note for note in recall.trace.degraded)
        assert bank.stats()["versions"] == bank.stats()["with_vector"] == 20
        assert bank.verify().ok
        # Other banks of the same store are free to begin with the new model.
        store.bank("new").retain("kettle")
    with opened(256) as store:
        bank = store.bank("diary")
        assert [(hit.id, hit.score) for hit in bank.recall("kettle number 7", precision="wide")] == before
        assert len(bank.retain("kettle number 20")) == 1


@pytest.mark.fault("V2")
def test_without_any_model_words_can_be_added_to_a_bank_with_vectors(
    tmp_path: Path, clock: FrozenClock
) -> None:
    with simonides.open(tmp_path / "v2", clock=clock, embedder=StubEmbedder()) as store:
        store.bank("diary").retain("kettle one")
    with simonides.open(tmp_path / "v2", clock=clock, embedder=None) as store:
        store.bank("diary").retain("kettle two")
    with simonides.open(tmp_path / "v2", clock=clock, embedder=StubEmbedder()) as store:
        bank = store.bank("diary")
        assert set(texts(bank.recall("kettle", precision="wide"))) == {"kettle one", "kettle two"}
        assert bank.verify().notes == ("1 versions have no vector; they are found by words",)


@pytest.mark.fault("V3")
def test_a_memory_far_from_the_query_is_still_returned(
    tmp_path: Path, clock: FrozenClock, dense_only: Path
) -> None:
    stub = StubEmbedder(
        dimension=2,
        overrides={
            "KX-20931": (1.0, 0.0),
            "Invoice KX-20931": (-0.2, 0.98),
            **{f"decoy {n}": (0.9, 0.4) for n in range(5)},
        },
    )
    with simonides.open(tmp_path / "v3", clock=clock, embedder=stub) as store:
        bank = store.bank("diary")
        bank.retain(["Invoice KX-20931", *(f"decoy {n}" for n in range(5))])

        both, dense = (
            bank.recall("KX-20931", precision="wide"),
            bank.recall("KX-20931", profile=dense_only, precision="wide"),
        )

    for recall in (both, dense):
        [hit] = [hit for hit in recall if hit.text == "Invoice KX-20931"]
        assert hit.channel_scores["dense"] == pytest.approx(-0.2, abs=0.01)
        assert len(recall) == 6
        assert not recall.no_match
    assert both[0].text == "Invoice KX-20931"


KEEP, NOISE, DIMENSION = 12, 2_000, 8


def filtered_bank(store: Store) -> tuple[Bank, list[str]]:
    """2,000 rows nearer to the query "kiln" than 12 others, in both channels; the 12 best first."""
    bank = store.bank("diary")
    noise = [
        {"text": f"kiln kiln kiln kiln noise{n}", "acl": ["ines"], "event_time": "2026-02-20"}
        for n in range(NOISE)
    ]
    keep = [
        {
            # Equal lengths, so that the term's frequency alone decides.
            "text": " ".join(["kiln"] * (1 + n // 4) + [f"pad{n}x{i}" for i in range(30 - n // 4)]),
            "path": f"{n:02}",
            "tags": ["keep"],
            "kind": "decision",
            "project": "atlas",
            "event_time": "2026-01-10",
            "acl": ["ines", "tove"],
        }
        for n in reversed(range(KEEP))
    ]
    bank.retain(noise[: NOISE // 2])
    ids = bank.retain(keep)
    bank.retain(noise[NOISE // 2 :])
    best_first = sorted(range(KEEP), key=lambda i: (-((KEEP - 1 - i) // 4), KEEP - 1 - i))
    return bank, [ids[i] for i in best_first]


class Kiln(StubEmbedder):
    """Cosine to the query "kiln": noise 0.9, kept rows by their number of kilns."""

    def encode_query(self, text: str) -> Any:
        cosine = 1.0 if text == "kiln" else 0.9 if "noise" in text else 0.1 * text.split().count("kiln")
        vector = np.zeros(DIMENSION, np.float32)
        vector[0], vector[1] = cosine, math.sqrt(1.0 - cosine * cosine)
        return vector


FILTERS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "tag": (None, {"tags": ["keep"], "tags_match": "any_strict"}),
    "tag exact": (None, {"tags": ["keep"], "tags_match": "exact"}),
    "time": (None, {"window": "2026-01"}),
    "kind": (None, {"kinds": ["decision"]}),
    "project": (None, {"project": "atlas"}),
    "principal": ("tove", {}),
    "all": ("tove", {"tags": ["keep"], "window": "2026-01", "kinds": "decision", "project": "atlas"}),
}


@pytest.fixture(scope="module")
def kilns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[str]]]:
    """One store for all filters: it is only read."""
    stub = Kiln(dimension=DIMENSION)
    with simonides.open(tmp_path_factory.mktemp("kilns"), embedder=stub) as store:
        _, best_first = filtered_bank(store)
        yield store, best_first


@pytest.mark.fault("V4")
@pytest.mark.parametrize(("principal", "arguments"), FILTERS.values(), ids=list(FILTERS))
def test_a_filter_acts_before_the_cut_in_every_channel(
    kilns: tuple[Store, list[str]], dense_only: Path, principal: str | None, arguments: dict[str, Any]
) -> None:
    store, best_first = kilns
    bank = store.bank("diary", principal=principal)

    for profile in ("lexical", dense_only):
        recall = bank.recall(
            "kiln", limit=10, profile=profile, max_tokens=None, **arguments, precision="wide"
        )
        assert [hit.id for hit in recall] == best_first[:10]
        assert recall.trace.eligible == KEEP
    # Here the graph and the priors have a say in the order, none in what may be found.
    recall = bank.recall("kiln", limit=10, max_tokens=None, **arguments, precision="wide")
    assert len(recall) == 10
    assert {hit.id for hit in recall} <= set(best_first)
    # The control: without the filter noise fills the answer.
    assert not {hit.id for hit in store.bank("diary").recall("kiln", limit=10, precision="wide")} & set(
        best_first
    )


@pytest.mark.fault("V4")
def test_at_every_selectivity_the_best_ten_are_those_of_brute_force(
    tmp_path: Path, clock: FrozenClock, dense_only: Path
) -> None:
    numbers = random.Random(5)
    rows = [f"row{n} {' '.join(numbers.choices('abcdefghijkl', k=12))}" for n in range(2_000)]
    stub = StubEmbedder(dimension=64)
    shares = (1_000, 500, 100, 20, 4, 2, 1)
    with simonides.open(tmp_path / "v4", clock=clock, embedder=stub) as store:
        bank = store.bank("diary")
        ids = bank.retain(
            [
                {"text": text, "tags": [f"one in {s}" for s in shares if n % s == 0]}
                for n, text in enumerate(rows)
            ]
        )
        query = "row7 a b c a b c"
        cosines = exact_cosines(stub, query, rows)
        everything = bank.recall(
            query, limit=2_000, profile=all_rows(tmp_path), max_tokens=None, precision="wide"
        )
        for share in shares:
            chosen = [n for n in range(2_000) if n % share == 0]
            expected = sorted(chosen, key=lambda n: (-cosines[n], ids[n]))[:10]
            tag: dict[str, Any] = {"tags": [f"one in {share}"], "tags_match": "any_strict"}
            recall = bank.recall(query, limit=10, profile=dense_only, **tag, precision="wide")
            assert [hit.id for hit in recall] == [ids[n] for n in expected]
            assert [hit.channel_scores["dense"] for hit in recall] == [cosines[n] for n in expected]
            # By words scores are the same as without the filter, so the best ten are the best of those.
            best = [hit.id for hit in everything if f"one in {share}" in hit.memory.tags][:10]
            assert [
                hit.id for hit in bank.recall(query, limit=10, profile="lexical", **tag, precision="wide")
            ] == best


def exact_cosines(stub: StubEmbedder, query: str, rows: Sequence[str]) -> list[float]:
    """Brute force over the vectors as they are stored."""
    stored = [quantise(row) for row in stub.encode(rows)]
    codes = np.array([pair[0] for pair in stored if pair], np.int8)
    scales = np.array([pair[1] for pair in stored if pair], np.float64)
    vector = stub.encode_query(query).astype(np.float64)
    scaled = vector / np.abs(vector).max()
    halves, scale = split_query((scaled / np.linalg.norm(scaled)).astype(np.float32))
    rounded: list[float] = (exact_dot(codes, halves) * (scales * scale)).round(9).tolist()
    return rounded


def all_rows(folder: Path) -> Path:
    profile = folder / "all-rows.toml"
    profile.write_text('extends = "lexical"\n[stages.lexical]\ndepth = 2000\n', encoding="utf-8")
    return profile


def sentence(number: int) -> str:
    """A sentence of its own words, so that its spelling is like no other's."""
    letters = random.Random(number)
    return " ".join("".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(5))


@pytest.mark.fault("V5")
@pytest.mark.parametrize("rows", [2_000, pytest.param(4_000, marks=pytest.mark.soak)])
def test_after_churn_every_live_row_is_first_for_its_own_text_and_no_dead_one_shows(
    tmp_path: Path, clock: FrozenClock, dense_only: Path, rows: int
) -> None:
    stub = StubEmbedder(dimension=128)

    def opened() -> Store:
        return simonides.open(tmp_path / "v5", clock=clock, embedder=stub)

    with opened() as store:
        bank = store.bank("diary")
        ids = bank.retain([sentence(n) for n in range(rows)])
        assert bank.forget(ids[::2]) == rows // 2
        # An update is a new text in the place of an old one, for three in ten of what is left.
        gone = {n for n in range(1, rows, 2) if n % 20 in {3, 9, 15}}
        assert bank.forget([ids[n] for n in gone]) == rows * 3 // 20
        updated = dict(
            zip(sorted(gone), bank.retain([sentence(10_000 + n) for n in sorted(gone)]), strict=True)
        )

    live = {n: ids[n] for n in range(1, rows, 2) if n not in gone}
    dead = set(ids) - set(live.values())
    with opened() as store:
        bank = store.bank("diary")
        asked = [(sentence(n), live[n]) for n in list(live)[::14]]
        asked += [(sentence(10_000 + n), updated[n]) for n in list(updated)[::6]]
        assert len(asked) == rows // 20
        for profile in ("lexical", dense_only):
            for text, memory in asked:
                recall = bank.recall(text, profile=profile, limit=5, precision="wide")
                assert recall[0].id == memory
                assert not {hit.id for hit in recall} & dead

        # What was nearest before it was forgotten gives its place to the next.
        before = bank.recall(asked[0][0], limit=2, profile=dense_only, precision="wide")
        bank.forget(before[0].id)
        assert [
            hit.id for hit in bank.recall(asked[0][0], limit=1, profile=dense_only, precision="wide")
        ] == [before[1].id]

        stats, report = bank.stats(), bank.verify()
        assert (
            stats["current"]
            == stats["memories"]
            == stats["versions"]
            == stats["with_vector"]
            == rows // 2 - 1
        )
        assert stats["episodes"] == rows // 2 - 1
        assert report.ok
        assert report.checked["rows"] == rows // 2 - 1
        everything = bank.recall("x", limit=10_000, profile=deep(tmp_path), max_tokens=None, precision="wide")
        assert {hit.id for hit in everything} == ({*live.values(), *updated.values()} - {before[0].id})


def deep(folder: Path) -> Path:
    profile = folder / "deep.toml"
    profile.write_text(
        'extends = "lexical"\norder = ["embedding", "dense", "reciprocal_rank", "token_budget"]\n'
        "[stages.dense]\ndepth = 10000\nrescore = 8192\n",
        encoding="utf-8",
    )
    return profile
