"""The query language: read, expanded by other words, loosened, and compiled to a match string.

    query  = { word | phrase | operator }
    phrase = '"' anything but a quote '"'        the closing quote may be missing
    word   = no white space, no quote; a star at its end makes it a prefix
    operator = AND | OR | NOT                     upper case, white space on both sides

A query that has no quote and no operator is plain words: filler and words of one or two letters are dropped.
Otherwise every word stays. An operator belongs to the next token; of two in a row the last counts, one at the
end counts for nothing. Any text at all is a query. Filler is stop-words (``lists/stopwords``) and the
scaffolding of questions (``lists/filler``), English and Dutch together: a query is too short to tell.

The extended syntax adds ``(groups)`` and clauses, whose value may stand in quotes. There a text can be wrong,
and the error says where. A text without parenthesis, colon or missing quote means the same in both.

    tag:x            the memory has this tag; several: all of them
    kind:decision    of this kind; several: any of them
    after:2026-03    occurred after March 2026; several: after the latest
    before:2026-03   occurred before March 2026; several: before the earliest
    entity:"Odalys"  about this entity: a hint, it raises and excludes nothing; several: each

Words are spelled alike first: composed, lower case character by character, nothing invisible, punctuation
gone; a word that went through ``clean_word`` once stays as it is. The asker may name other words for a word
(JB-02), and looser forms of a query are tried when its words find nothing (JB-06).

Cost: linear, about 3 s CPU per megabyte of short words.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError, QuerySyntaxError
from simonides.records.expression import Clause, Expression, Group, Operator, Token, TokenKind, words_of
from simonides.records.interval import BEGINNING, FOREVER, parse_time
from simonides.records.kind import KIND_CODES, Kind
from simonides.text.normalise import CLASSES, cut_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from simonides.records.expression import Part
    from simonides.records.interval import Interval


_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_NO_BREAK_SPACE = {0xA0: " "}

# Symbols that are control characters of common search languages; all punctuation but "_" goes as well.
_SYMBOLS = frozenset("^+<>|$=~`")
_UNSPACED = frozenset("Hhk")


class _Plain(dict[int, int | None]):
    """Drops what is not part of a word, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        punctuation = unicodedata.category(character).startswith("P") and character != "_"
        found = self[code] = None if punctuation or character in _SYMBOLS else code
        return found


_SPELLING_PLAIN = _Plain()


def normalise_query(text: str) -> str:
    """*text* composed (NFC), without zero-width characters, white space as single spaces, none around it."""
    return " ".join(compose(text.translate(_NO_BREAK_SPACE)).split())


def compose(text: str) -> str:
    """NFC without zero-width characters; of a run of combining marks only the first 30 stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", cut_marks(text.translate(_INVISIBLE)))


def clean_word(word: str) -> str:
    """A word as the syntax tree holds it: lower case, without punctuation; empty when nothing is left."""
    if word.isascii():
        return word.translate(_SPELLING_PLAIN).lower()
    return compose(compose(word).translate(_SPELLING_PLAIN).lower())


def clean_phrase(phrase: str) -> str:
    """A phrase as the syntax tree holds it: lower case, single spaces, no quotes, punctuation kept."""
    return " ".join(compose(compose(phrase).replace('"', " ").lower()).split())


def is_short(word: str) -> bool:
    """Whether a word is too short to search by: two letters or fewer.

    Scripts without spaces write whole words in two characters, so theirs never are.
    """
    return len(word) <= 2 and not _UNSPACED & set(word.translate(CLASSES))


_WORDS = re.compile(r"[^\W_]+")


def expand_aliases(expression: Expression, aliases: Mapping[str, Sequence[str]]) -> Expression:
    """Put the alternatives of each word in its place; none stands twice, unless an operator makes it matter.

    Only terms are expanded, once: phrases and prefixes are meant literally. An alternative of one word
    becomes a term, of several a phrase; the first takes the word's operator. The word itself stays only where
    it is among its alternatives, or has none. *aliases*: lower-case word → alternatives, in order.
    """
    if not aliases:
        return expression
    return replace(expression, tokens=tuple(_expanded(expression.tokens, aliases, set())))


def _expanded(
    parts: Sequence[Part], aliases: Mapping[str, Sequence[str]], seen: set[tuple[TokenKind, str]]
) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Group):
            yield replace(part, parts=tuple(_expanded(part.parts, aliases, set())))
        elif isinstance(part, Token) and part.kind is TokenKind.TERM:
            yield from _alternatives(part, aliases.get(part.text, ()), seen)
        else:
            yield part


def _alternatives(
    token: Token, alternatives: Sequence[str], seen: set[tuple[TokenKind, str]]
) -> Iterator[Token]:
    made = [_alternative(text) for text in alternatives]
    tokens = list(dict.fromkeys(alternative for alternative in made if alternative is not None))
    if not tokens:
        yield token
        return
    for alternative in [replace(tokens[0], operator=token.operator), *tokens[1:]]:
        key = (alternative.kind, alternative.text)
        if key not in seen or alternative.operator in {Operator.AND, Operator.NOT}:
            seen.add(key)
            yield alternative


def _alternative(text: str) -> Token | None:
    words = _WORDS.findall(compose(text).lower())
    if not words:
        return None
    joined = " ".join(words)
    return Token(TokenKind.TERM if len(words) == 1 else TokenKind.PHRASE, joined, written=joined)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What clauses add up to.

    Attributes:
        tags: every one must be there.
        kinds: any one; in the order of ``Kind``.
        entities: names.
        window: half-open ``(start, end)`` in microseconds UTC, or ``None``.
    """

    tags: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    entities: tuple[str, ...] = ()
    window: tuple[int, int] | None = None


