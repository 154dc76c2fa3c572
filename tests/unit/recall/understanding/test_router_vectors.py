from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.recall.understanding import router as module
from simonides.recall.understanding.router import NAME, example_texts, read_vectors, vector_file

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.protocols import Embedder


def test_vectors_count_only_for_the_embedder_and_the_texts_they_were_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.array([[1, 2], [3, 4]], np.float32)
    (tmp_path / NAME).write_bytes(vector_file("one", ["a", "b"], vectors))
    monkeypatch.setattr(module, "files", lambda _: tmp_path)

    found = read_vectors("one", ["a", "b"])

    assert found is not None
    assert found.dtype == np.float32
    assert found.tolist() == vectors.tolist()
    assert read_vectors("two", ["a", "b"]) is None
    assert read_vectors("one", ["a", "c"]) is None


def test_the_package_ships_a_vector_for_each_example() -> None:
    with (files(module.__package__ or "") / NAME).open("rb") as file, np.load(file) as held:
        assert held["vectors"].shape == (len(example_texts()), 384)


@pytest.mark.model
def test_what_is_shipped_is_what_the_default_embedder_gives(default_embedder: Embedder) -> None:
    shipped = read_vectors(default_embedder.fingerprint, example_texts())

    assert shipped is not None
    # To the last digits: another processor may round them otherwise.
    assert np.abs(shipped - default_embedder.encode(example_texts())).max() < 1e-5
