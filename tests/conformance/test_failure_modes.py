"""The twelve failure modes that helix guards against (HX-20).

Each test asks the same bank twice: through helix, where the failure must not show, and through a variant of
helix whose mitigation was taken out, where it must. So no test passes because its bank cannot fail.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import simonides
from simonides.errors import ProfileError
from simonides.evaluation.variant import variant_toml
from simonides.index.files import FileLayer
from simonides.profiles.loader import load_profile
from simonides.recall.understanding.router import SKIPPED
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

DIMENSION = 32
QUERY = "Where is ticket QX-7731?"
WORDS = [f"word{n}" for n in range(600)]


def unit(seed: int, towards: NDArray[np.float64] | None = None, cosine: float = 0.0) -> list[float]:
    """A random unit vector; with *towards*, one at exactly that cosine from it."""
    free = np.random.default_rng(seed).normal(size=DIMENSION)
    if towards is None:
        return list(free / np.linalg.norm(free))
    free -= (free @ towards) * towards
    free /= np.linalg.norm(free)
    return list(cosine * towards + math.sqrt(1 - cosine**2) * free)


def words(count: int, seed: int) -> str:
    return " ".join(random.Random(seed).sample(WORDS, count))


@dataclass
class Lab:
    """Opens a store with given vectors, and asks helix or a variant of it."""

    folder: Path
    clock: FrozenClock
    stores: list[Store] = field(default_factory=list)

    def bank(self, vectors: Mapping[str, Sequence[float]] | None = None, **options: Any) -> Bank:
        embedder = StubEmbedder(dimension=DIMENSION, overrides=vectors or {})
        store = simonides.open(
            self.folder / f"store{len(self.stores)}",
            clock=self.clock,
            embedder=embedder,
            environ={},
            **{"expander": None, **options},
        )
        self.stores.append(store)
        return store.bank()

    def helix(self, *, without: Iterable[str] = (), settings: Iterable[str] = ()) -> str:
        """Path of helix but for what is said; the stub knows no meaning, so nothing is routed by it."""
        made = variant_toml("helix", without=("router", *without), settings=settings)
        path = self.folder / f"variant{len(list(self.folder.glob('*.toml')))}.toml"
        path.write_text(made, encoding="utf-8")
        load_profile(path)
        return str(path)


@pytest.fixture
def lab(tmp_path: Path, clock: FrozenClock) -> Any:
    made = Lab(tmp_path, clock)
    yield made
    for store in made.stores:
        store.close()


def texts(found: Recall) -> list[str]:
    return [hit.text for hit in found]


@pytest.mark.spec("HX-20")
def test_dense_only_blind_spot(lab: Lab) -> None:
    """An identifier that the embedder does not know is found by the words."""
    wanted = "QX-7731 was closed by Odalys."
    towards = np.array(unit(1))
    decoys = [f"note {words(6, n)}" for n in range(150)]
    vectors = {QUERY: list(towards), wanted: unit(2, towards, -0.2)}
    vectors |= {text: unit(n + 10, towards, 0.8) for n, text in enumerate(decoys)}
    bank = lab.bank(vectors)
    bank.retain([wanted, *decoys], deduplicate=False)
    assert wanted in texts(bank.recall(QUERY, profile=lab.helix()))
    assert wanted not in texts(bank.recall(QUERY, profile=lab.helix(without=["lexical"])))


@pytest.mark.spec("HX-20")
def test_quantisation_drift(lab: Lab) -> None:
    """The hundred nearest are the hundred nearest, not those whose signs happen to agree."""
    towards = np.array(unit(1))
    rows = [f"row {n} {words(3, n)}" for n in range(5_000)]
    vectors = {text: unit(n + 10) for n, text in enumerate(rows)}
    bank = lab.bank({QUERY: list(towards), **vectors})
    bank.load(rows, np.array([vectors[text] for text in rows], np.float32))
    exact = sorted(rows, key=lambda text: -float(np.dot(vectors[text], towards)))[:100]

    def kept(profile: str) -> float:
        only = bank.recall(QUERY, profile=profile, limit=100, max_tokens=None)
        return len({hit.text for hit in only if "dense" in hit.ranks} & set(exact)) / 100

    wide = ["outside_in.most=200", "marginal_relevance.most=200", "marginal_relevance.relevance_weight=1.0"]
    wide += ["graph_expansion.seeds=200", "graph_expansion.most=300", "graph_expansion.fewest=200"]
    assert kept(lab.helix(settings=wide)) >= 0.97
    assert kept(lab.helix(settings=[*wide, "dense.rescore=1"])) < 0.9


@pytest.mark.spec("HX-20")
def test_rank_base_bug(lab: Lab) -> None:
    """What both channels place fourth beats what one alone places first; not with ranks from 0 and k = 2."""
    towards = np.array(unit(1))
    both, alone = "The zeppelin is moored here tonight again.", "Nothing of that sort."
    filler = [f"zeppelin {n}" for n in range(3)]
    near = [f"unrelated {words(5, n)}" for n in range(2)]
    vectors = {"zeppelin": list(towards), both: unit(2, towards, 0.5), alone: unit(3, towards, 0.95)}
    vectors |= {text: unit(n + 20, towards, 0.9 - n / 100) for n, text in enumerate(near)}
    vectors |= {text: unit(n + 30, towards, -0.3) for n, text in enumerate(filler)}
    bank = lab.bank(vectors)
    bank.retain([both, alone, *filler, *near], deduplicate=False)

    def fused(profile: str) -> dict[str, float]:
        found = bank.recall("zeppelin", profile=profile)
        for hit in found:
            k = load_profile(profile).fuser.stage.k  # type: ignore[attr-defined]
            assert hit.signals["fused"] == pytest.approx(math.fsum(1 / (k + r) for r in hit.ranks.values()))
        assert {h.text: tuple(sorted(h.ranks.items())) for h in found}[both] == (("dense", 4), ("lexical", 4))
        assert {h.text: tuple(sorted(h.ranks.items())) for h in found}[alone] == (("dense", 1),)
        return {hit.text: hit.signals["fused"] for hit in found}

    right = fused(lab.helix())
    assert right[alone] == pytest.approx(1 / 61)
    assert right[both] == pytest.approx(2 / 64)
    assert right[both] > right[alone]
    # An engine that counts from 0 with k = 2 gives 1 / (2 + 0): here, k = 1.
    wrong = fused(lab.helix(settings=["reciprocal_rank.k=1"]))
    assert wrong[both] < wrong[alone]


@pytest.mark.spec("HX-20")
def test_graph_over_expansion(lab: Lab) -> None:
    """A hub does not flood the pool with whatever hangs on it."""
    bank = lab.bank()
    answers = [f"Odalys Vantongeren repaired the kiln, {words(4, n)}." for n in range(5)]
    others = [f"Odalys Vantongeren, {words(6, n + 50)}." for n in range(400)]
    bank.retain([*answers, *others], deduplicate=False)
    bank.settle()

    def pool(profile: str) -> int:
        found = bank.recall("kiln repaired", profile=profile)
        return next(line.count for line in found.trace.stages if line.name == "graph_expansion")

    free = [
        "graph_expansion.most=5000",
        "graph_expansion.least_mass=0.0",
        "graph_expansion.residual=0.0000001",
    ]
    assert pool(lab.helix()) <= 160
    assert pool(lab.helix(settings=free)) > 300

    def strangers(profile: str) -> int:
        found = bank.recall("kiln repaired", profile=profile, limit=5)
        return sum("kiln" not in hit.text for hit in found)

    loud = "{ sim = 0.0, recency = 0.0, salience = 0.0, confidence = 0.0, graphprox = 1.0 }"
    assert strangers(lab.helix()) <= 1
    assert strangers(lab.helix(settings=[*free, f"blend.weights.semantic={loud}"])) > 1


@pytest.mark.spec("HX-20")
def test_cold_cache(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """After warming the first query of a session opens no file of the index."""
    with simonides.open(lab.folder / "cold", clock=lab.clock, embedder=StubEmbedder(DIMENSION)) as store:
        store.bank().retain([words(8, n) for n in range(50)])
        store.bank()._rows.merge_if_due(force=True)
    opened: list[str] = []
    kept = FileLayer.map

    def look(layer: FileLayer, path: Path) -> memoryview:
        opened.append(path.name)
        return kept(layer, path)

    monkeypatch.setattr(FileLayer, "map", look)

    def first_query(*, warm: bool) -> list[str]:
        with simonides.open(
            lab.folder / "cold", clock=lab.clock, embedder=StubEmbedder(DIMENSION), warm=warm
        ) as store:
            bank = store.bank()
            opened.clear()
            assert bank.recall("word1", profile=lab.helix()).trace.rows == 50
            return list(opened)

    assert first_query(warm=True) == []
    assert "block-0.arr" in first_query(warm=False)


@pytest.mark.spec("HX-20")
def test_lost_in_the_middle(lab: Lab) -> None:
    """The two best memories stand at both ends of the context, none of them in its middle."""
    bank = lab.bank()
    bank.retain([f"lantern {words(3 + n, n)}" for n in range(12)], deduplicate=False)

    def places(profile: str) -> list[int]:
        found = bank.recall("lantern", profile=profile, limit=12)
        lines = found.context.splitlines()
        assert len(lines) == len(found.hits) == 12
        return [next(n for n, line in enumerate(lines) if hit.text in line) for hit in found.hits[:2]]

    assert places(lab.helix()) == [0, 11]
    plain = lab.folder / "plain.toml"
    order = variant_toml("helix", without=["router"]).split("order = [")[1].split("]")[0].split('"')[1::2]
    order[-1] = "token_budget"
    listed = ", ".join(f'"{name}"' for name in order)
    plain.write_text(
        f'extends = "helix"\norder = [{listed}]\n[stages.token_budget]\ncount = "rendered"\nlabel = ["date"]\n',
        encoding="utf-8",
    )
    assert places(str(plain)) == [0, 1]


@pytest.mark.spec("HX-20")
def test_over_packing(lab: Lab) -> None:
    """However many match and however large the budget, at most thirty are packed."""
    bank = lab.bank()
    bank.retain([f"harbour {words(9, n)}" for n in range(200)], deduplicate=False)

    def packed(profile: str) -> int:
        found = bank.recall("harbour", profile=profile, limit=100, max_tokens=None)
        return len(found.context.splitlines())

    assert packed(lab.helix()) == 30
    free = ["outside_in.most=1000", "marginal_relevance.most=1000"]
    assert packed(lab.helix(settings=free)) == 100


@pytest.mark.spec("HX-20")
def test_recency_runaway(lab: Lab, clock: FrozenClock) -> None:
    """A decision of last year that matters stands above the chatter of this hour."""
    bank = lab.bank()
    decided = "Decision: the harbour ledger moves to Postgres."
    now = clock.now
    clock.now = now - timedelta(days=300)
    bank.retain(decided, kind="decision", salience=0.9, confidence=0.9)
    for n in range(40):
        clock.now = now - timedelta(minutes=40 - n)
        bank.retain(f"harbour ledger chatter {words(5, n)}", kind="semantic", salience=0.2, confidence=0.5)
    clock.now = now

    def place(profile: str) -> int:
        return texts(bank.recall("harbour ledger", profile=profile, limit=41)).index(decided)

    def place_or_last(profile: str) -> int:
        found = texts(bank.recall("harbour ledger", profile=profile))
        return found.index(decided) if decided in found else len(found)

    assert place(lab.helix()) == 0
    fresh = "{ sim = 0.10, recency = 0.80, salience = 0.05, confidence = 0.05, graphprox = 0.0 }"
    runaway = [f"blend.weights.decision={fresh}", f"blend.weights.semantic={fresh}"]
    assert place_or_last(lab.helix(settings=runaway)) >= 10


@pytest.mark.spec("HX-20")
def test_skip_retrieval_false_negative(lab: Lab) -> None:
    """A question that only sounds like small talk is looked up; a router without its margins drops it."""
    bank = lab.bank()
    answer = "The toast that Kofi gave praised the lamplighters."
    bank.retain([answer, *(words(8, n) for n in range(20))], kind="semantic")
    asked = "what is the toast for the lamplighters"

    def found(*settings: str) -> Recall:
        path = lab.folder / f"routed{len(list(lab.folder.glob('*.toml')))}.toml"
        path.write_text(variant_toml("helix", settings=settings), encoding="utf-8")
        return bank.recall(asked, profile=str(path))

    assert answer in texts(found())
    dropped = found("router.skip_margin=0.0", "router.skip_floor=-1.0", "router.short_words=0")
    assert not dropped.hits
    assert dropped.no_match
    assert SKIPPED in dropped.trace.skipped


@pytest.mark.spec("HX-20")
def test_duplicate_spam(lab: Lab) -> None:
    """One fact said forty times takes one place."""
    bank = lab.bank()
    fact = "harbour gate code is four one nine two at the northern pier beside the old crane tower"
    spam = [f"{fact} {WORDS[n]}" for n in range(40)]
    others = [f"harbour gate {words(10, n + 100)}" for n in range(12)]
    bank.retain([*spam, *others], deduplicate=False)

    def repeats(profile: str) -> int:
        return sum(
            fact in text for text in texts(bank.recall("harbour gate code", profile=profile, limit=10))
        )

    assert repeats(lab.helix()) == 1
    assert repeats(lab.helix(without=["near_duplicates", "marginal_relevance"])) >= 9


@dataclass
class CountingReranker:
    """Scores by length, and counts the pairs that it reads."""

    name: str = "counting"
    gives: Literal["logits", "probabilities", "unknown"] = "logits"
    pairs: int = 0

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.pairs += len(texts)
        return np.array([len(text) for text in texts], np.float32)


@pytest.mark.spec("HX-20")
def test_reranker_on_a_cpu(lab: Lab) -> None:
    """Off by default; switched on it reads thirty pairs at most, whoever asks for more is refused."""
    reranker = CountingReranker()
    bank = lab.bank(reranker=reranker)
    bank.retain([f"harbour {words(9, n)}" for n in range(200)], deduplicate=False)

    def pairs(profile: str) -> int:
        reranker.pairs = 0
        assert bank.recall("harbour", profile=profile).hits
        return reranker.pairs

    def reranked(depth: int, head: str) -> Path:
        path = lab.folder / f"reranked{depth}{len(head)}.toml"
        path.write_text(f"{head}[stages.cross_encoder]\ndepth = {depth}\n", encoding="utf-8")
        return path

    assert pairs("helix") == pairs(lab.helix()) == 0
    plain = variant_toml("helix", without=["router"])
    with_it = plain.replace('"near_duplicates", "marg', '"cross_encoder", "near_duplicates", "marg', 1)
    assert with_it != plain
    assert pairs(str(reranked(30, with_it))) == 30
    with pytest.raises(ProfileError, match="30"):
        load_profile(reranked(200, with_it))
    # Without the guard rail it reads whatever the profile says.
    free = with_it.replace("[at_most.cross_encoder]\ndepth = 30.0", "")
    assert free != with_it
    assert pairs(str(reranked(200, free))) > 100


@pytest.mark.spec("HX-20")
def test_out_of_domain_dense_collapse(lab: Lab) -> None:
    """Jargon that the embedder cannot place is found by the words, and by the questions asked at ingest."""
    named, asked_at_ingest = (
        "The grommulator hums at forty hertz.",
        "It sits under the stairs, left of the boiler.",
    )
    towards = np.array(unit(1))
    queries = ("grommulator", "Where is the quibblestat?")
    noise = [f"memo {words(7, n)}" for n in range(150)]
    vectors = {query: list(towards) for query in queries} | {
        named: unit(2, towards, -0.4),
        asked_at_ingest: unit(3, towards, -0.4),
    }
    vectors |= {text: unit(n + 10, towards, 0.6) for n, text in enumerate(noise)}
    bank = lab.bank(vectors)
    bank.retain(noise, deduplicate=False)
    bank.retain(named)
    bank.retain(asked_at_ingest, expansion="Where is the quibblestat?")

    def found(profile: str) -> tuple[bool, bool]:
        return (
            named in texts(bank.recall(queries[0], profile=profile)),
            asked_at_ingest in texts(bank.recall(queries[1], profile=profile)),
        )

    assert found(lab.helix()) == (True, True)
    assert found(lab.helix(settings=["lexical.fields={ text = 1.0 }"])) == (True, False)
    assert found(lab.helix(without=["lexical"])) == (False, False)
