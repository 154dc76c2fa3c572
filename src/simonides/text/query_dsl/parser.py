r"""Reads a query into an expression.

    query  = { word | phrase | operator }
    phrase = '"' anything but a quote '"'        the closing quote may be missing
    word   = no white space, no quote; a star at its end makes it a prefix
    operator = AND | OR | NOT                     upper case, white space on both sides

A query that has no quote and no operator is plain words: filler and words of one or two letters are dropped
(``filler``). Otherwise every word stays. An operator belongs to the next token; of two in a row the last
counts, one at the end counts for nothing. Any text at all is a query.

The extended syntax adds ``(groups)`` and the clauses ``tag: entity: kind: before: after:``, whose value may
stand in quotes. There a text can be wrong, and the error says where. A text without parenthesis, colon or
missing quote means the same in both.

Cost: linear, about 3 s CPU per megabyte of short words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from simonides.errors import QuerySyntaxError
from simonides.records.expression import Clause, Expression, Group, Operator, Token, TokenKind
from simonides.text.query_dsl.filler import filler_words
from simonides.text.query_dsl.spelling import clean_phrase, clean_word, compose, is_short, normalise_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from simonides.records.expression import Part

Syntax = Literal["plain", "extended"]

CLAUSES = ("tag", "entity", "kind", "before", "after")
"""Names of the conditions of the extended syntax."""

MAX_DEPTH = 32
"""Parentheses inside each other at most."""

_OPERATORS = {operator.value: operator for operator in Operator}

_PLAIN = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
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
        stop_words: what plain words are filtered by, spelled as ``clean_word`` does; by default the
            package's own lists.

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
    for found in _PLAIN.finditer(text):
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
