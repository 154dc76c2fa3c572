"""Relations and links of rows, and statements: the subjects and attributes that their words are about.

Statements follow from a memory's text and speaker alone, so an export leaves them out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import LINK
from simonides.backends.embedded.models import ADD_LINK, SEMANTIC
from simonides.backends.embedded.rows import (
    insert_into,
    keys,
    node_of,
    read_names,
    read_object,
    unverified,
    verified,
)
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import Kind
from simonides.records.versions import Held
from simonides.text.statements.reading import read_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from simonides.backends.embedded.session import WriteSession

# Of memories m with their readers, label_sets s: all of ?1, a JSON list, may read them.
READABLE = (
    "(m.acl = 0 OR (?1 <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(?1) r"
    " WHERE r.value NOT IN (SELECT value FROM json_each(s.names)))))"
)


_HELD = (
    "SELECT m.ordinal, m.root, m.id, m.text, e.speaker, e.document, m.valid_from, m.valid_to,"
    " m.superseded_by, s.names, e.trust, p.text, t.names, r.valid_from, r.valid_to, r.superseded_by,"
    f" m.metadata FROM {verified('memories m')} JOIN {verified('memories r')} ON r.ordinal = m.root"
    f" JOIN {verified('labels p')} ON p.number = m.project"
    f" JOIN {verified('label_sets s')} ON s.number = m.acl"
    f" JOIN {verified('label_sets t')} ON t.number = m.tags"
    f" JOIN {verified('chunks c')} ON c.number = m.chunk JOIN {verified('episodes e')}"
    " ON e.number = c.episode"
    " WHERE m.ordinal=? AND m.expired_at=? AND m.kind<>?"
)


_WORDS = (
    f"SELECT m.text, e.speaker FROM {unverified('memories m')} JOIN {unverified('chunks c')}"
    " ON c.number = m.chunk"
    f" JOIN {unverified('episodes e')} ON e.number = c.episode WHERE m.ordinal=? AND m.expired_at=?"
)


class Relations:
    """The relations and statements of rows; *canonical*: the entity that an entity counts as."""

    def __init__(self, session: WriteSession, canonical: Callable[[int], int]) -> None:
        self._session = session
        self._canonical = canonical

    def add(self, ordinal: int, name: str, subject: int, obj: str, *, single_valued: bool) -> None:
        columns = "ordinal, name, subject, object, single_valued"
        insert = insert_into("relations", columns, "INSERT OR IGNORE")
        self._session.run(insert, ordinal, name, subject, obj, int(single_valued))

    def current(self, subject: int, name: str) -> list[tuple[int, str]]:
        rows = self._session.all(
            f"WITH RECURSIVE one(number) AS (VALUES (?) UNION SELECT m.entity FROM {verified('merges m')}"
            " JOIN one ON m.into_entity = one.number WHERE m.undone_at=?)"
            f" SELECT r.ordinal, r.object FROM {verified('relations r')}"
            f" JOIN {verified('memories m')} ON m.ordinal = r.ordinal"
            " WHERE r.subject IN one AND r.name=? AND r.single_valued=1"
            " AND m.expired_at=? AND m.kind<>? ORDER BY r.ordinal",
            self._canonical(subject),
            FOREVER,
            name,
            FOREVER,
            Kind.QUARANTINE.value,
        )
        return [(int(ordinal), str(obj)) for ordinal, obj in rows]

    def counted(self, ordinal: int) -> set[tuple[str, int, str]]:
        return {(name, self._canonical(subject), obj) for name, subject, obj, _ in self.read(ordinal)}

    def read(self, ordinal: int) -> list[tuple[str, int, str, bool]]:
        rows = self._session.all(
            f"SELECT name, subject, object, single_valued FROM {verified('relations')} WHERE ordinal=?"
            " ORDER BY 1, 2, 3",
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
        named = [] if attribute is None else [attribute]
        rows = self._session.all(
            f"SELECT n.ordinal FROM {keys('statements n')} CROSS JOIN {verified('memories m')}"
            f" ON m.ordinal = n.ordinal CROSS JOIN {verified('label_sets s')} ON s.number = m.acl"
            # Joined last, so that only statements of memories that are found are compared.
            f" CROSS JOIN {verified('statements o')} ON o.ordinal = n.ordinal AND o.subject = n.subject"
            f"  AND o.attribute = n.attribute WHERE n.subject=?2{' AND n.attribute=?7' * len(named)}"
            f" AND m.expired_at=?3 AND m.valid_to>?5 AND m.valid_from>=?6 AND {READABLE}"
            " ORDER BY n.ordinal DESC LIMIT ?4",
            *(listed(readers), subject, FOREVER, most, after, begins, *named),
        )
        return [int(ordinal) for (ordinal,) in rows]

    def held(self, ordinals: Iterable[int], wanted: Callable[[str, str], bool] | None = None) -> list[Held]:
        found = []
        for ordinal in ordinals:
            if wanted is not None:
                words = self._session.one(_WORDS, ordinal, FOREVER)
                if words is None or not wanted(*words):
                    continue
            row = self._session.one(_HELD, ordinal, FOREVER, Kind.QUARANTINE.value)
            if row is not None:
                found.append(_held(self._session.connection, row))
        return found

    def continued_after(self, memory: str, after: str) -> int | None:
        row = self._session.one(
            f"SELECT m.ordinal FROM {verified('moves v')} JOIN {verified('memories m')} ON m.root = v.ordinal"
            " WHERE v.action='continue' AND v.was=? AND v.became=? AND m.expired_at=?"
            " ORDER BY m.ordinal LIMIT 1",
            memory,
            after,
            FOREVER,
        )
        return None if row is None else int(row[0])


def write_statements(connection: apsw.Connection, ordinal: int, text: str, speaker: str) -> None:
    """Note what a row's text states of whom."""
    stated = dict.fromkeys((one.subject, one.attribute) for one in read_statements(text, speaker or None))
    for subject, attribute in stated:
        insert = insert_into("statements", "ordinal, subject, attribute", "INSERT OR IGNORE")
        connection.execute(insert, (ordinal, subject, attribute))


