"""Print a parsed query as a query again, so that tests can compare what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.records.expression import Clause, Group, Token, TokenKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.records.expression import Expression, Part

_EMPTY_PHRASE = '""'


def print_query(expression: Expression) -> str:
    """A query that parses to the same tokens, in the syntax that *expression* needs.

    An expression that dropped no word, yet shows no quote, operator or parenthesis, gets an empty phrase at
    its end, which says so and asks for nothing.
    """
    printed = _print(expression.tokens)
    if expression.has_operators and not any(map(_shows_structure, expression.tokens)):
        return f"{printed} {_EMPTY_PHRASE}".lstrip()
    return printed


def _print(parts: Sequence[Part]) -> str:
    return " ".join(
        f"{part.operator} {_surface(part)}" if part.operator is not None else _surface(part) for part in parts
    )


def _surface(part: Part) -> str:
    match part:
        case Group():
            return f"({_print(part.parts)})"
        case Clause():
            return f'{part.name}:"{part.value}"'
        case _:
            return _token(part)


def _token(token: Token) -> str:
    if token.kind is TokenKind.PHRASE:
        return f'"{token.text}"'
    return f"{token.text}*" if token.kind is TokenKind.PREFIX else token.text


def _shows_structure(part: Part) -> bool:
    return (
        isinstance(part, Group)
        or part.operator is not None
        or (isinstance(part, Token) and part.kind is TokenKind.PHRASE)
    )
