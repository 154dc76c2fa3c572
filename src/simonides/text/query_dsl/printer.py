"""Compiles an expression to the match string of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.records.expression import Group, Operator, Token, TokenKind, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.records.expression import Expression, Part


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
