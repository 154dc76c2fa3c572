"""All names of a text: known ones, structured ones, the speaker, capitalised ones; overlaps resolved.

Structured names are told by their form: addresses, handles, paths, identifiers, versions, tickets. Each form
is a record with examples that must be found and texts where nothing must be; one test runs them all. Where
two forms meet, the longer match wins, then the earlier form in ``FORMS``. Every pattern starts at a place
that its look-behind makes rare and is bounded or possessive, so that the whole is linear in the text.
Weakness: a bare version such as ``16.2`` is a number unless a word says so, and ``Pascal`` names of two parts
(``RetryPolicy``) look like brands and need a cue.

Where finds overlap, the longest stays, then the earliest; of two with the same span, the known name, then the
structured one, then the speaker, then the capitalised one. Names are compared whole and never by their
distance: ``Ann`` and ``Joann``, ``VX-1103`` and ``VX-1105`` are different mentions.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind, Mention
from simonides.retain.extraction.capitalised import find_capitalised
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.extraction.name_kinds import kind_of
from simonides.retain.extraction.passage import given_names, section
from simonides.retain.extraction.rules import read_rules
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from simonides.retain.extraction.passage import Passage, Span, Speaker


@dataclass(frozen=True, slots=True)
class Form:
    """One form of name.

    Attributes:
        hint: a cheap pattern for what every match holds; without it in the text the form is not looked for.
        pattern: case-sensitive and verbose; its first group is the name.
        examples: texts, each with the name that is found there.
        counterexamples: texts where nothing is found.
    """

    kind: EntityKind
    hint: str
    pattern: str
    examples: tuple[tuple[str, str], ...]
    counterexamples: tuple[str, ...]


FORMS = tuple(
    Form(
        EntityKind(rule.name),
        rule["hint"],
        rule["pattern"],
        rule.pairs("example"),
        tuple(rule.values["counterexample"]),
    )
    for rule in read_rules("structured_names")
)
"""Every form, strongest first."""

_HUMP = re.compile(r"([a-z]{2,6})([A-Z][a-z]+)")
_TRAILING = ".,;:!?'\"*…"
_DOTTED_QUAD_OR_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d\Z")


def find_structured(text: str) -> list[Mention]:
    """Every name of a form in :data:`FORMS`, overlaps included, in no promised order."""
    found: list[Mention] = []
    for form in FORMS:
        if _compiled(form.hint).search(text):
            found.extend(_matches(form, text))
    return found


def _matches(form: Form, text: str) -> Iterable[Mention]:
    for match in _compiled(form.pattern).finditer(text):
        start, stop = match.span(1)
        name = text[start:stop].rstrip(_TRAILING).removesuffix("()")
        kind = _kind(form.kind, name)
        if kind is not None:
            yield Mention(name, kind, start, start + len(name))


def _kind(kind: EntityKind, name: str) -> EntityKind | None:
    """What *name* stands for after a second look; ``None`` = nothing."""
    if len(name) < 2:
        return None
    if kind is EntityKind.TICKET and name.partition("-")[0].lower() in section("grammar", "standards"):
        return EntityKind.OTHER
    if kind is EntityKind.VERSION and _DOTTED_QUAD_OR_DATE.match(name):
        return None
    if kind is EntityKind.CODE and _glued_name(name):
        return None
    if kind is EntityKind.CODE and _file_pattern().fullmatch(name):
        return EntityKind.FILE
    return kind


def _glued_name(name: str) -> bool:
    """Whether a space was forgotten before a given name: ``forMax``."""
    parts = _HUMP.fullmatch(name)
    return parts is not None and parts[1] in stopwords("english") and parts[2].lower() in given_names()


@cache
def _file_pattern() -> re.Pattern[str]:
    return _compiled(next(form.pattern for form in FORMS if form.kind is EntityKind.FILE))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


def find_names(
    passage: Passage,
    *,
    known: Collection[str] = (),
    speaker: Speaker | None = None,
    more: Iterable[Mention] = (),
    not_in: Sequence[Span] = (),
) -> tuple[Mention, ...]:
    """The names of a text by start, not overlapping; known ones in the bank's spelling.

    Args:
        known: names of the bank; a :class:`KnownNames` is used as it is, anything else is indexed first.
        more: mentions from elsewhere; they yield to all others of the same span, whose kind they tell where
            the rules have none.
        not_in: spans of time expressions; no version and no capitalised name lies in one.
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
    """Mentions by start that do not overlap: the longest, then the earliest, then the first list, win."""
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
