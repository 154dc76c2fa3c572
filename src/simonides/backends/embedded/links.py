"""Links between memories, by their nodes, and what a new memory may be linked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.change_log import LINK
from simonides.backends.embedded.models import ADD_LINK, SEMANTIC
from simonides.backends.embedded.relations import READABLE, listed
from simonides.backends.embedded.rows import keys, node_of, verified
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.backends.embedded.session import WriteSession


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