def read_clauses(expression: Expression, zone: tzinfo) -> Conditions:
    """The conditions of *expression*; dates that state no zone mean *zone*.

    ``QuerySyntaxError``: a kind or a date that is none, or dates that leave no time between them.
    """
    tags: list[str] = []
    kinds: set[Kind] = set()
    entities: list[str] = []
    start, end = BEGINNING, FOREVER
    for clause in expression.tokens:
        if not isinstance(clause, Clause):
            continue
        match clause.name:
            case "tag":
                tags.append(clause.value)
            case "entity":
                entities.append(clause.value)
            case "kind":
                kinds.add(_kind(clause))
            case "after":
                start = max(start, _after(_time(clause, zone)))
            case _:
                end = min(end, _time(clause, zone).start)
        if start >= end:
            raise QuerySyntaxError("query", "after: and before: leave no time between them", clause.position)
    return Conditions(
        tags=tuple(sorted(set(tags))),
        kinds=tuple(sorted(kinds, key=KIND_CODES.__getitem__)),
        entities=tuple(dict.fromkeys(entities)),
        window=None if (start, end) == (BEGINNING, FOREVER) else (start, end),
    )


def _kind(clause: Clause) -> Kind:
    try:
        return Kind(clause.value.lower())
    except ValueError:
        names = ", ".join(kind.value for kind in Kind)
        raise QuerySyntaxError(
            "query", f"there is no kind {clause.value[:20]!r}; use one of {names}", clause.position
        ) from None


def _time(clause: Clause, zone: tzinfo) -> Interval:
    try:
        return parse_time(clause.value, "query", zone=zone)
    except InputError as error:
        raise QuerySyntaxError("query", error.problem, clause.position) from None


def _after(when: Interval) -> int:
    """The first moment after *when*; an instant is a microsecond long here."""
    return when.end if when.end > when.start else when.start + 1


LANGUAGES = ("english", "dutch")


@cache
def filler_words() -> frozenset[str]:
    """The dropped words, spelled as ``clean_word`` leaves them."""
    return read_filler()


