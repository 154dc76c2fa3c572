"""Take forgotten texts out of other rows that hold them.

The raw text of a document is stored once for all its memories, and other versions of it may hold the same
paragraph: there each character is replaced by ``BLACK``, so that the spans of other memories stay valid. A
turn stands in the context of the turns around it: there it is removed, with its terms; learned sparse terms
of those turns are deleted, since only a model could compute them again. Arrays hold these terms, so the index
is then rebuilt from the rows, which takes seconds per 100,000 memories.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.backends.embedded.reanalysis import analysed
from simonides.backends.embedded.rows import compare_memories, keys, replace_terms, unverified
from simonides.records.source import LONGEST_NEIGHBOUR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from simonides.protocols import Analyser

BLACK = "\N{FULL BLOCK}"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """One version of a memory that is being erased; *chunk*: its part of the raw text."""

    document: str
    session: str
    chunk: str
    text: str


def read_forgotten(connection: apsw.Connection, ordinal: int) -> Forgotten:
    """Read what ``redact`` needs of a row before it is deleted; a damaged row can be erased, too."""
    row = connection.execute(
        "SELECT e.document, e.session, CAST(substr(e.text, c.start + 1, c.stop - c.start) AS BLOB),"
        " CAST(m.text AS BLOB)"
        f" FROM {unverified('memories m')} JOIN {unverified('chunks c')} ON c.number = m.chunk"
        f" JOIN {unverified('episodes e')} ON e.number = c.episode WHERE m.ordinal=?",
        (ordinal,),
    ).fetchone()
    if row is None:
        raise LookupError(f"no row {ordinal}")
    document, session, chunk, text = row
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
        _redact_document(connection, document, sorted(chunks, key=lambda chunk: (-len(chunk), chunk)))
    changed = [_redact_contexts(connection, session, turns, analyser) for session, turns in sessions.items()]
    return any(changed)


def _redact_document(connection: apsw.Connection, document: str, chunks: Sequence[str]) -> None:
    select = f"SELECT number, text FROM {unverified('episodes')} WHERE document=?"
    found = connection.execute(select, (document,))
    for number, text in found.fetchall():
        redacted = str(text)
        for chunk in filter(None, chunks):
            redacted = redacted.replace(chunk, BLACK * len(chunk))
        if redacted != text:
            connection.execute("UPDATE episodes SET text=? WHERE number=?", (redacted, number))


def _redact_contexts(
    connection: apsw.Connection, session: str, turns: Collection[str], analyser: Analyser
) -> bool:
    """Take *turns* out of the contexts of a session; whether there was any."""
    by_first_line: dict[str, list[list[str]]] = defaultdict(list)
    for turn in sorted(turns, key=lambda turn: (-len(turn), turn)):
        lines = turn.split("\n")
        by_first_line[lines[0]].append(lines)
    chunks = (
        f"SELECT c.number FROM {keys('episodes e')} JOIN {keys('chunks c')} ON c.episode = e.number"
        " WHERE e.session=?"
    )
    condition = f"WHERE memories.chunk IN ({chunks}) AND memories.context <> ''"
    changed = False
    for row, intact, embedded in list(compare_memories(connection, condition, session)):
        context = _without(row["context"], by_first_line)
        if context != row["context"]:
            changed = True
            row["context"] = context
            row["terms"] = analysed(row, analyser)
            replace_terms(connection, row, intact=intact, embedded=embedded)
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
