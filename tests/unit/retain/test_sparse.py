from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import ModelMissingError
from simonides.index.sparse_postings import pack_terms
from simonides.records.sparse import SparseTerms
from simonides.retain.pipeline import sparse_terms
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

STUB = StubSparseEncoder()


@dataclass(frozen=True)
class _Faulty(StubSparseEncoder):
    """Fails whenever a text speaks of *bad*; answers with a nonsense weight for *odd*."""

    def encode(self, texts: Sequence[str]) -> list[SparseTerms]:
        if any("bad" in text for text in texts):
            raise RuntimeError("no")
        if any("gone" in text for text in texts):
            raise ModelMissingError("model.onnx is gone")
        odd = SparseTerms(np.array([1], np.int32), np.array([np.nan], np.float32))
        return [odd if "odd" in text else self.encode_query(text) for text in texts]


def test_each_text_gets_its_terms() -> None:
    packed, missing = sparse_terms(["a fuse", "a lamp"], STUB)
    assert packed == [pack_terms(STUB.encode_query(text)) for text in ("a fuse", "a lamp")]
    assert missing == ()


def test_without_an_encoder_none_are_missed() -> None:
    assert sparse_terms(["a fuse"], None) == ([b""], ())
    assert sparse_terms([], STUB) == ([], ())


def test_a_bad_text_costs_only_its_own_terms() -> None:
    packed, missing = sparse_terms(["a fuse", "bad", "odd", "..."], _Faulty())
    assert packed[0] == pack_terms(STUB.encode_query("a fuse"))
    assert packed[1:] == [b"", b"", b""]
    assert [position for position, _ in missing] == [1, 2, 3]
    assert "could not encode it (RuntimeError: " in missing[0][1]
    assert "finite" in missing[1][1]
    assert missing[2][1] == "the encoder gave no terms"


def test_missing_files_are_an_error() -> None:
    with pytest.raises(ModelMissingError):
        sparse_terms(["gone"], _Faulty())
