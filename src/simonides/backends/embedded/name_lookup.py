"""Names of entities in ranges of their folded forms, through the indexes of these."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.reading import ENTITY_SCOPE, names_known
from simonides.backends.embedded.seals import sound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

_SIGNS = "+#@/. "
_WITHIN = (
    "{0}.folded >= r.value ->> 0 AND {0}.folded < r.value ->> 1"
    f" AND (rtrim({{0}}.folded, '{_SIGNS}') = r.value ->> 2"
    " OR (r.value ->> 3 <> '' AND instr({0}.folded, r.value ->> 3)))"
)


def read_names_within(
    connection: apsw.Connection, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
) -> list[str]:
    """Names and aliases in any of *ranges* that all *readers* may know of, by their entities' numbers.

    Args:
        connection: in a read transaction.
        ranges: least folded form, the first one behind, what a name there is (but for signs behind it), and
            what it may hold instead; empty = nothing.
        readers: none = everyone; ``None`` = the owner, who knows all.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT e.number, e.name, s.names FROM json_each(?1) r"
        f" CROSS JOIN entities e ON {_WITHIN.format('e')} {ENTITY_SCOPE}"
        f" UNION SELECT e.number, a.name, s.names FROM json_each(?1) r"
        f" CROSS JOIN aliases a ON {_WITHIN.format('a')} AND {sound('aliases', 'a')}"
        f" JOIN entities e ON e.number = a.entity {ENTITY_SCOPE}"
        " ORDER BY 1, 2",
        (json.dumps(ranges),),
    ).fetchall()
    return names_known(rows, readers)


def any_within(connection: apsw.Connection, ranges: Iterable[tuple[str, str]]) -> bool:
    """Whether a folded name or alias lies in one of *ranges*."""
    found = connection.execute(
        "SELECT 1 FROM json_each(?1) r WHERE EXISTS"
        " (SELECT 1 FROM entities WHERE folded >= r.value ->> 0 AND folded < r.value ->> 1) OR EXISTS"
        " (SELECT 1 FROM aliases WHERE folded >= r.value ->> 0 AND folded < r.value ->> 1) LIMIT 1",
        (json.dumps(list(ranges)),),
    ).fetchone()
    return found is not None
