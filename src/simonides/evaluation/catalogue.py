"""The datasets that can be measured, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.everyday import load_chats, load_facts, load_short_banks
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


def load_present(data: Path) -> list[Dataset]:
    """Every data set whose folder is in *data*: LoCoMo, MuSiQue, and the small banks of ``everyday``.

    Raises:
        InputError: there is none, or its files are missing or of another form.
    """
    loaders = (
        *DATASETS.items(),
        ("everyday", load_facts),
        ("everyday", load_chats),
        ("shortbanks", load_short_banks),
    )
    found = [load(data / folder) for folder, load in loaders if (data / folder).is_dir()]
    if not found:
        folders = ", ".join(dict.fromkeys(folder for folder, _ in loaders))
        raise InputError("data", f"{data} holds none of the folders {folders}; give the folder that does")
    return found
