"""What forgetting takes out of other rows: a forgotten text may stand in them, too.

The raw text of a document is kept once for all its memories, and other versions of it may hold the same
paragraph: there it is blacked out, character by character, so that the spans of the others stay true. A turn
stands in the context of the turns around it: there it is taken out, with its terms, and their learned sparse
terms go whole: those turns are found by the other channels. Since arrays hold those terms, the index must
then be rebuilt from the rows, which takes seconds per 100,000 memories.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.backends.embedded.reanalysis import analysed
from simonides.records.source import LONGEST_NEIGHBOUR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from simonides.protocols import Analyser

BLACK = "\N{FULL BLOCK}"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """One version of a memory that is being erased.

    Attributes:
        document, session: that it belongs to; empty = none.
        chunk: its part of the raw text.
        text: of the memory.
    """

    document: str
    session: str
    chunk: str
    text: str


def read_forgotten(connection: apsw.Connection, ordinal: int) -> Forgotten:
    """What must be known of a row before it is deleted."""
    row = connection.execute(
        "SELECT e.document, e.session, CAST(substr(e.text, c.start + 1, c.stop - c.start) AS BLOB),"
        " CAST(m.text AS BLOB)"
        " FROM memories m JOIN chunks c ON c.number = m.chunk JOIN episodes e ON e.number = c.episode"
        " WHERE m.ordinal=?",
        (ordinal,),
    ).fetchone()
    if row is None:
        raise LookupError(f"no row {ordinal}")
    document, session, chunk, text = row
    # A damaged text can be forgotten, too.
    return Forgotten(document, session, chunk.decode(errors="replace"), text.decode(errors="replace"))


def redact(connection: apsw.Connection, forgotten: Iterable[Forgotten], analyser: Analyser) -> bool:
    """Take erased texts out of the rows that are left; true when terms changed and the index is outdated."""
    documents: dict[str, set[str]] = defaultdict(set)
    sessions: dict[str, set[str]] = defaultdict(set)
    for one in forgotten:
        if one.document:
            documents[one.document].add(one.chunk)
        if one.session:
            sessions[one.session].add(one.text[:LONGEST_NEIGHBOUR].strip())
    for document, chunks in documents.items():
        _black_out(connection, document, sorted(chunks, key=lambda chunk: (-len(chunk), chunk)))
    changed = [_thin_out(connection, session, turns, analyser) for session, turns in sessions.items()]
    return any(changed)


def _black_out(connection: apsw.Connection, document: str, chunks: Sequence[str]) -> None:
    found = connection.execute("SELECT number, text FROM episodes WHERE document=?", (document,))
    for number, text in found.fetchall():
        redacted = str(text)
        for chunk in filter(None, chunks):
            redacted = redacted.replace(chunk, BLACK * len(chunk))
        if redacted != text:
            connection.execute("UPDATE episodes SET text=? WHERE number=?", (redacted, number))


def _thin_out(connection: apsw.Connection, session: str, turns: Collection[str], analyser: Analyser) -> bool:
    """Take *turns* out of the contexts of a session; whether there was any."""
    by_first_line: dict[str, list[list[str]]] = defaultdict(list)
    for turn in sorted(turns, key=lambda turn: (-len(turn), turn)):
        lines = turn.split("\n")
        by_first_line[lines[0]].append(lines)
    columns = ", ".join(f"m.{name}" for name in IMMUTABLE)
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {columns}, m.digest, EXISTS (SELECT 1 FROM vectors v WHERE v.ordinal = m.ordinal"
        " AND v.embedder = (SELECT embedder FROM meta)) FROM episodes e"
        " JOIN chunks c ON c.episode = e.number JOIN memories m ON m.chunk = c.number"
        " WHERE e.session=? AND m.context <> ''",
        (session,),
    ).fetchall()
    changed = False
    for *values, before, embedded in rows:
        row = dict(zip(IMMUTABLE, values, strict=True))
        thinned = _without(row["context"], by_first_line)
        if thinned != row["context"]:
            changed = True
            damaged = row_digest(row, embedded=bool(embedded)) != before
            row["context"] = thinned
            row["terms"] = analysed(row, analyser)
            # A new digest would hide damage.
            digest = before if damaged else row_digest(row, embedded=bool(embedded))
            connection.execute(
                "UPDATE memories SET context=?, terms=?, digest=? WHERE ordinal=?",
                (thinned, row["terms"], digest, row["ordinal"]),
            )
            # They were read out of the context, too, and only a model could make them anew.
            connection.execute("DELETE FROM sparse_terms WHERE ordinal=?", (row["ordinal"],))
    return changed


def _without(context: str, turns: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """*context* without the *turns* that are whole lines of it; turns by first line, longest first."""
    lines = context.split("\n")
    kept: list[str] = []
    place = 0
    while place < len(lines):
        same = [turn for turn in turns.get(lines[place], ()) if lines[place : place + len(turn)] == turn]
        if same:
            place += len(same[0])
        else:
            kept.append(lines[place])
            place += 1
    return "\n".join(kept)
