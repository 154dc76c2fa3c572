"""Turns of a conversation that a reader found, as items with their neighbours as context.

A bad turn costs no other one: its characters are cleaned, its time is taken from its neighbours, and a text
that is too long is stored in parts, before any of it becomes a neighbour's context.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from simonides.retain.conversations import conversation_items
from simonides.retain.importing.cleaning import clean_characters, cut, readable_time
from simonides.retain.importing.item import ImportedItem, given
from simonides.retain.items import MAX_TEXT_BYTES, ORIGIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.retain.importing.item import ImportReport, NamedFile


@dataclass(frozen=True, slots=True)
class Turn:
    """What someone said.

    Attributes:
        text: not blank.
        line, part: where it stands; see ``ImportedItem``.
        role: user, assistant or tool.
        speaker: a name that belongs before the text; a role is none.
        when: when it was said, as the other program wrote it.
        metadata: the original's id and the like.
    """

    text: str
    line: int
    part: str = ""
    role: str = "user"
    speaker: str = ""
    when: object = None
    metadata: dict[str, Any] = field(default_factory=dict)


def turn_items(
    turns: Sequence[Turn],
    file: NamedFile,
    report: ImportReport,
    *,
    session: str,
    source: str,
    title: str = "",
) -> Iterator[ImportedItem]:
    """One item per turn.

    Args:
        turns: of one conversation, in order.
        file: they come from, for messages.
        report: told of turns that are cleaned or skipped.
        session: its name.
        source: the program it comes from.
        title: of the conversation, found with every turn of it.
    """
    kept = [part for turn in _timed(turns, file, report) for part in _parts(turn, file, report)]
    said = [
        given(text=t.text, speaker=t.speaker, event_time=t.when, role=t.role, metadata=t.metadata)
        for t in kept
    ]
    title = clean_characters(title)
    for turn, item in zip(kept, conversation_items(said, session=session), strict=True):
        context = "\n".join(part for part in (title, item["context"]) if part)
        # The bank is to name a turn by its place in the batch.
        origin = replace(item[ORIGIN], place="")
        own = {"context": context, "speaker": turn.speaker or turn.role, "source": source, ORIGIN: origin}
        yield ImportedItem({**item, **own}, turn.line, turn.part)


def _timed(turns: Sequence[Turn], file: NamedFile, report: ImportReport) -> list[Turn]:
    """Turns with times that can be read: instead of any other the time of the turn before, else after it.

    Without one, "yesterday" would count from the day of the import.
    """
    times = [readable_time(turn.when) for turn in turns]
    found = []
    for place, (turn, (when, problem)) in enumerate(zip(turns, times, strict=True)):
        other = None
        if problem:
            near = (*reversed(times[:place]), *times[place + 1 :])
            other = next((time for time, _ in near if time is not None), None)
            instead = "it has none now" if other is None else "the time of its neighbour was taken"
            report.cleaned(file.wrong(turn.line, f"timestamp: {problem}; {instead}", turn.part))
        found.append(replace(turn, when=other if problem else when))
    return found


def _parts(turn: Turn, file: NamedFile, report: ImportReport) -> Iterator[Turn]:
    """The turn, or the parts of one that is too long; nothing of one that holds no text."""
    text, speaker = clean_characters(turn.text), clean_characters(turn.speaker)
    if not text.strip():
        report.skipped(file.wrong(turn.line, "text: holds no characters that can be stored", turn.part))
        return
    if (text, speaker) != (turn.text, turn.speaker):
        problem = "characters that cannot be stored were taken out"
        report.cleaned(file.wrong(turn.line, problem, turn.part))
    parts = cut(text)
    if len(parts) == 1:
        yield replace(turn, text=text, speaker=speaker)
        return
    problem = f"is longer than {MAX_TEXT_BYTES:,} bytes and was stored in {len(parts)} parts"
    report.cleaned(file.wrong(turn.line, problem, turn.part))
    yield from (replace(turn, text=part, speaker=speaker) for part in parts)