def move_statements(connection: apsw.Connection, ordinal: int, fresh: int) -> None:
    """What a row states, from a version on to the next one: only what the bank holds now is looked for."""
    connection.execute("UPDATE statements SET ordinal=? WHERE ordinal=?", (fresh, ordinal))


def copy_statements(connection: apsw.Connection, ordinal: int, fresh: int) -> None:
    """What a row states, for a new memory in the same words."""
    connection.execute(
        "INSERT OR IGNORE INTO statements(ordinal, subject, attribute) SELECT ?, subject, attribute"
        f" FROM {verified('statements')} WHERE ordinal=?",
        (fresh, ordinal),
    )


def listed(readers: Sequence[str]) -> str:
    """Readers as ``READABLE`` takes them."""
    return json.dumps(sorted(readers), ensure_ascii=False)


def _held(connection: apsw.Connection, row: tuple[Any, ...]) -> Held:
    (ordinal, root, memory, text, speaker, document, start, end, by, readers, trust, project, tags,
     first, first_end, first_by, metadata) = row  # fmt: skip
    began, bounded = int(first), first_end != FOREVER and not first_by
    continued = connection.execute(
        f"SELECT o.valid_from, o.valid_to, o.superseded_by FROM {verified('moves v')}"
        f" JOIN {verified('memories o')} ON o.id = v.was AND o.version=1"
        " WHERE v.ordinal=? AND v.action='continue' LIMIT 1",
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
        f" SELECT ?, name, subject, object, single_valued FROM {verified('relations')} WHERE ordinal=?",
        (fresh, ordinal),
    )


class Links:
    """The links inside a write transaction; see ``storage.writer.Links``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def add(self, source: int, target: int, kind: str, weight: float) -> None:
        if source != target:
            embedder = self._session.meta.embedder if kind == SEMANTIC else 0
            self._session.run(ADD_LINK, source, target, kind, weight, embedder or 0)

    def of_node(self, node: int, kind: str) -> list[tuple[int, int, float]]:
        rows = self._session.all(
            f"SELECT source, target, weight FROM {verified('links')} WHERE (source=?1 OR target=?1)"
            " AND kind=?2"
            " AND embedder IN (0, ?3) ORDER BY number",
            node,
            kind,
            self._session.meta.embedder,
        )
        return [(int(source), int(target), float(weight)) for source, target, weight in rows]

    def log_later(self, ordinal: int) -> None:
        self._session.log(LINK, ordinal, self._session.now)

    def before_in_session(self, session: str, root: int, readers: Sequence[str]) -> int | None:
        row = self._session.one(
            f"SELECT m.id FROM {keys('episodes e')} CROSS JOIN {keys('chunks c')} ON c.episode = e.number"
            # Of first versions: other words come later, and stand where the first ones did.
            f" CROSS JOIN {verified('memories m')} ON m.chunk = c.number AND m.ordinal = m.root"
            f" CROSS JOIN {verified('label_sets s')} ON s.number = m.acl"
            # Joined last, so that only the source of the memory that is found is compared.
            f" CROSS JOIN {verified('chunks d')} ON d.number = c.number AND d.episode = e.number"
            f" CROSS JOIN {verified('episodes f')} ON f.number = e.number AND f.session = e.session"
            # The second condition lets SQLite use the index, which holds no empty names.
            f" WHERE e.session=?2 AND e.session<>'' AND m.root < ?3 AND {READABLE}"
            " ORDER BY e.number DESC, m.root DESC LIMIT 1",
            listed(readers),
            session,
            root,
        )
        if row is None:
            return None
        last = f"SELECT {node_of('m')} FROM {keys('memories m')} WHERE m.id=? ORDER BY m.version DESC LIMIT 1"
        return self._session.number(last, row[0])

    def around(
        self, moment: int, reach: int, most: int, readers: Sequence[str], before: int, after: int = -1
    ) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for order, condition in (("DESC", "<="), ("ASC", ">")):
            select = (
                f"SELECT {node_of('m')}, abs(m.occurred_from - ?2)"
                f" FROM {verified('memories m')} JOIN {verified('label_sets s')} ON s.number = m.acl"
                f" WHERE m.occurred_from IS NOT NULL AND m.occurred_from {condition} ?2"
                " AND m.occurred_precision IN ('instant', 'hour', 'day')"
                " AND m.occurred_from BETWEEN ?2 - ?3 AND ?2 + ?3"
                f" AND m.expired_at = ?4 AND m.root < ?5 AND m.root > ?7 AND {READABLE}"
                f" ORDER BY m.occurred_from {order}, m.ordinal DESC LIMIT ?6"
            )
            rows = self._session.all(select, listed(readers), moment, reach, FOREVER, before, most, after)
            found += [(int(node), int(apart)) for node, apart in rows]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))[:most]
