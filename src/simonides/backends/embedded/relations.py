"""Relations that rows state surely, and statements: which subjects and attributes their words are about.

Statements follow from a memory's text and its speaker alone, so an export leaves them out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names, read_object
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import Kind
from simonides.records.versions import Held
from simonides.text.statements.reading import read_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from simonides.backends.embedded.session import WriteSession

# Memories m with label_sets s of their readers that all of ?1, a JSON list, may read.
READABLE = (
    f"(m.acl = 0 OR ({sound('label_sets', 's')} AND ?1 <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(?1) r"
    " WHERE r.value NOT IN (SELECT value FROM json_each(s.names)))))"
)


_HELD = (
    "SELECT m.ordinal, m.root, m.id, m.text, e.speaker, e.document, m.valid_from, m.valid_to,"
    " m.superseded_by, s.names, e.trust, p.text, t.names, r.valid_from, r.valid_to, r.superseded_by,"
    " m.metadata FROM memories m JOIN memories r ON r.ordinal = m.root"
    f" JOIN labels p ON p.number = m.project AND {sound('labels', 'p')}"
    f" JOIN label_sets s ON s.number = m.acl AND {sound('label_sets', 's')}"
    f" JOIN label_sets t ON t.number = m.tags AND {sound('label_sets', 't')}"
    f" JOIN chunks c ON c.number = m.chunk AND {sound('chunks', 'c')}"
    f" JOIN episodes e ON e.number = c.episode AND {sound('episodes', 'e')}"
    " WHERE m.ordinal=? AND m.expired_at=? AND m.kind<>?"
)


_WORDS = (
    "SELECT m.text, e.speaker FROM memories m JOIN chunks c ON c.number = m.chunk"
    " JOIN episodes e ON e.number = c.episode WHERE m.ordinal=? AND m.expired_at=?"
)


class Relations:
    """The relations and statements of rows inside a write transaction.

    Args:
        session: of the transaction.
        canonical: the entity that an entity counts as.
    """

    def __init__(self, session: WriteSession, canonical: Callable[[int], int]) -> None:
        self._session = session
        self._canonical = canonical

    def add(self, ordinal: int, name: str, subject: int, obj: str, *, single_valued: bool) -> None:
        self._session.connection.execute(
            "INSERT OR IGNORE INTO relations(ordinal, name, subject, object, single_valued)"
            " VALUES (?, ?, ?, ?, ?)",
            (ordinal, name, subject, obj, int(single_valued)),
        )

    def current(self, subject: int, name: str) -> list[tuple[int, str]]:
        rows = self._session.all(
            "WITH RECURSIVE one(number) AS (VALUES (?) UNION SELECT m.entity FROM merges m"
            " JOIN one ON m.into_entity = one.number WHERE m.undone_at=?)"
            " SELECT r.ordinal, r.object FROM relations r JOIN memories m ON m.ordinal = r.ordinal"
            f" WHERE r.subject IN one AND r.name=? AND {sound('relations', 'r')} AND r.single_valued=1"
            " AND m.expired_at=? AND m.kind<>? ORDER BY r.ordinal",
            self._canonical(subject),
            FOREVER,
            name,
            FOREVER,
            Kind.QUARANTINE.value,
        )
        return [(int(ordinal), str(obj)) for ordinal, obj in rows]

    def counted(self, ordinal: int) -> set[tuple[str, int, str]]:
        rows = self._session.all(
            f"SELECT name, subject, object FROM relations WHERE ordinal=? AND {sound('relations')}", ordinal
        )
        return {(str(name), self._canonical(int(subject)), str(obj)) for name, subject, obj in rows}

    def read(self, ordinal: int) -> list[tuple[str, int, str, bool]]:
        rows = self._session.all(
            "SELECT name, subject, object, single_valued FROM relations"
            f" WHERE ordinal=? AND {sound('relations')} ORDER BY 1, 2, 3",
            ordinal,
        )
        return [(str(name), int(subject), str(obj), bool(single)) for name, subject, obj, single in rows]

    def add_statements(self, ordinal: int, text: str, speaker: str) -> None:
        write_statements(self._session.connection, ordinal, text, speaker)

    def rows_stating(
        self,
        subject: str,
        attribute: str | None,
        readers: Sequence[str],
        most: int,
        after: int = BEGINNING,
        begins: int = BEGINNING,
    ) -> list[int]:
        return stating(self._session.connection, subject, attribute, readers, most, after, begins)

    def held(self, ordinals: Iterable[int], wanted: Callable[[str, str], bool] | None = None) -> list[Held]:
        return held(self._session.connection, ordinals, wanted)

    def continued_after(self, memory: str, after: str) -> int | None:
        row = self._session.one(
            "SELECT m.ordinal FROM moves v JOIN memories m ON m.root = v.ordinal"
            " WHERE v.action='continue' AND v.was=? AND v.became=? AND m.expired_at=?"
            f" AND {sound('moves', 'v')} ORDER BY m.ordinal LIMIT 1",
            memory,
            after,
            FOREVER,
        )
        return None if row is None else int(row[0])


def write_statements(connection: apsw.Connection, ordinal: int, text: str, speaker: str) -> None:
    """Note what a row's text states of whom."""
    keys = dict.fromkeys((one.subject, one.attribute) for one in read_statements(text, speaker or None))
    for subject, attribute in keys:
        connection.execute(
            "INSERT OR IGNORE INTO statements(ordinal, subject, attribute) VALUES (?, ?, ?)",
            (ordinal, subject, attribute),
        )


