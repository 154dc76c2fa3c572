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
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from simonides.retain.extraction.passage import Passage, Span, Speaker


# Two unknown words behind these are more often a place than a person, but not surely one.


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


_EXTENSION = (
    r"(?:py|pyi|ipynb|rs|js|mjs|ts|tsx|jsx|java|kt|cc|cpp|hpp|cs|rb|php|swift|scala|lua|sh|bash|zsh|ps1|sql"
    r"|html?|css|scss|vue|svelte|md|rst|txt|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|env|log|xml|pdf|docx?"
    r"|xlsx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|wav|zip|tar|gz|tgz|whl|db|sqlite|parquet|npy|npz|onnx"
    r"|proto|tf"
    r"|patch|diff|bak|exe|dll|jar)"
)
# After a folder these are endings too; alone, `home.so` is two sentences.
_EXTENSION_IN_FOLDER = _EXTENSION[:-1] + r"|go|c|h|lock|so)"
_TOP_DOMAIN = r"(?:com|org|net|edu|gov|io|dev|ai|uk|de|fr|eu|jp|tech|cloud|example)"

FORMS = (
    Form(
        EntityKind.URL,
        r"\.\w|://",
        r"""(?<![\w@./-])(
            (?:https?|ftp|ssh|git|file|wss?|postgres|postgresql|redis|s3)://[^\s<>"'`\])}]++(?:\)(?=[\w/]))?
            | www\.[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?:/[^\s<>"'`\])}]*+)?
            | [a-z\d][a-z\d-]{1,62}(?:\.[a-z\d-]{1,63}){0,3}\."""
        + _TOP_DOMAIN
        + r"""(?:/[^\s<>"'`\])}]*+)?(?![\w@-]|\.\w)
        )""",
        (
            ("See https://example.org/a/b?c=1, then call.", "https://example.org/a/b?c=1"),
            ("(see https://example.org/x)", "https://example.org/x"),
            ("It moved to marrowtide.example.com.", "marrowtide.example.com"),
            ("at www.example.org/docs now", "www.example.org/docs"),
        ),
        ("and so on...then we left", "It works.so does he", "e.g. this", "see com.example.relay", "a.b"),
    ),
    Form(
        EntityKind.EMAIL,
        r"\w@\w",
        r"(?<![\w.%+-])([\w.%+-]{1,64}@[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63}){1,6})",
        (
            ("Write to odalys@example.org.", "odalys@example.org"),
            ("<a.b+c@mail.example.com>", "a.b+c@mail.example.com"),
        ),
        ("meet @ noon", "odalys@", "a @b.c"),
    ),
    Form(
        EntityKind.HANDLE,
        r"@\w",
        r"(?<![\w@./:-])(@[A-Za-z_][\w.-]{1,38})(?![\w@])",
        (("ping @nerys_h.", "@nerys_h"), ("@joss: done", "@joss")),
        ("a@b", "@ noon", "@2pm"),
    ),
    Form(
        EntityKind.FILE,
        r"[/\\]|\.\w",
        r"""(?<![\w./\\:@~-])(
            [A-Za-z]:[\\/](?:[\w.+@-]{1,80}[\\/]){0,12}[\w.+@-]{1,80}
            | (?:~|\.{1,2})?/(?:[\w.+@-]{1,80}/){1,16}(?:[\w.+@-]{1,80})?
            | (?:~|\.{1,2})/[\w.+@-]{1,80}
            | (?:[\w.+@-]{1,80}/){1,16}[\w.+@-]{0,80}\."""
        + _EXTENSION_IN_FOLDER
        + r"""(?::\d{1,6})?(?![\w/\\-])
            | /[\w+-]{1,80}\."""
        + _EXTENSION
        + r"""(?![\w/\\-])
            | \.?[A-Za-z_\d](?:[\w+-]|\.(?=\w)){0,80}\."""
        + _EXTENSION
        + r"""(?![\w/\\-]|\.\w)
        )""",
        (
            ("in `services/ingest/gauge_reader.py`, which", "services/ingest/gauge_reader.py"),
            ("edit ~/.config/relay.toml now", "~/.config/relay.toml"),
            ("under /var/log/relay/ there", "/var/log/relay/"),
            (r"copy C:\relay\tx_queue.rs over", r"C:\relay\tx_queue.rs"),
            ("open README.md.", "README.md"),
            ("see ./run", "./run"),
        ),
        (
            "tea/rye",
            "arm64/x86",
            "and/or",
            "5/month",
            "he/she said",
            "w/o it",
            "24/7",
            "1/2 cup",
            "the end.so what",
        ),
    ),
    Form(
        EntityKind.CODE,
        "`",
        r"(?<!`)`([^\s`](?:[^`\n]{0,118}[^\s`])?)`(?!`)",
        (
            ("waits `retryBackoffMs` long", "retryBackoffMs"),
            ("run `limpetctl calibrate`", "limpetctl calibrate"),
        ),
        ("a ` b", "```x```"),
    ),
    Form(
        EntityKind.CODE,
        r"\w_\w|\(\)|::|[a-z\d][A-Z]|\w\.\w+\.\w",
        r"""(?<![\w.@/\\$'-])(
            [a-z][a-z\d]{1,40}(?:[A-Z][a-z\d]{1,40}){1,8}[A-Z]{0,5}(?![\w'])
            | (?:[A-Z][a-z\d]{1,40}){3,8}(?![\w'-])
            | [A-Za-z][A-Za-z\d]{0,60}(?:_[A-Za-z\d]{1,60}){1,10}(?![\w'])
            | (?:[A-Za-z_]\w{0,60}(?:\.|::)){1,6}[A-Za-z_]\w{0,60}(?=\(\))
            | [A-Za-z_]\w{1,60}(?=\(\))
            | (?:[a-z_][a-z\d_]{1,40}\.){2,6}[a-z_][a-z\d_]{1,40}(?![\w.-])
            | (?:[A-Za-z_]\w{1,60}::){1,6}[A-Za-z_]\w{1,60}
            )""",
        (
            ("the retryPolicy option", "retryPolicy"),
            ("call apply_backoff() first", "apply_backoff"),
            ("set RELAY_MAX_DEPTH to 4", "RELAY_MAX_DEPTH"),
            ("raise HttpServerError here", "HttpServerError"),
            ("from os.path.join on", "os.path.join"),
            ("std::vector is fine", "std::vector"),
            ("then flush() it", "flush"),
        ),
        ("an iPhone and eBay", "_really_ good", "so good.thanks", "GitHub", "macOS", "the U.S. team", "it's"),
    ),
    Form(
        EntityKind.CODE,
        r"--[a-z]",
        r"(?<![\w-])(--[a-z][a-z\d]{0,30}(?:-[a-z\d]{1,30}){0,6})(?![\w-])",
        (("with --offset-mm 3", "--offset-mm"),),
        ("well -- no", "a--b", "---"),
    ),
    Form(
        EntityKind.VERSION,
        r"\d\.\d|\d-?(?:alpha|beta|rc|dev)",
        r"""(?<![\w.:/-])(
            v\d{1,4}(?:\.\d{1,5}){1,3}(?:-?(?:alpha|beta|rc|dev|post|a|b)[.-]?\d{0,4})?
            | \d{1,4}(?:\.\d{1,5}){2}(?:-?(?:alpha|beta|rc|dev|post|a|b)[.-]?\d{0,4}|\+[\w.]{1,20})?
            | \d{1,4}(?:\.\d{1,5}){0,2}-?(?:alpha|beta|rc|dev)[.-]?\d{1,4}
            | (?<=[Vv]ersion\ )\d{1,4}\.\d{1,5}
            | (?<=[Rr]elease\ )\d{1,4}\.\d{1,5}
            )(?![\w:/%-]|\.\d)""",
        (
            ("shipped with ingest 1.8.2 the same day", "1.8.2"),
            ("v1.2.3 is out", "v1.2.3"),
            ("tag 2.0-rc1.", "2.0-rc1"),
            ("needs version 16.2 now", "16.2"),
            ("v2.1", "v2.1"),
        ),
        ("costs 16.25", "10.0.0.1", "at 10:30", "v2", "on 2024-05-06", "version two", "12 %"),
    ),
    Form(
        EntityKind.TICKET,
        r"[A-Z\d]-\d|#\d\d",
        r"""(?<![\w./:&#-])(
            [A-Z][A-Z\d]{1,9}-\d{1,7}(?![\w-]|\.\d)
            | \#\d{2,7}(?!\w)
            )""",
        (("TG-118 was opened", "TG-118"), ("see #4471.", "#4471"), ("VX-1103 and VX-1105", "VX-1103")),
        ("#1 fan", "&#39;", "T-1000", "#tag", "A-B", "covid-19"),
    ),
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
