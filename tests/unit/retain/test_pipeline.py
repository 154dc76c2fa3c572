from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from simonides.errors import EmbedderMismatchError, ModelDamagedError, ModelError
from simonides.index.postings import FIELDS
from simonides.retain.items import read_items
from simonides.retain.pipeline import Preparation, prepare


@dataclass(frozen=True)
class Words:
    """Lower-cased words."""

    fingerprint: str = "words"

    def terms(self, text: str) -> list[str]:
        return text.lower().split()

    def query_terms(self, text: str) -> list[str]:
        return self.terms(text)

    def is_filler(self, text: str) -> bool:
        return False


@dataclass
class Stub:
    """An embedder that returns what *vector* makes of each text."""

    vector: Callable[[str], Any]
    dimension: int = 3
    name: str = "stub"
    fingerprint: str = "stub"
    batches: list[list[str]] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return np.array([self.vector(text) for text in texts])

    def encode_query(self, text: str) -> Any:
        return self.encode([text])[0]


def length_vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, -1.0]


def run(texts: list[str], embedder: Stub | None) -> Preparation:
    return prepare(read_items(texts, {}), Words(), embedder)


def test_terms_are_counted_by_field_and_empty_fields_are_left_out() -> None:
    items = [
        {"text": "to be or not to be", "context": "Act three", "relation": "  "},
        {"text": "x", "relation": "asks"},
    ]
    first, second = prepare(read_items(items, {}), Words(), None).items
    assert first.terms == {"text": {"to": 2, "be": 2, "or": 1, "not": 1}, "context": {"act": 1, "three": 1}}
    assert second.terms == {"text": {"x": 1}, "relation": {"asks": 1}}
    assert set(first.terms) | set(second.terms) <= set(FIELDS)


def test_without_an_embedder_no_vector_is_missed() -> None:
    preparation = run(["a", "b"], None)
    assert [(item.codes, item.scale) for item in preparation.items] == [(None, 0.0)] * 2
    assert preparation.unembedded == ()


def test_all_texts_are_encoded_in_one_pass_in_order() -> None:
    embedder = Stub(length_vector)
    preparation = run(["a", "bb", "ccc"], embedder)
    assert embedder.batches == [["a", "bb", "ccc"]]
    assert preparation.unembedded == ()
    for item in preparation.items:
        expected = np.array(length_vector(item.draft.text))
        expected /= np.linalg.norm(expected)
        assert item.codes is not None
        assert item.codes.dtype == np.int8
        assert np.abs(item.codes * item.scale - expected).max() <= item.scale / 2 + 1e-7


def test_nothing_to_prepare_asks_the_embedder_nothing() -> None:
    embedder = Stub(length_vector)
    assert run([], embedder) == Preparation((), ())
    assert embedder.batches == []


@pytest.mark.fault("V1")
def test_vectors_that_cannot_be_normalised_are_no_vectors_and_are_reported() -> None:
    vectors = {
        "fine": [1.0, 2.0, 3.0],
        "zero": [0.0, 0.0, 0.0],
        "nan": [1.0, float("nan"), 0.0],
        "infinite": [float("inf"), 0.0, 0.0],
        "overflows": [3e38, 3e38, 3e38],
        "too wide for float32": [1e300, 0.0, 0.0],
        "fine too": [0.0, 0.0, 1e-3],
    }
    preparation = run(list(vectors), Stub(vectors.__getitem__))
    assert preparation.unembedded == (
        (1, "its vector is all zero"),
        (2, "its vector is not finite"),
        (3, "its vector is not finite"),
        (4, "its vector is too large to be normalised"),
        (5, "its vector is not finite"),
    )
    assert [item.codes is not None for item in preparation.items] == [
        True,
        False,
        False,
        False,
        False,
        False,
        True,
    ]
    assert all(item.scale == 0.0 for item in preparation.items if item.codes is None)


def test_one_bad_text_does_not_sink_the_rest() -> None:
    def vector(text: str) -> list[float]:
        if text == "bad":
            raise RuntimeError("token id out of range")
        return length_vector(text)

    embedder = Stub(vector)
    preparation = run(["good", "bad", "better"], embedder)
    assert preparation.unembedded == (
        (1, "stub could not encode it (RuntimeError: 'token id out of range')"),
    )
    alone = run(["good", "better"], Stub(vector))
    for kept, expected in zip((preparation.items[0], preparation.items[2]), alone.items, strict=True):
        assert kept.codes is not None
        assert expected.codes is not None
        assert kept.codes.tolist() == expected.codes.tolist()
    assert embedder.batches == [["good", "bad", "better"], ["good"], ["bad"], ["better"]]


def test_many_texts_are_encoded_in_parts_and_a_bad_one_costs_its_part_alone() -> None:
    def vector(text: str) -> list[float]:
        if text == "text 7":
            raise RuntimeError("token id out of range")
        return length_vector(text)

    embedder = Stub(vector)
    preparation = run([f"text {number}" for number in range(300)], embedder)
    assert [position for position, _ in preparation.unembedded] == [7]
    assert [item.codes is None for item in preparation.items].count(True) == 1
    assert [len(batch) for batch in embedder.batches] == [128, *[1] * 128, 128, 44]


def test_an_embedder_that_always_fails_leaves_every_item_with_its_terms() -> None:
    def vector(text: str) -> list[float]:
        raise ModelError("\ud83d" * 10_000)

    preparation = run(["a", "b"], Stub(vector))
    assert [position for position, _ in preparation.unembedded] == [0, 1]
    assert all(len(reason.encode("utf-8")) < 600 for _, reason in preparation.unembedded)
    assert [item.terms for item in preparation.items] == [{"text": {"a": 1}}, {"text": {"b": 1}}]


@pytest.mark.fault("V2")
def test_another_dimension_is_refused_naming_both_sizes() -> None:
    with pytest.raises(EmbedderMismatchError, match=r"stub .*\(2, 3\).*\(2, 384\)"):
        run(["a", "b"], Stub(length_vector, dimension=384))


@pytest.mark.parametrize("answer", [np.ones(3), np.ones((1, 3)), np.ones((2, 3, 1)), np.float32(1)])
def test_another_shape_is_refused(answer: object) -> None:
    class Odd(Stub):
        def encode(self, texts: Sequence[str]) -> Any:
            return answer

    with pytest.raises(EmbedderMismatchError, match="was expected"):
        run(["a", "b"], Odd(length_vector))


def test_ragged_vectors_are_refused() -> None:
    def vector(text: str) -> list[float]:
        return [1.0] * len(text)

    with pytest.raises(EmbedderMismatchError, match=r"\(1, 1\)"):
        run(["aaa", "a"], Stub(vector))


def test_what_makes_the_whole_embedder_unusable_is_raised_at_once() -> None:
    def vector(text: str) -> list[float]:
        raise ModelDamagedError("model.onnx has another checksum; pull it again")

    embedder = Stub(vector)
    with pytest.raises(ModelDamagedError, match="another checksum"):
        run(["a", "b"], embedder)
    assert len(embedder.batches) == 1
