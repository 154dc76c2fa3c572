"""The real sparse encoder, from the user's cache; skipped everywhere without it, since it is opt-in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from simonides.errors import ModelMissingError
from simonides.models.resolve import load_sparse

if TYPE_CHECKING:
    from simonides.models.onnx_sparse import OnnxSparseEncoder

pytestmark = [pytest.mark.model, pytest.mark.spec("HX-18")]

# Read at import, before the tests' own folders hide it.
_USER_CACHE = os.environ.get("SIMONIDES_CACHE")


@pytest.fixture(scope="module")
def encoder() -> OnnxSparseEncoder:
    with pytest.MonkeyPatch.context() as patch:
        if _USER_CACHE is None:
            patch.delenv("SIMONIDES_CACHE", raising=False)
        else:
            patch.setenv("SIMONIDES_CACHE", _USER_CACHE)
        try:
            return load_sparse("splade-tiny", offline=True)
        except ModelMissingError as error:
            pytest.skip(f"opt-in weights are missing ({error})")


def words(encoder: OnnxSparseEncoder, text: str) -> dict[str, float]:
    found = encoder.encode_query(text)
    pairs = zip(found.ids.tolist(), found.weights.tolist(), strict=True)
    return {encoder._tokenizer.id_to_token(number): weight for number, weight in pairs}


def test_it_keeps_the_words_that_matter_and_adds_their_kin(encoder: OnnxSparseEncoder) -> None:
    found = words(encoder, "When did Ada buy a new car?")
    assert max(found, key=lambda word: found[word]) in {"ada", "car", "when", "bought", "buy"}
    assert {"ada", "car"} <= found.keys()
    assert found["car"] > found.get("did", 0.0)
    assert {"cars", "vehicle", "automobile", "bought", "purchase"} & found.keys()


def test_a_question_is_nearer_to_its_answer_than_to_another_text(encoder: OnnxSparseEncoder) -> None:
    asked = words(encoder, "Where does Bruno go swimming?")

    def product(text: str) -> float:
        held = words(encoder, text)
        return sum(weight * held.get(word, 0.0) for word, weight in asked.items())

    assert product("Bruno: I swim in the lake near the mill.") > product("Bruno: my sister sold the canoe.")
