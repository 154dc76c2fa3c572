"""What channels search for, and what they make of it, in numbers that were reckoned by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simonides.profiles.loader import load_profile
from simonides.recall.channels.vectors import Dense
from simonides.recall.helping.asking import HelperTexts
from simonides.recall.helping.widening import EachVariant, Helpers, widened
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

EAST, NORTH = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def test_hyde_is_the_mean_direction_of_query_and_passages() -> None:
    embedder = StubEmbedder(dimension=2, overrides={"a": [0.0, 2.0], "b": [0.0, 0.0]})
    helpers = Helpers(HelperTexts(hyde=("a", "b")), ())
    query = helpers.understand(
        FakeView.of([]), fake_query("q", vector=EAST), replace(fake_tools(), embedder=embedder)
    )
    assert query.vector is EAST
    [variant] = query.variants
    assert variant.vector is not None
    # (1, 0) and (0, 1) have one mean direction; a passage without a vector counts for nothing.
    assert variant.vector.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])


def test_query2doc_repeats_the_query_five_times_beside_the_passage() -> None:
    tools = fake_tools()
    terms = tuple((term, 1) for term in dict.fromkeys(tools.analyser.query_terms("bees keep")))
    query = Helpers(HelperTexts(query2doc=("bees hum",)), ()).understand(
        FakeView.of([]), fake_query("bees keep", terms=terms), tools
    )
    assert query.terms == terms
    counted = dict(query.variants[0].terms)
    hum = tools.analyser.query_terms("hum")[0]
    assert [counted[term] for term, _ in terms] == [6, 5]
    assert counted[hum] == 1


def test_rankings_of_several_variants_become_one_by_reciprocal_rank() -> None:
    view = FakeView.of([fake_memory(f"m{n}") for n in range(3)], vectors=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    one, other = fake_query("q", vector=EAST), fake_query("r", vector=NORTH)
    channel = EachVariant(Dense(depth=10, rescore=100))
    found = channel.search(view, replace(one, variants=(one, other)), fake_tools())
    # East: m0 m2 m1; north: m1 m2 m0.
    assert found.scores.tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 61 + 1 / 63, 2 / 62], abs=1e-9)
    assert found.ordinals.tolist() == [0, 1, 2]


def test_one_variant_keeps_the_channels_own_ranking() -> None:
    view = FakeView.of([fake_memory("m0")], vectors=[[1.0, 0.0]])
    query = fake_query("q", vector=NORTH)
    found = EachVariant(Dense(depth=1, rescore=9)).search(
        view, replace(query, variants=(replace(query, vector=EAST),)), fake_tools()
    )
    assert found.scores.tolist() == [1.0]


def test_a_query_that_wants_no_search_has_no_variants_and_problems_become_notes() -> None:
    texts = HelperTexts(hyde=("a",), problems=("multi_query: gone",))
    query = Helpers(texts, ()).understand(FakeView.of([]), fake_query("q", skip="greeting"), fake_tools())
    assert query.variants == ()
    assert query.notes == ("multi_query: gone",)


def test_an_embedder_that_fails_leaves_the_querys_own_vector() -> None:
    class Failing(StubEmbedder):
        def encode(self, texts: object) -> np.ndarray:
            raise OSError("gone")

    tools = replace(fake_tools(), embedder=Failing(dimension=2))
    query = Helpers(HelperTexts(hyde=("a",)), ()).understand(
        FakeView.of([]), fake_query("q", vector=EAST), tools
    )
    assert query.variants[0].vector is EAST
    assert query.notes == ("the embedder failed: OSError: gone",)


def test_a_widened_plan_has_the_same_stages_at_the_same_places() -> None:
    plan = load_profile("default")
    wider = widened(plan, HelperTexts(), None)
    assert [step.name for step in wider.channels] == [step.name for step in plan.channels]
    assert [step.name for step in wider.understanders] == [*(s.name for s in plan.understanders), "helpers"]
    assert wider.refiners == plan.refiners
