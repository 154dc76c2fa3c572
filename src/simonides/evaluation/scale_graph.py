"""Give a bank that was loaded the graph that years of use would have given it, written as real rows.

mentions  of every name that stands in a row's text; names follow a power law
semantic  to the last two rows that were grown from the same real vector, weight = their cosine
temporal  to the row before

Settling a million memories takes hours of comparing; here it is known who is near to whom, so the same tables
are filled directly. The queue of the load is left as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.folder import folder_name
from simonides.evaluation.scale_texts import BLOCK
from simonides.records.interval import to_micros
from simonides.retain.names import fold_name
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.bank import Bank
    from simonides.evaluation.scale_texts import TextBlock, TextMaker

_NEAR = 2
_TEMPORAL_WEIGHT = 0.9


def write_graph(
    bank: Bank,
    store: Path,
    maker: TextMaker,
    vectors: NDArray[np.float32],
    bases: NDArray[np.int64],
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[str, Any]:
    """Write mentions and links of every row; returns how many of each.

    Args:
        bank: loaded, row r being item r.
        store: folder of its store.
        maker: of the texts.
        vectors: of the rows.
        bases: what each row was grown from.
        progress: told ("write graph", done, all).
    """
    rows = EmbeddedBank(store / folder_name(bank.name), TextAnalyser(), create=False)
    latest = np.full((int(bases.max()) + 1, _NEAR), -1, np.int64)
    numbers: dict[int, int] = {}
    counts = {"mentions": 0, "links": 0}
    now = to_micros(datetime.now(UTC))
    try:
        for place in range(maker.blocks):
            block = maker.block(place)
            with rows.loading(now) as transaction:
                counts["mentions"] += _mention(transaction, maker, block, numbers)
                counts["links"] += _link(transaction, block, vectors, bases, latest)
                # One change tells every reader to look for new edges.
                transaction.links.log_later(block.first)
            if progress:
                progress("write graph", min(maker.count, (place + 1) * BLOCK), maker.count)
        rows.merge_if_due(force=True)
    finally:
        rows.close()
    return counts


def _mention(
    transaction: WriteTransaction, maker: TextMaker, block: TextBlock, numbers: dict[int, int]
) -> int:
    written = 0
    for row, names in enumerate(block.names.tolist()):
        for name in dict.fromkeys(name for name in names if name >= 0):
            if name not in numbers:
                spelled = maker.people[name]
                numbers[name] = transaction.entities.add(spelled, fold_name(spelled), "person", (), "")
            transaction.entities.add_mention(block.first + row, numbers[name])
            written += 1
    return written


def _link(
    transaction: WriteTransaction,
    block: TextBlock,
    vectors: NDArray[np.float32],
    bases: NDArray[np.int64],
    latest: NDArray[np.int64],
) -> int:
    written = 0
    for row in range(block.first, block.first + len(block.items)):
        for other in latest[bases[row]].tolist():
            if other >= 0:
                cosine = float(vectors[row] @ vectors[other])
                transaction.links.add(row, other, "semantic", min(1.0, max(0.0, round(cosine, 4))))
                written += 1
        latest[bases[row]] = (row, latest[bases[row], 0])
        if row:
            transaction.links.add(row, row - 1, "temporal", _TEMPORAL_WEIGHT)
            written += 1
    return written
