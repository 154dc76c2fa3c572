"""Other words for the words of a query, as its asker names them (JB-02)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.records.expression import Group, Operator, Token, TokenKind
from simonides.text.query_dsl.spelling import compose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simonides.records.expression import Expression, Part

_WORDS = re.compile(r"[^\W_]+")


def expand_aliases(expression: Expression, aliases: Mapping[str, Sequence[str]]) -> Expression:
    """Put the alternatives of each word in its place.

    Only terms are expanded, once: phrases and prefixes are meant literally. An alternative of one word
    becomes a term, of several a phrase; the first takes the word's operator. The word itself stays only where
    it is among its alternatives, or has none.

    Args:
        expression: parsed.
        aliases: lower-case word → alternatives, in order.

    Returns:
        the expression with no alternative twice, unless an operator makes it matter.
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
