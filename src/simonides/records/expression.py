"""A query as its asker structured it: words, phrases, prefixes and the operators between them (JB-01)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence


class TokenKind(StrEnum):
    """What a token asks for."""

    TERM = "term"
    PHRASE = "phrase"
    PREFIX = "prefix"


class Operator(StrEnum):
    """What joins a part to the part before it; a part without one is joined by OR."""

    AND = "AND"
    OR = "OR"
    NOT = "NOT"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a phrase or the beginning of a word.

    Attributes:
        kind: which of the three.
        text: lower case, without punctuation, quotes and star; never empty.
        operator: written before it.
        written: as the asker spelled it, which is what is analysed into terms; two tokens are equal whatever
            their spelling.
    """

    kind: TokenKind
    text: str
    operator: Operator | None = None
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition such as ``tag:work``; only the extended syntax has them.

    Attributes:
        name: tag, entity, kind, before or after.
        value: as written, without quotes; never empty.
        operator: written before it: AND or none.
        position: of its first character in the query, from 0; not compared.
    """

    name: str
    value: str
    operator: Operator | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between parentheses; only the extended syntax has them."""

    parts: tuple[Part, ...]
    operator: Operator | None = None


Part: TypeAlias = Token | Clause | Group


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed query.

    Attributes:
        raw: the query's text, composed (NFC), without invisible characters, its white space collapsed.
        tokens: in order; without any, there is nothing to search by words.
        has_operators: a quote, an operator or a parenthesis was there, so no word was dropped.
    """

    raw: str = ""
    tokens: tuple[Part, ...] = ()
    has_operators: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The published form, JSON-ready."""
        return {
            "raw": self.raw,
            "tokens": [_part_to_dict(part) for part in self.tokens],
            "hasOperators": self.has_operators,
        }


def words_of(parts: Sequence[Part]) -> tuple[Token | Group, ...]:
    """*parts* without clauses, which are no words; the operator of the first is dropped (JB-01)."""
    words = [part for part in parts if not isinstance(part, Clause)]
    if words and words[0].operator is not None:
        words[0] = replace(words[0], operator=None)
    return tuple(words)


def written_words(parts: Sequence[Part]) -> tuple[str, ...]:
    """What the asker wrote for each token, in order, those inside groups included."""
    return tuple(
        written
        for part in parts
        if not isinstance(part, Clause)
        for written in (
            written_words(part.parts) if isinstance(part, Group) else (part.written or part.text,)
        )
    )


def _part_to_dict(part: Part) -> dict[str, Any]:
    match part:
        case Token():
            described: dict[str, Any] = {"kind": part.kind.value, "text": part.text}
        case Clause():
            described = {"kind": "clause", "name": part.name, "value": part.value}
        case Group():
            described = {"kind": "group", "tokens": [_part_to_dict(inner) for inner in part.parts]}
    if part.operator is not None:
        described["operator"] = part.operator.value
    return described
