from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.protocols import Embedder


def test_satisfies_the_embedder_protocol(stub_embedder: StubEmbedder) -> None:
    embedder: Embedder = stub_embedder

    vectors = embedder.encode(["Ada keeps bees", "the hive is empty"])

    assert vectors.shape == (2, embedder.dimension)
    assert vectors.dtype == np.float32


@given(st.lists(st.text(max_size=40), max_size=5))
def test_a_text_has_the_same_vector_alone_and_among_others(texts: list[str]) -> None:
    embedder = StubEmbedder()

    together = embedder.encode(texts)

    for row, text in enumerate(texts):
        np.testing.assert_array_equal(together[row], embedder.encode([text])[0])
        np.testing.assert_array_equal(together[row], embedder.encode_query(text))


def test_vectors_have_length_one_and_blank_text_has_none() -> None:
    vectors = StubEmbedder(dimension=64).encode(["Ada keeps bees", "x", " \n"])

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1.0, 1.0, 0.0], atol=1e-6)


def test_similar_spelling_is_nearer_than_different_spelling() -> None:
    near, far, query = StubEmbedder(dimension=256).encode(
        ["the beekeeper in Lund", "quarterly tax figures", "BEEKEEPER of Lund"]
    )

    assert float(near @ query) > 0.5 > float(far @ query)


def test_vectors_are_the_same_in_another_process() -> None:
    code = (
        "from simonides.testing.embedder import StubEmbedder;"
        "print(StubEmbedder().encode(['Ada keeps bees']).tobytes().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert other.stdout.strip() == StubEmbedder().encode(["Ada keeps bees"]).tobytes().hex()


def test_an_override_is_returned_as_it_is_for_memories_and_queries() -> None:
    embedder = StubEmbedder(
        dimension=2, overrides={"zero": [0, 0], "nan": [float("nan"), 1], "huge": [1e38, -1e38]}
    )

    vectors = embedder.encode(["zero", "nan", "huge"])

    np.testing.assert_array_equal(vectors, np.asarray([[0, 0], [np.nan, 1], [1e38, -1e38]], np.float32))
    np.testing.assert_array_equal(embedder.encode_query("zero"), np.zeros(2, np.float32))


def test_lone_surrogates_are_encoded_like_any_character() -> None:
    assert np.isfinite(StubEmbedder().encode(["\ud83d alone"])).all()


def test_the_fingerprint_changes_whenever_the_vectors_would() -> None:
    fingerprints = {
        StubEmbedder().fingerprint,
        StubEmbedder(dimension=64).fingerprint,
        StubEmbedder(name="other").fingerprint,
        StubEmbedder(overrides={"x": [1.0] * 32}).fingerprint,
        StubEmbedder(overrides={"x": [2.0] * 32}).fingerprint,
    }

    assert len(fingerprints) == 5
    assert StubEmbedder().fingerprint in fingerprints


def test_an_override_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InputError, match=r"overrides\['x'\].*3 numbers.*dimension is 2"):
        StubEmbedder(dimension=2, overrides={"x": [1, 2, 3]})


def test_a_dimension_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="dimension: 0"):
        StubEmbedder(dimension=0)
