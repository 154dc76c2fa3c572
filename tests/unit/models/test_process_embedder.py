from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.models.process_embedder import ProcessEmbedder
from simonides.testing.embedder import StubEmbedder, StubTokenEmbedder

TEXTS = [f"Ines Ortega planted fig tree {number}" for number in range(50)]


def test_processes_give_the_vectors_that_one_gives() -> None:
    alone = StubTokenEmbedder()
    with ProcessEmbedder(partial(StubTokenEmbedder), 2) as several:
        assert (several.name, several.dimension, several.fingerprint) == (
            alone.name,
            alone.dimension,
            alone.fingerprint,
        )
        assert np.array_equal(several.encode(TEXTS), alone.encode(TEXTS))
        assert np.array_equal(several.encode(TEXTS[:3]), alone.encode(TEXTS[:3]))
        vectors, tokens = several.encode_both(TEXTS)
        assert np.array_equal(vectors, alone.encode(TEXTS))
        assert all(np.array_equal(a, b) for a, b in zip(tokens, alone.encode_both(TEXTS)[1], strict=True))
        assert np.array_equal(several.encode_query(TEXTS[0]), alone.encode_query(TEXTS[0]))
        assert np.array_equal(several.encode_query_both(TEXTS[0])[1], alone.encode_query_both(TEXTS[0])[1])
        assert len(several.encode_both(TEXTS[:2])[1]) == 2


@pytest.mark.parametrize("workers", [0, 257])
def test_a_number_of_processes_that_cannot_be_is_refused(workers: int) -> None:
    with pytest.raises(InputError, match="workers"):
        ProcessEmbedder(StubTokenEmbedder, workers)


def test_an_embedder_without_tokens_is_told() -> None:
    with pytest.raises(InputError, match="no vectors of tokens"):
        ProcessEmbedder(StubEmbedder, 2)
