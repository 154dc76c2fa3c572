"""How many bytes a bank takes, by what they are for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.folder import folder_name
from simonides.index.block import block_arrays
from simonides.index.files import FileLayer
from simonides.index.generation import read_generation
from simonides.index.graph import graph_arrays
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HELIX = frozenset({"column", "vector", "text", "expansion", "graph"})
"""Families of arrays that a recall by ``helix`` reads."""


def disk_sizes(store: Path, name: str, rows: int) -> dict[str, Any]:
    """Bytes per row on disk: all, the database, and the derived arrays by family.

    Args:
        store: folder of the store.
        name: of the bank.
        rows: that the bank holds, from 1.
    """
    folder = store / folder_name(name)
    families = _families(folder)
    everything = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    mapped = sum(families.values())
    return {
        "mapped_mb": round(mapped / (1 << 20), 1),
        "disk_bytes_per_memory": round(everything / rows, 1),
        "derived_bytes_per_memory": {
            "helix": round(sum(size for name, size in families.items() if name in HELIX) / rows, 1),
            "all": round(mapped / rows, 1),
            **{name: round(size / rows, 1) for name, size in sorted(families.items())},
        },
    }


def _families(folder: Path) -> Mapping[str, int]:
    bank = EmbeddedBank(folder, TextAnalyser(), create=False)
    try:
        with bank.reading() as reading:
            number = reading.meta.generation
    finally:
        bank.close()
    sizes: Counter[str] = Counter()
    if not number:
        return sizes
    generation = read_generation(FileLayer(), folder / "index", number)
    for block in generation.blocks:
        for name, array in block_arrays(block).items():
            sizes[name.split(".")[0]] += array.nbytes
    for array in graph_arrays(generation.graph).values():
        sizes["graph"] += array.nbytes
    return sizes
