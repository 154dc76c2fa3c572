"""Models that are handed in: one that banks could not tell from another is refused when the store is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError
from simonides.testing.embedder import StubTokenEmbedder
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fault("N73")


def nameless(kind: type[Any], value: object, *arguments: Any) -> Any:
    return type("Nameless", (kind,), {"fingerprint": value})(*arguments)


@pytest.mark.parametrize("value", ["", "  ", None, 5, b"x"])
@pytest.mark.parametrize("part", ["embedder", "sparse"])
def test_a_model_without_a_fingerprint_is_refused(tmp_path: Path, part: str, value: object) -> None:
    model = (
        nameless(StubTokenEmbedder, value, 32) if part == "embedder" else nameless(StubSparseEncoder, value)
    )
    with pytest.raises(InputError, match="fingerprint") as refused:
        simonides.open(tmp_path / "store", **{"embedder": None, part: model})
    assert refused.value.field == part
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("value", ["", None])
def test_a_bank_does_not_go_over_to_one(tmp_path: Path, value: object) -> None:
    with simonides.open(tmp_path / "store", embedder=StubTokenEmbedder(32)) as store:
        bank = store.bank()
        bank.retain("Figs need water.")
        with pytest.raises(InputError, match="fingerprint"):
            bank.reembed(nameless(StubTokenEmbedder, value, 16))
        assert bank.verify().ok
        assert bank.recall("figs").hits
