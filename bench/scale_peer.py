"""The usual embedded stack beside ours: SQLite FTS5 and sqlite-vec, joined by reciprocal rank.

    cheapest   bit vectors, k = 100, not rescored; stop-worded OR of the query's words; RRF, k = 60
    rescored   bit vectors, k = 2,000, the best 100 by cosine of their int8 vectors; the same words; RRF

Both get what our bank holds: the same vectors, texts and queries. Filters are left out, for neither has them
in its index in this form; so only plain queries are asked. The database is kept beside the bank.
Source: https://github.com/asg017/sqlite-vec, https://sqlite.org/fts5.html
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.scale_data import BLOCK

from simonides.errors import MissingExtraError
from simonides.files import publish, working_folder_of
from simonides.index.vectors import quantise_rows
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import apsw
    from bench.scale_data import TextMaker
    from numpy.typing import NDArray


NAME = "fts5-sqlite-vec"
DEPTH = 100
SETTINGS = {"cheapest": 100, "rescored": 2_000}
"""Candidates by setting; more than ``DEPTH`` are rescored."""

_RRF = 60
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PeerCost:
    """One setting.

    Attributes:
        cpu_ms: of each query.
        recall: share of the exact 100 that its vector search returned, of each query.
    """

    cpu_ms: tuple[float, ...]
    recall: tuple[float, ...]


def build_peer(
    path: Path,
    maker: TextMaker,
    vectors: NDArray[np.float32],
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> None:
    """Make the database, unless it is there.

    Raises:
        MissingExtraError: sqlite-vec is not installed.
    """
    if path.is_file():
        return
    with working_folder_of(path) as work:
        _fill(work / path.name, maker, vectors, progress)
        publish(work / path.name, path, replace=True)


def _fill(
    path: Path,
    maker: TextMaker,
    vectors: NDArray[np.float32],
    progress: Callable[[str, int, int | None], None] | None,
) -> None:
    connection = _connect(path)
    connection.execute(
        f"CREATE VIRTUAL TABLE bits USING vec0(vector bit[{vectors.shape[1]}]);"
        "CREATE VIRTUAL TABLE words USING fts5(text, content='');"
        "CREATE TABLE codes(number INTEGER PRIMARY KEY, scale REAL, codes BLOB)"
    )
    for place in range(maker.blocks):
        block = maker.block(place)
        part = np.asarray(vectors[block.first : block.first + len(block.items)])
        signs = np.packbits(part > 0, axis=1, bitorder="little")
        codes, scales = quantise_rows(part)
        with connection:
            numbers = range(block.first + 1, block.first + 1 + len(block.items))
            connection.executemany(
                "INSERT INTO bits(rowid, vector) VALUES (?, vec_bit(?))",
                ((number, row.tobytes()) for number, row in zip(numbers, signs, strict=True)),
            )
            connection.executemany(
                "INSERT INTO words(rowid, text) VALUES (?, ?)",
                ((number, item["text"]) for number, item in zip(numbers, block.items, strict=True)),
            )
            connection.executemany(
                "INSERT INTO codes VALUES (?, ?, ?)",
                ((n, float(s), c.tobytes()) for n, s, c in zip(numbers, scales, codes, strict=True)),
            )
        if progress:
            progress(f"build {NAME}", min(maker.count, (place + 1) * BLOCK), maker.count)
    connection.close()


def ask_peer(
    path: Path,
    texts: Sequence[str],
    queries: NDArray[np.float32],
    exact: Sequence[NDArray[np.int64]],
    setting: str,
) -> PeerCost:
    """Ask every query in one setting.

    Args:
        path: of the database.
        texts: of the queries.
        queries: their unit vectors, shape (queries, dimension).
        exact: per query, the exact rows.
        setting: of ``SETTINGS``.
    """
    connection = _connect(path)
    spent, kept = [], []
    for text, query, wanted in zip(texts, queries, exact, strict=True):
        start = time.process_time()
        near = _nearest(connection, query, SETTINGS[setting])
        worded = _worded(connection, text)
        _fused(near, worded)
        spent.append((time.process_time() - start) * 1000)
        kept.append(len(set(near) & set(wanted.tolist())) / max(1, len(wanted)))
    connection.close()
    return PeerCost(tuple(spent), tuple(kept))


def _nearest(connection: apsw.Connection, query: NDArray[np.float32], candidates: int) -> list[int]:
    signs = np.packbits(query > 0, bitorder="little").tobytes()
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT rowid FROM bits WHERE vector MATCH vec_bit(?) AND k = ? ORDER BY distance",
        (signs, candidates),
    ).fetchall()
    numbers = [int(number) for (number,) in rows]
    if candidates <= DEPTH:
        return [number - 1 for number in numbers]
    held: list[tuple[Any, ...]] = connection.execute(
        f"SELECT number, scale, codes FROM codes WHERE number IN ({','.join('?' * len(numbers))})",
        numbers,
    ).fetchall()
    codes = np.frombuffer(b"".join(code for _, _, code in held), np.int8).reshape(len(held), -1)
    cosines = (codes.astype(np.float32) @ query) * np.array([scale for _, scale, _ in held], np.float32)
    best = np.argsort(-cosines, kind="stable")[:DEPTH]
    return [int(held[place][0]) - 1 for place in best]


def _worded(connection: apsw.Connection, text: str) -> list[int]:
    stop = stopwords("english")
    words = [word for word in dict.fromkeys(_WORD.findall(text.lower())) if word not in stop]
    if not words:
        return []
    match = " OR ".join(f'"{word}"' for word in words)
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, DEPTH)
    ).fetchall()
    return [int(number) - 1 for (number,) in rows]


def _fused(*rankings: list[int]) -> list[int]:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))[:DEPTH]


def _connect(path: Path) -> apsw.Connection:
    import apsw  # noqa: PLC0415 the extension comes with it

    try:
        import sqlite_vec  # noqa: PLC0415 an optional extra
    except ImportError as error:
        raise MissingExtraError(f"{NAME} needs sqlite-vec: pip install 'simonides[bench]'") from error
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    connection.pragma("cache_size", -256 * 1024)
    connection.pragma("mmap_size", 1 << 33)
    return connection
