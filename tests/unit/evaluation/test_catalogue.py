from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.datasets import DATASETS, load_dataset

if TYPE_CHECKING:
    from pathlib import Path


def test_a_dataset_is_read_from_the_folder_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "locomo10.json").write_text(json.dumps([]), encoding="utf-8")
    assert load_dataset("locomo", tmp_path).name == "locomo"


def test_an_unknown_dataset_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'locomo'"):
        load_dataset("locomoo", tmp_path)


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_a_missing_folder_says_where_to_get_the_data(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not there; get it from https://") as caught:
        load_dataset(name, tmp_path)
    assert str(tmp_path / name) in str(caught.value)
