"""The engine of the grammar: rules are lines of data, each a pattern and a function of what it captured.

    Rule("month", "<ANYMONTH> ,? of? {year}", month_of)

A pattern is read from left to right, without going back:

    word         this word, in any spelling, or this punctuation
    one|two      one of these
    <TAG>        a token that has this tag, always in capitals; its value is handed to the function
    <one|two>    a token that has one of these tags or is one of these words; its value is handed over
    {name}       the longest match of the rules of that name; its value is handed over
    …?           may be missing; where it captures, ``None`` is handed over

A name may not lead back to itself, so a match spans a bounded number of tokens, and reading a text takes time
linear in its length: at each token only the rules are tried that can start with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.text.times.lexer import Token

Guard: TypeAlias = Callable[[Sequence["Token"], int, int], bool]
"""Whether tokens[start:stop] may stand for a time where they are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say something.

    Attributes:
        name: of what is said; several rules share one.
        pattern: see the module.
        make: takes the captured values in order; a ``ValueError`` means that there is no such time.
        guard: looks at the words around a match and may refuse it.
    """

    name: str
    pattern: str
    make: Callable[..., Any]
    guard: Guard | None = None


def same(value: Any) -> Any:
    """What a rule makes that only says where something may stand."""
    return value


def choice(name: str, *names: str) -> tuple[Rule, ...]:
    """Rules by which *name* is any of *names*."""
    return tuple(Rule(name, f"{{{other}}}", same) for other in names)


_MOST_DEAD_PAIRS = 50_000


class Match(NamedTuple):
    """A value, and the position after the tokens it came from."""

    value: Any
    stop: int


class _Element(NamedTuple):
    names: tuple[str, ...]
    nested: bool
    captured: bool
    optional: bool


class _Compiled(NamedTuple):
    elements: tuple[_Element, ...]
    make: Callable[..., Any]
    guard: Guard | None


class Grammar:
    """Rules, indexed by the tags that a match can start with."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Compile *rules*; ``ValueError``.

        One asks for a name without rules, or one that leads back to itself.
        """
        self._rules: dict[str, list[_Compiled]] = {}
        for rule in rules:
            elements = tuple(map(_element, rule.pattern.split()))
            self._rules.setdefault(rule.name, []).append(_Compiled(elements, rule.make, rule.guard))
        self._first: dict[str, frozenset[str]] = {}
        for name in self._rules:
            self._starts(name, ())
        self._by_tags: dict[tuple[str, tuple[str, ...]], tuple[_Compiled, ...]] = {}
        # By name, the tags of two neighbouring tokens at which no rule goes on; the same for every text.
        self.dead_pairs: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()

    @property
    def words(self) -> frozenset[str]:
        """Every word and mark that a rule asks for by itself."""
        return frozenset(name for name in self._asked() if not name.isupper())

    @property
    def tags(self) -> frozenset[str]:
        """Every tag that a rule asks for."""
        return frozenset(name for name in self._asked() if name.isupper())

    def _asked(self) -> Iterator[str]:
        for rule in chain.from_iterable(self._rules.values()):
            for element in rule.elements:
                if not element.nested:
                    yield from element.names

    def starting(self, name: str, tags: tuple[str, ...]) -> tuple[_Compiled, ...]:
        """The rules of *name* that a token with these tags can start, in order."""
        key = (name, tags)
        found = self._by_tags.get(key)
        if found is None:
            found = tuple(rule for rule in self._rules[name] if not self._first_of(rule).isdisjoint(tags))
            self._by_tags[key] = found
        return found

    def _starts(self, name: str, above: tuple[str, ...]) -> frozenset[str]:
        if name in above or name not in self._rules:
            raise ValueError(f"{{{name}}} {'leads back to itself' if name in above else 'has no rules'}")
        if name not in self._first:
            for rule in self._rules[name]:
                for element in rule.elements:
                    if element.nested:
                        self._starts(element.names[0], (*above, name))
            self._first[name] = frozenset().union(*map(self._first_of, self._rules[name]))
        return self._first[name]

    def _first_of(self, rule: _Compiled) -> frozenset[str]:
        first: frozenset[str] = frozenset()
        for element in rule.elements:
            first |= self._first[element.names[0]] if element.nested else frozenset(element.names)
            if not element.optional:
                break
        return first


class Parser:
    """Reads the tokens of one text, from left to right."""

    def __init__(self, grammar: Grammar, tokens: Sequence[Token]) -> None:
        """*tokens* end with one that has no rule, so that each match has a token after it."""
        self._grammar = grammar
        self._tokens = tokens
        self._kinds = [tuple(token.tags) for token in tokens]
        self._memo: dict[tuple[str, int], Match | None] = {}
        # What search() needs to know of the last attempt.
        self._furthest = 0
        self._certain = True

    def search(self, name: str, at: int) -> Match | None:
        """The longest match of *name* from token *at*; forgets what it knew of other places.

        Two tokens at which no rule can go on are remembered by their tags, since most of a text is such.
        """
        if not self._kinds[at]:
            return None
        pair = (name, self._kinds[at], self._kinds[min(at + 1, len(self._kinds) - 1)])
        dead = self._grammar.dead_pairs
        if pair in dead:
            return None
        self._memo.clear()
        self._furthest, self._certain = at, True
        found = self.match(name, at)
        if found is None and self._certain and self._furthest <= at + 1 and len(dead) < _MOST_DEAD_PAIRS:
            dead.add(pair)
        return found

    def match(self, name: str, at: int) -> Match | None:
        """The longest match of *name* from token *at*; of equally long ones the first rule's."""
        key = (name, at)
        if key in self._memo:
            return self._memo[key]
        best: Match | None = None
        for rule in self._grammar.starting(name, self._kinds[at]):
            found = self._apply(rule, at)
            if found is not None and (best is None or found.stop > best.stop):
                best = found
        self._memo[key] = best
        return best

    def _apply(self, rule: _Compiled, start: int) -> Match | None:
        at = start
        values: list[Any] = []
        for element in rule.elements:
            value, following = self._take(element, at)
            if following == at and not element.optional:
                return None
            if element.captured:
                values.append(value)
            at = following
        if rule.guard is not None and not rule.guard(self._tokens, start, at):
            self._certain = False
            return None
        try:
            return Match(rule.make(*values), at)
        except (ValueError, OverflowError):
            self._certain = False
            return None

    def _take(self, element: _Element, at: int) -> tuple[Any, int]:
        """The value of an element and the next position; the same position if it is not there."""
        self._furthest = max(self._furthest, at)
        if element.nested:
            found = self.match(element.names[0], at)
            return (None, at) if found is None else (found.value, found.stop)
        tags = self._tokens[at].tags
        for name in element.names:
            if name in tags:
                return tags[name], at + 1
        return None, at


def _element(text: str) -> _Element:
    optional = len(text) > 1 and text.endswith("?")
    core = text.removesuffix("?") if optional else text
    if core.startswith("{"):
        return _Element((core[1:-1],), nested=True, captured=True, optional=optional)
    captured = core.startswith("<")
    names = tuple((core[1:-1] if captured else core).split("|"))
    return _Element(names, nested=False, captured=captured, optional=optional)