def move_statements(connection: apsw.Connection, ordinal: int, fresh: int) -> None:
    """What a row states, from a version on to the next one: only what the bank holds now is looked for."""
    connection.execute(
        f"UPDATE statements SET ordinal=? WHERE ordinal=? AND {sound('statements')}", (fresh, ordinal)
    )


def copy_statements(connection: apsw.Connection, ordinal: int, fresh: int) -> None:
    """What a row states, for a new memory in the same words."""
    connection.execute(
        "INSERT OR IGNORE INTO statements(ordinal, subject, attribute) SELECT ?, subject, attribute"
        f" FROM statements WHERE ordinal=? AND {sound('statements')}",
        (fresh, ordinal),
    )


def listed(readers: Sequence[str]) -> str:
    """Readers as ``READABLE`` takes them."""
    return json.dumps(sorted(readers), ensure_ascii=False)


def stating(
    connection: apsw.Connection,
    subject: str,
    attribute: str | None,
    readers: Sequence[str],
    most: int,
    after: int = BEGINNING,
    begins: int = BEGINNING,
) -> list[int]:
    """Ordinals of rows that the bank holds now and that state *attribute* of *subject*, the newest first.

    Args:
        connection: in the transaction.
        subject: folded.
        attribute: folded; ``None`` = any.
        readers: all of them may read what is returned.
        most: how many at most.
        after: only what holds after it, microseconds UTC.
        begins: only what holds from this moment on or a later one, microseconds UTC.
    """
    named = "" if attribute is None else " AND n.attribute=?7"
    parameters: list[Any] = [listed(readers), subject, FOREVER, most, after, begins]
    rows = connection.execute(
        "SELECT n.ordinal FROM statements n CROSS JOIN memories m ON m.ordinal = n.ordinal"
        " CROSS JOIN label_sets s ON s.number = m.acl"
        f" WHERE n.subject=?2{named} AND m.expired_at=?3 AND m.valid_to>?5 AND m.valid_from>=?6"
        # In a CASE on the memory: else every row's digest is compared before its times are.
        f" AND CASE WHEN m.expired_at=?3 AND m.valid_to>?5 AND m.valid_from>=?6"
        f" THEN {sound('statements', 'n')} END AND {READABLE}"
        " ORDER BY n.ordinal DESC LIMIT ?4",
        [*parameters, *([] if attribute is None else [attribute])],
    )
    return [int(ordinal) for (ordinal,) in rows]


def held(
    connection: apsw.Connection,
    ordinals: Iterable[int],
    wanted: Callable[[str, str], bool] | None = None,
) -> list[Held]:
    """Those of some rows that the bank holds now outside quarantine, in the order given.

    Args:
        connection: in the transaction.
        ordinals: of rows.
        wanted: whether a row of this text and speaker is wanted; ``None`` = all are. It is asked before any
            digest is compared, which costs ten times as much, so what it says must be looked at again.
    """
    found = []
    for ordinal in ordinals:
        if wanted is not None:
            words = connection.execute(_WORDS, (ordinal, FOREVER)).fetchone()
            if words is None or not wanted(*words):
                continue
        row = connection.execute(_HELD, (ordinal, FOREVER, Kind.QUARANTINE.value)).fetchone()
        if row is not None:
            found.append(_held(connection, row))
    return found


def _held(connection: apsw.Connection, row: tuple[Any, ...]) -> Held:
    (ordinal, root, memory, text, speaker, document, start, end, by, readers, trust, project, tags,
     first, first_end, first_by, metadata) = row  # fmt: skip
    began, bounded = int(first), first_end != FOREVER and not first_by
    continued = connection.execute(
        "SELECT o.valid_from, o.valid_to, o.superseded_by FROM moves v JOIN memories o ON o.id = v.was"
        f" AND o.version=1 WHERE v.ordinal=? AND v.action='continue' AND {sound('moves', 'v')} LIMIT 1",
        (root,),
    ).fetchone()
    if continued is not None:
        began, bounded = int(continued[0]), continued[1] != FOREVER and not continued[2]
    labels = frozenset(read_names(tags))
    return Held(
        int(ordinal), int(root), str(memory), str(text), str(speaker), str(document), int(start), int(end),
        str(by), frozenset(read_names(readers)), float(trust), str(project), labels,
        began, bounded, metadata != "{}" and bool(spaces_of(read_object(metadata), labels)),
    )  # fmt: skip


def copy_relations(connection: apsw.Connection, ordinal: int, fresh: int) -> None:
    """What a row states surely, for another row in the same words."""
    connection.execute(
        "INSERT INTO relations(ordinal, name, subject, object, single_valued)"
        " SELECT ?, name, subject, object, single_valued FROM relations"
        f" WHERE ordinal=? AND {sound('relations')}",
        (fresh, ordinal),
    )
