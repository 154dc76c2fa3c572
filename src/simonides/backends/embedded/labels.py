"""Codes of names in columns: projects, paths, and sets of tags or principals.

Codes are dense, ascending and never changed, so the index stores them as integers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.backends.embedded.rows import keys, read_names, verified

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw


def label_set_code(connection: apsw.Connection, names: Iterable[str]) -> int:
    """The code of a set of names, added when it is new (inside a write transaction)."""
    listed = json.dumps(sorted(set(names)), ensure_ascii=False)
    return label_code(connection, listed, "label_sets", "names")


def label_code(connection: apsw.Connection, value: str, table: str = "labels", column: str = "text") -> int:
    """The code of a name, added when it is new (inside a write transaction)."""
    select = f"SELECT number FROM {verified(table)} WHERE {column}=?"
    row = connection.execute(select, (value,)).fetchone()
    if row is None:
        row = connection.execute(
            f"INSERT INTO {table}(number, {column}) SELECT max(number) + 1, ?"
            f" FROM {keys(table)} RETURNING number",
            (value,),
        ).fetchone()
    if row is None:
        raise LookupError(f"{table} gave no code")
    return int(row[0])


def read_labels(connection: apsw.Connection, known: int) -> list[str]:
    """Names from code *known* on, in order of their codes."""
    select = f"SELECT text FROM {verified('labels')} WHERE number >= ? ORDER BY number"
    return [str(text) for (text,) in connection.execute(select, (known,))]


def read_label_sets(connection: apsw.Connection, known: int) -> list[frozenset[str]]:
    """Sets from code *known* on, in order of their codes."""
    select = f"SELECT names FROM {verified('label_sets')} WHERE number >= ? ORDER BY number"
    return [frozenset(read_names(names)) for (names,) in connection.execute(select, (known,))]
