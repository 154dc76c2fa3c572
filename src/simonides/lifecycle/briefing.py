"""What the next session should know: a text within a budget, in sections, each line with the memory's id.

    Pinned              what the owner pinned, standing memories first
    Relevant            what a recall of the task finds
    Decisions           kind decision, still held, the newest first
    Open questions      what ends with a question mark or is tagged "open", the newest first
    Recent changes      what was closed by something newer in the last ``RECENT_DAYS`` days: before → after

A memory stands in the first section that has it. Pins may use the whole budget. Each other section may use
its share (``SHARES``) of what is left, so that a full one never empties the next; the last that has lines may
use all of it. Deterministic: same bank, task, clock and profile, same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.recall.refining.pool import first_recorded
from simonides.records.interval import DAY_MICROS, FOREVER
from simonides.records.kind import Kind
from simonides.records.memory import Brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.view import BankView
    from simonides.protocols import TokenCounter
    from simonides.records.memory import Memory
    from simonides.storage.reader import Reader

RECENT_DAYS = 14
OPEN_TAG = "open"
SHARES = {"Pinned": 1.0, "Relevant": 0.5, "Decisions": 0.5, "Open questions": 0.5, "Recent changes": 1.0}
"""How much of what is left of the budget a section may use when its turn comes, if a later one has lines."""

_MOST_CHANGES = 200


def newest_first(
    view: BankView, rows: NDArray[np.int64] | None = None, most: int | None = None
) -> list[Memory]:
    """What is eligible, or *rows* of it, by its first recording: a move or an edit makes nothing newer.

    Then by id; *most* of it.
    """
    rows = np.flatnonzero(view.eligible) if rows is None else rows
    order = np.lexsort((view.column("id_key", rows), -first_recorded(view, rows)))
    return view.memories(rows[order[:most]].tolist())


def recent_changes(
    reading: Reader, view: BankView, may_read: Callable[[Memory], bool]
) -> list[tuple[Memory, Memory]]:
    """What ended in the last ``RECENT_DAYS`` days, with what superseded it, the newest first.

    Read from what the bank holds now; the newer side is eligible in *view*, and both may be read.
    """
    since = view.as_of - RECENT_DAYS * DAY_MICROS
    eligible = np.flatnonzero(view.eligible)
    keys = set(view.snapshot.gather("id_key", eligible).tolist())
    found: list[tuple[Memory, Memory]] = []
    for ordinal, successor in reading.superseded(since, view.as_of):
        if int(successor, 16) not in keys:
            continue
        held = [m for m in reading.versions(successor) if m.expired_at_micros == FOREVER]
        before = reading.memories([ordinal])[0]
        found += [(before, after) for after in held[:1] if may_read(before) and may_read(after)]
        if len(found) == _MOST_CHANGES:
            break
    return found


def sort_out(
    current: Sequence[Memory],
    changed: Sequence[tuple[Memory, Memory]],
    relevant: Sequence[tuple[Memory, str]],
) -> dict[str, list[tuple[str, str]]]:
    """Lines by section: (id, line), each memory in one section only.

    Args:
        current: what holds now and is not archived: standing memories, then the newest first.
        changed: what was closed of late, with what closed it, the newest first.
        relevant: what a recall of the task tells, best first, each with the mark that stands before it.
    """
    sections: dict[str, list[tuple[str, str]]] = {title: [] for title in SHARES}
    seen: set[str] = set()

    def put(title: str, memories: Sequence[Memory], mark: str = "") -> None:
        for memory in memories:
            if memory.id not in seen:
                seen.add(memory.id)
                sections[title].append((memory.id, _line(memory, mark)))

    put("Pinned", [memory for memory in current if memory.pinned])
    for memory, mark in relevant:
        put("Relevant", [memory], mark)
    put("Decisions", [memory for memory in current if memory.kind is Kind.DECISION])
    asked = [each for each in current if OPEN_TAG in each.tags or each.text.rstrip().endswith("?")]
    put("Open questions", asked)
    for before, after in changed:
        line = f"- {_plain(before.text)} → {_plain(after.text)} [{before.id} → {after.id}]"
        sections["Recent changes"].append((after.id, line))
    return sections


def write_brief(
    sections: Mapping[str, Sequence[tuple[str, str]]], max_tokens: int, tokens: TokenCounter
) -> Brief:
    """Put lines into a text of at most *max_tokens*; a line that does not fit is passed over."""
    last = next((title for title in reversed(list(sections)) if sections[title]), "")
    text, kept, omitted = "", dict[str, tuple[str, ...]](), list[str]()
    for title, lines in sections.items():
        used = tokens.count(text) if text else 0
        room = used + (1.0 if title == last else SHARES[title]) * (max_tokens - used)
        ids: list[str] = []
        for memory, line in lines:
            head = "" if ids else f"{chr(10) * 2 if text else ''}## {title}"
            longer = f"{text}{head}\n{line}"
            if tokens.count(longer) <= room:
                text = longer
                ids.append(memory)
            else:
                omitted.append(memory)
        if ids:
            kept[title] = tuple(ids)
    return Brief(text, tokens.count(text) if text else 0, kept, tuple(dict.fromkeys(omitted)))


def _line(memory: Memory, mark: str) -> str:
    moment = memory.event_time or memory.valid_from
    date = f"{moment.date().isoformat()}: " if moment else ""
    return f"- {date}{mark}{_plain(memory.text)} [{memory.id}]"


def _plain(text: str) -> str:
    """On one line, so that no memory can look like a section."""
    return " ".join(text.split())
