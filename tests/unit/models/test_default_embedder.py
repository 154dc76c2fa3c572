"""The real default model, from the user's cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.models.cache import MODEL, read_manifest
from simonides.models.resolve import verify_model

if TYPE_CHECKING:
    from simonides.protocols import Embedder

pytestmark = pytest.mark.model

# Vectors of SENTENCES by the same weights in float32 (`build_bert(..., quantise=False)`, mean, length 1), float16.
REFERENCE = Path(__file__).with_name("minilm_float32.npy")
SENTENCES = (
    "Ada moved to Lisbon in the spring of 2024.",
    "Where does Ada live now?",
    "Bruno: did you see the heron by the pond this morning?",
    "The deploy failed because the migration ran twice.",
    "We decided to keep the old logo until the autumn fair.",
    "My sister's flight lands at 18:40, gate B22.",
    "parse_interval() raises ValueError on an empty string",
    "I have not slept well since the neighbours bought a drum kit!",
    "Celia prefers tea, Dmitri prefers coffee, and neither likes juice.",
    "Remember to water the tomatoes on Tuesdays and Fridays.",
    "What was the name of the restaurant near the harbour?",
    "The invoice 2023-117 is still unpaid.",
    "She finished her thesis on glacier melt and got a job at the observatory.",
    "lol no way 😂 that is amazing",
    "Boats",
    "The meeting was moved from Thursday to Monday because the projector is broken.",
    "He adopted a grey cat called Pixel.",
    "It rained for nine days, and the cellar flooded.",
    "Use HTTP 409 when the version does not match.",
    "Their daughter learned to ride a bicycle last weekend.",
    "Emil sold the red bicycle and bought a canoe.",
    "Why did the canoe trip end early?",
    "The choir sings in the chapel on the first Sunday of the month.",
    "Nobody could explain where the missing key had gone.",
)


def test_it_is_close_to_float32(default_embedder: Embedder) -> None:
    exact = np.load(REFERENCE, allow_pickle=False).astype(np.float32)

    cosines = (default_embedder.encode(SENTENCES) * exact).sum(axis=1) / np.linalg.norm(exact, axis=1)

    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.97


def test_it_finds_the_similarities_of_the_published_model(default_embedder: Embedder) -> None:
    # Published for float32: 0.6946, 0.9429, 0.2569; int8 shifts each by up to 0.032.
    vectors = default_embedder.encode(
        [
            "That is a happy person",
            "That is a happy dog",
            "That is a very happy person",
            "Today is a sunny day",
        ]
    )

    np.testing.assert_allclose(vectors[1:] @ vectors[0], [0.6946, 0.9429, 0.2569], atol=0.04)
    np.testing.assert_allclose(vectors[1:] @ vectors[0], [0.7263, 0.9118, 0.2736], atol=0.02)


def test_a_text_alone_or_in_a_batch_has_the_same_vector(default_embedder: Embedder) -> None:
    together = default_embedder.encode(SENTENCES)

    for place in (0, 6, 13, 14):
        np.testing.assert_array_equal(together[place], default_embedder.encode([SENTENCES[place]])[0])
        np.testing.assert_array_equal(together[place], default_embedder.encode_query(SENTENCES[place]))


def test_it_reads_256_tokens_though_the_packaged_tokenizer_cuts_at_128(default_embedder: Embedder) -> None:
    words = ["boat"] * 254  # and two special tokens

    full = default_embedder.encode_query(" ".join(words))
    late_change = default_embedder.encode_query(" ".join([*words[:-1], "tax"]))
    beyond = default_embedder.encode_query(" ".join([*words, "tax"]))

    assert not np.array_equal(full, late_change)
    np.testing.assert_array_equal(full, beyond)


def test_the_built_file_is_the_same_everywhere(user_cache: Embedder) -> None:
    status = verify_model(user_cache.name)

    assert status.state == "ready"
    # When the first sum changes, so do vectors already stored: RECIPE must have been raised, and with it the second.
    digest = read_manifest(status.record, status.folder).built[MODEL]
    assert digest == "cf2d49ad3556ce01e7a24e5a21fc66d085059dd2ee3b943d7b015c28fc1440ac"
    assert user_cache.fingerprint == "all-MiniLM-L6-v2:b7d191723413ea10f83a12f0dc715014"
