from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.profiles.describing import missing_models
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from pathlib import Path

_SPARSE = """
name = "learned"
description = "Learned sparse terms alone."
order = ["sparse_terms", "sparse", "reciprocal_rank", "token_budget"]

[stages.sparse]
depth = 10

[stages.reciprocal_rank]
k = 5

[stages.token_budget]
count = "rendered"
label = ["date"]
"""


def test_a_profile_with_the_sparse_channel_needs_the_encoder(tmp_path: Path) -> None:
    file = tmp_path / "learned.toml"
    file.write_text(_SPARSE, encoding="utf-8")
    (line,) = missing_models(load_profile(file), None)
    assert line.startswith("sparse_terms: model splade-tiny is not in ")
    assert "simonides models pull splade-tiny" in line


def test_a_profile_of_words_needs_no_model() -> None:
    assert missing_models(load_profile("lexical")) == ()


def test_without_an_embedder_a_profile_says_what_it_goes_by() -> None:
    (line,) = missing_models(load_profile("default"), None)
    assert line == "embedding: no embedder is configured, so recall uses keyword search only"