def read_filler() -> frozenset[str]:
    """The same from the package's lists, read anew."""
    folder = files("simonides.text").joinpath("lists")
    lines = [
        line
        for kind in ("stopwords", "filler")
        for language in LANGUAGES
        for line in folder.joinpath(kind, f"{language}.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return frozenset(clean_word(word) for line in lines for word in line.split())


SHORTEST = 3
"""Characters of a word that can be a strongest term, at least."""


class _Spaced(dict[int, int | str]):
    """Punctuation and symbols become spaces."""

    def __missing__(self, code: int) -> int | str:
        found = self[code] = " " if unicodedata.category(chr(code))[0] in "PS" else code
        return found


_SPACED = _Spaced()
_SPACES = re.compile(r"\s+")


def sanitise(query: str) -> str:
    """*query* in lower case, punctuation and symbols as spaces, filler words gone."""
    return " ".join(word for word in bare_words(query) if word not in filler_words())


def bare_words(text: str) -> list[str]:
    """The words of *text* in lower case, cut at everything that is no letter, mark or digit."""
    return compose(text).translate(_SPACED).lower().split()


def strongest_term(query: str, commonness: Callable[[str], int]) -> str:
    """The longest word that is not filler, in lower case; of equally long ones the rarest, then the first.

    *commonness*: how many memories hold a word. Empty when no word has three characters or more.
    """
    words = [word for word in bare_words(query) if len(word) >= SHORTEST and word not in filler_words()]
    longest = max(map(len, words), default=0)
    ties = dict.fromkeys(word for word in words if len(word) == longest)
    return min(ties, key=commonness, default="")


Syntax = Literal["plain", "extended"]

CLAUSES = ("tag", "entity", "kind", "before", "after")
"""Names of the conditions of the extended syntax."""

MAX_DEPTH = 32
"""Parentheses inside each other at most."""

_OPERATORS = {operator.value: operator for operator in Operator}

_PARSER_PLAIN = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
_EXTENDED = re.compile(
    r"""
    " (?P<phrase> [^"]* ) (?P<closed> "? )
    | (?P<bracket> [()] )
    | (?P<name> [A-Za-z]+ ) : (?: "(?P<quoted>[^"]*)(?P<ended>"?) | (?P<value> (?!//) [^\s"()]* ) )
    | (?P<word> [^\s"()]+ )
    """,
    re.VERBOSE,
)


def parse_query(
    text: str, *, syntax: Syntax = "plain", stop_words: Collection[str] | None = None
) -> Expression:
    """Read *text*.

    Args:
        text: anything.
        syntax: ``plain`` never fails; ``extended`` knows groups and clauses.
        stop_words: what plain words are filtered by, spelled as ``clean_word`` does.

    Raises:
        QuerySyntaxError: only with ``extended``; its position is the place in *text*, from 0.
    """
    pieces = list(_extended_pieces(text) if syntax == "extended" else _plain_pieces(text))
    structured = any(piece.structures for piece in pieces)
    dropped = filler_words() if stop_words is None else stop_words
    builder = _Builder()
    for piece in pieces:
        if structured or not _is_filler(piece.part, dropped):
            builder.add(piece)
    return Expression(normalise_query(text), builder.finish(), has_operators=structured)


def dropped_words(text: str) -> tuple[str, ...]:
    """Words that ``parse_query`` drops from a plain *text* though they may be what was asked for, as written.

    Where no other word remains, these are all; else the short ones that are no filler (C#), and those in
    capitals in a text that has small letters, too (IT).
    """
    pieces = list(_plain_pieces(text))
    if any(piece.structures for piece in pieces):
        return ()
    parts = [piece.part for piece in pieces if isinstance(piece.part, Token)]
    dropped = [part for part in parts if _is_filler(part, filler_words())]
    if len(dropped) < len(parts):
        mixed = text.upper() != text
        dropped = [
            part
            for part in dropped
            if part.text not in filler_words() or (mixed and len(part.written) > 1 and part.written.isupper())
        ]
    return tuple(dict.fromkeys(part.written for part in dropped))


def _is_filler(part: Part | None, dropped: Collection[str]) -> bool:
    return isinstance(part, Token) and (
        is_short(part.text) or part.text in dropped or part.text.upper() in _OPERATORS
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of characters with one meaning.

    Attributes:
        position: in the text.
        part: what it asks for, or ``None``.
        operator: that it is, or ``None``.
        bracket: that it is, or empty.
        structures: whether it shows that the asker structured the query.
    """

    position: int
    part: Token | Clause | None = None
    operator: Operator | None = None
    bracket: str = ""
    structures: bool = False


def _plain_pieces(text: str) -> Iterator[_Piece]:
    for found in _PARSER_PLAIN.finditer(text):
        if found["word"] is None:
            yield _phrase(found["phrase"], found.start())
        else:
            yield _word(text, found["word"], found.start(), "")


def _extended_pieces(text: str) -> Iterator[_Piece]:
    for found in _EXTENDED.finditer(text):
        start = found.start()
        if found["phrase"] is not None:
            if not found["closed"]:
                raise QuerySyntaxError("query", "the quote is never closed", start)
            yield _phrase(found["phrase"], start)
        elif found["bracket"]:
            yield _Piece(start, bracket=found["bracket"], structures=True)
        elif found["name"]:
            yield _clause(found, start)
        else:
            yield _word(text, found["word"], start, "()")


def _phrase(written: str, position: int) -> _Piece:
    text = clean_phrase(written)
    part = Token(TokenKind.PHRASE, text, written=" ".join(compose(written).split())) if text else None
    return _Piece(position, part, structures=True)


def _word(text: str, word: str, position: int, borders: str) -> _Piece:
    stop = position + len(word)
    written = compose(word)
    bounded = _ends(text[max(0, position - 1) : position], borders) and _ends(text[stop : stop + 1], borders)
    if written in _OPERATORS and bounded:
        return _Piece(position, operator=_OPERATORS[written], structures=True)
    cleaned = clean_word(written)
    if not cleaned:
        return _Piece(position)
    kind = TokenKind.PREFIX if written.endswith("*") else TokenKind.TERM
    return _Piece(position, Token(kind, cleaned, written=written.rstrip("*")))


def _ends(neighbour: str, borders: str) -> bool:
    """Whether an operator may stand beside this character, or beside nothing."""
    return neighbour.isspace() or neighbour in borders if neighbour else True


def _clause(found: re.Match[str], position: int) -> _Piece:
    name = found["name"].lower()
    if name not in CLAUSES:
        raise QuerySyntaxError(
            "query",
            f"there is no clause {name[:20]!r}; use one of {', '.join(CLAUSES)}, or put the words in quotes",
            position,
        )
    if found["quoted"] is not None and not found["ended"]:
        raise QuerySyntaxError("query", f"the quote after {name}: is never closed", found.end("name") + 1)
    value = normalise_query(found["value"] if found["quoted"] is None else found["quoted"])
    if not value:
        raise QuerySyntaxError("query", f"{name}: has no value; write it right after the colon", position)
    return _Piece(position, Clause(name, value, position=position))


class _Builder:
    """Puts pieces together, groups inside groups, without recursion."""

    def __init__(self) -> None:
        self.open: list[_Open] = [_Open(0, None)]
        self.pending: Operator | None = None

    def add(self, piece: _Piece) -> None:
        if piece.operator is not None:
            self.pending = piece.operator
        elif piece.bracket == "(":
            if len(self.open) > MAX_DEPTH:
                raise QuerySyntaxError(
                    "query", f"more than {MAX_DEPTH} groups inside each other", piece.position
                )
            self.open.append(_Open(piece.position, self._take()))
        elif piece.bracket == ")":
            self._close(piece.position)
        elif isinstance(piece.part, Clause):
            self._clause(piece.part, self._take())
        elif piece.part is not None:
            self._words(replace(piece.part, operator=self._take()), piece.position)

    def finish(self) -> tuple[Part, ...]:
        if len(self.open) > 1:
            raise QuerySyntaxError("query", "the parenthesis is never closed", self.open[-1].position)
        return tuple(self.open[0].parts)

    def _take(self) -> Operator | None:
        operator, self.pending = self.pending, None
        return operator

    def _close(self, position: int) -> None:
        if len(self.open) == 1:
            raise QuerySyntaxError("query", "this parenthesis was never opened", position)
        self.pending = None
        group = self.open.pop()
        if not group.parts:
            raise QuerySyntaxError("query", "there is nothing to search in this group", group.position)
        self._words(Group(tuple(group.parts), group.operator), group.position)

    def _clause(self, clause: Clause, operator: Operator | None) -> None:
        if len(self.open) > 1:
            place = "take it out of the parentheses"
        elif operator in _ALTERNATIVE:
            place = f"it cannot follow {operator}"
        else:
            self.open[0].parts.append(replace(clause, operator=operator))
            return
        raise QuerySyntaxError("query", f"{clause.name}: holds for the whole query; {place}", clause.position)

    def _words(self, part: Token | Group, position: int) -> None:
        parts = self.open[-1].parts
        if parts and isinstance(parts[-1], Clause) and part.operator in _ALTERNATIVE:
            raise QuerySyntaxError(
                "query", f"{part.operator} cannot follow a clause, which holds for the whole query", position
            )
        parts.append(part)


@dataclass(slots=True)
class _Open:
    """A group that is being read, or the whole query."""

    position: int
    operator: Operator | None
    parts: list[Part] = field(default_factory=list)


_ALTERNATIVE = frozenset({Operator.OR, Operator.NOT})


def compile_match(expression: Expression) -> str:
    """The match string: tokens joined by OR unless an operator says otherwise, NOT written as AND NOT.

    Read with NOT before AND before OR. The first token's operator is dropped. Clauses are conditions on the
    memory, not words, so they are left out; empty = there is nothing to search by words.
    """
    return _compile(expression.tokens)


def _token(token: Token) -> str:
    if token.kind is TokenKind.PHRASE:
        return f'"{token.text}"'
    return f"{token.text}*" if token.kind is TokenKind.PREFIX else token.text


def _compile(parts: Sequence[Part]) -> str:
    pieces: list[str] = []
    for part in words_of(parts):
        if pieces:
            operator = part.operator or Operator.OR
            pieces.append("AND NOT" if operator is Operator.NOT else operator.value)
        pieces.append(f"({_compile(part.parts)})" if isinstance(part, Group) else _token(part))
    return " ".join(pieces)
