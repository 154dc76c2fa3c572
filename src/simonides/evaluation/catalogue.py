"""The datasets that can be measured, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.errors import UnknownNameError
from simonides.evaluation.locomo import load_locomo
from simonides.evaluation.musique import load_musique

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simonides.evaluation.dataset import Dataset

DATASETS: Mapping[str, Callable[[Path], Dataset]] = {"locomo": load_locomo, "musique": load_musique}


def load_dataset(name: str, data: Path) -> Dataset:
    """Read the dataset *name* from its folder ``data/<name>``.

    Raises:
        UnknownNameError: there is no such dataset.
        InputError: its files are missing or of another form.
    """
    if name not in DATASETS:
        raise UnknownNameError("dataset", name, DATASETS)
    return DATASETS[name](data / name)
