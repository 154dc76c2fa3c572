"""All names of a text: known ones, structured ones, the speaker, capitalised ones; overlaps resolved.

Where finds overlap, the longest stays, then the earliest; of two with the same span, the known name, then the
structured one, then the speaker, then the capitalised one. Names are compared whole and never by their
distance: ``Ann`` and ``Joann``, ``VX-1103`` and ``VX-1105`` are different mentions.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind, Mention
from simonides.retain.extraction.capitalised import find_capitalised
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.extraction.name_kinds import kind_of
from simonides.retain.extraction.structured_names import find_structured

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from simonides.retain.extraction.passage import Passage, Span
    from simonides.retain.extraction.speaker import Speaker


def find_names(
    passage: Passage,
    *,
    known: Collection[str] = (),
    speaker: Speaker | None = None,
    more: Iterable[Mention] = (),
    not_in: Sequence[Span] = (),
) -> tuple[Mention, ...]:
    """The names of a text.

    Args:
        passage: the text.
        known: names of the bank; a :class:`KnownNames` is used as it is, anything else is indexed first.
        speaker: of the text, if a label names one.
        more: mentions from elsewhere; they yield to all others of the same span, whose kind they tell where
            the rules have none.
        not_in: spans of time expressions; no version and no capitalised name lies in one.

    Returns:
        mentions by start, not overlapping. ``name`` is the bank's spelling for known names, else the text of
        the span.
    """
    more = tuple(more)
    structured = find_structured(passage.text)
    shapes = {(mention.start, mention.stop): mention.kind for mention in structured}
    ranked: list[list[Mention]] = [
        _known(passage, known, shapes, speaker),
        [m for m in structured if m.kind is not EntityKind.VERSION or not _meets(not_in, m)],
        [Mention(speaker.name, EntityKind.PERSON, speaker.start, speaker.stop)]
        if speaker is not None and not speaker.role
        else [],
        [m for m in find_capitalised(passage, speaker.body if speaker else 0) if not _meets(not_in, m)],
        [m for m in more if not _meets(not_in, m)],
    ]
    kinds = {(mention.start, mention.stop): mention.kind for mention in more}
    return tuple(_with_kind(mention, kinds) for mention in resolve_overlaps(ranked))


def resolve_overlaps(ranked: Iterable[Iterable[Mention]]) -> tuple[Mention, ...]:
    """Mentions that do not overlap: the longest, then the earliest, then the first list, win.

    Returns:
        by start.
    """
    candidates = [(rank, mention) for rank, mentions in enumerate(ranked) for mention in mentions]
    candidates.sort(key=lambda c: (c[1].start - c[1].stop, c[1].start, c[0], c[1].name, c[1].kind))
    taken: list[tuple[int, int, Mention]] = []
    for _, mention in candidates:
        place = bisect_left(taken, (mention.start,))
        if place < len(taken) and taken[place][0] < mention.stop:
            continue
        if place > 0 and taken[place - 1][1] > mention.start:
            continue
        insort(taken, (mention.start, mention.stop, mention), key=lambda entry: entry[0])
    return tuple(mention for _, _, mention in taken)


def _with_kind(mention: Mention, kinds: Mapping[Span, EntityKind]) -> Mention:
    kind = kinds.get((mention.start, mention.stop), EntityKind.OTHER)
    return replace(mention, kind=kind) if mention.kind is EntityKind.OTHER is not kind else mention


def _known(
    passage: Passage, known: Collection[str], shapes: dict[Span, EntityKind], speaker: Speaker | None
) -> list[Mention]:
    mentions = []
    for name, start, stop in KnownNames.of(known).find(passage.text):
        kind = shapes.get((start, stop))
        if speaker is not None and start == speaker.start and stop == speaker.stop:
            if speaker.role:
                continue
            kind = EntityKind.PERSON
        if kind is None:
            kind = kind_of(name.lower().split() or [name], passage.text, start, stop)
        mentions.append(Mention(name, kind, start, stop))
    return mentions


def _meets(spans: Sequence[Span], mention: Mention) -> bool:
    """Whether *mention* overlaps one of *spans* (ascending, not overlapping)."""
    place = bisect_left(spans, (mention.stop, mention.stop))
    return place > 0 and spans[place - 1][1] > mention.start
