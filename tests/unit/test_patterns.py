"""N84: every regular expression of the package reads long input in time that grows with its length.

Patterns are collected from what the imported modules hold and from every call of ``re`` in the source. Each
is run with the methods that the source uses it with, on inputs made from its own structure: for each repeat
what leads to it, then what it repeats, many times over, then what it does not want. A pattern that takes
noticeable time must take no more than a few times as much for four times the input.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections import defaultdict
from pathlib import Path
from re import _constants as code
from re import _parser as parser
from typing import TYPE_CHECKING, Any

import pytest

import simonides

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

pytestmark = pytest.mark.fault("N84")

SOURCE = Path(simonides.__file__).parent
METHODS = ("search", "match", "fullmatch", "finditer")
SIZE = 1_024
"""Repeats of the shorter input; the longer one has four times as many."""
NOTICEABLE = 0.004
"""Seconds of CPU from which growth is looked at; linear patterns take about a twentieth of it."""
GROWTH = 9.0
"""Largest ratio of the times of four times the input: linear ones take 4, quadratic ones 16."""

_HELD = "a helper that runs at import; the module holds what it makes"
DYNAMIC = {
    "files.py": "the name of a file, escaped",
    "recall/channels/lexical.py": "words of the query in capitals, escaped, looked for in 300 texts at most",
    "recall/refining/combining.py": _HELD,
    "recall/understanding/question.py": _HELD,
    "retain/extraction/passage.py": _HELD,
    "retain/extraction/names.py": _HELD,
    "retain/secrets.py": _HELD,
    "retain/redacted_errors.py": "escaped first characters of secrets, and the placeholder's pattern",
    "retain/enriching.py": "words of one stated name, escaped, looked for in one memory",
    "json_schema.py": "patterns of schemas, which are swept, too",
    "surfaces/demo/demo.py": "a fixed question of the demo",
    "testing/fakes.py": "an escaped name, for tests",
}
"""Files whose functions make patterns from what is no constant, and why that is bounded."""


ONE_PLACE = {
    "retain/extraction/capitalised.py": "where a name ends, thus at the beginning of a run of blanks",
    "retain/extraction/known_names.py": "where a name ends",
    "retain/extraction/relations.py": "where a mention ends",
    "text/times/lexer.py": "where the last piece of a word ended; a miss is the end of the word",
}
"""Files that match patterns at places which share no text; elsewhere ``match`` with a place is taken for a scan
from every place."""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages([str(SOURCE)], "simonides."):
        if found.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(found.name)
        except (ImportError, simonides.errors.MissingExtraError):
            # An extra that is not installed; the patterns in its source are found there.
            continue


def held(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """Patterns in a value: itself, entries of containers, fields of objects of this package."""
    inner: list[object] = []
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    elif type(value).__module__.startswith("simonides") and not isinstance(value, type):
        names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
        inner = [getattr(value, name, None) for name in names]
    if depth < 5:
        for entry in inner:
            yield from held(entry, depth + 1)


def names_in(module: ModuleType) -> Iterator[tuple[str, object]]:
    for name, value in vars(module).items():
        yield name, value
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from vars(value).items()


def usage(trees: Mapping[Path, ast.Module]) -> Mapping[str, set[str]]:
    """What holds patterns → the methods that are called of it."""
    used: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        scanning = str(path.relative_to(SOURCE)) not in ONE_PLACE
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = _named(node.func.value, path)
                used[owner].add(_method(node.func.attr, scanning=scanning and len(node.args) > 1))
            elif isinstance(node, ast.Attribute) and node.attr in {*METHODS, "sub", "split", "findall"}:
                # Handed on, as to ``map``; a call has been seen above, with its arguments.
                used[_named(node.value, path)].add("" if node.attr == "match" else _method(node.attr))
    return used


def collected() -> Mapping[tuple[str, int], set[str]]:
    """Pattern and flags → the methods that it is used with; all of them where that is not to be seen."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    used = usage(trees)
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for module in modules():
        path = Path(str(module.__file__))
        for name, value in names_in(module):
            own = used.get(_named(ast.Name(name), path), set()) & set(METHODS)
            for pattern in held(value):
                methods = own if isinstance(value, re.Pattern) else set()
                found[pattern.pattern, pattern.flags] |= methods or set(METHODS)
    for path, tree in trees.items():
        for text, flags, method in written(path, tree):
            if method == "compile":
                found.setdefault((text, flags), set(METHODS))
            else:
                found[text, flags].add(_method(method))
    from simonides import json_schema  # noqa: PLC0415

    for name, value in vars(json_schema).items():
        if isinstance(value, str) and value.startswith("^") and name.isupper():
            found[value, re.compile(value).flags].add("search")
    return found


def _named(node: ast.AST, path: Path) -> str:
    """What holds a pattern: a private name with its file, since others may have one of the same name."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return f"{path}:{name}" if name.startswith("_") else name


def _method(name: str, *, scanning: bool = False) -> str:
    """Which of ``METHODS`` is like a method of patterns, or function of ``re``."""
    if name == "match" and scanning:
        return "finditer"
    return (
        name
        if name in METHODS
        else {"sub": "finditer", "subn": "finditer", "split": "finditer", "findall": "finditer"}.get(name, "")
    )


def written(path: Path, tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """The constant patterns that calls of ``re`` in a file are given, their flags, and the function."""
    place = str(path.relative_to(SOURCE))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        if node.func.attr not in {*METHODS, "compile", "sub", "subn", "split", "findall"}:
            continue
        try:
            constant = ast.literal_eval(node.args[0])
        except ValueError:
            # Outside every function an imported module holds what is made.
            assert place in DYNAMIC or not _running(node, tree), f"{place}: makes a pattern anew"
            continue
        pattern = constant.decode("latin-1") if isinstance(constant, bytes) else str(constant)
        yield pattern, re.compile(pattern, _flags(node)).flags, node.func.attr


def _running(wanted: ast.AST, tree: ast.Module) -> bool:
    """Whether a part of a file is inside a function."""
    outer = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return any(
        inner is wanted for node in ast.walk(tree) if isinstance(node, outer) for inner in ast.walk(node)
    )


def _flags(call: ast.Call) -> int:
    flags = 0
    for given in [*call.args[1:], *(word.value for word in call.keywords)]:
        for part in ast.walk(given):
            if isinstance(part, ast.Attribute) and isinstance(getattr(re, part.attr, None), re.RegexFlag):
                flags |= getattr(re, part.attr)
    return flags


# -- inputs


def example(tree: Any) -> str:
    """A short text that a parsed pattern takes, as far as it is plain to see."""
    return "".join(_example(op, value) for op, value in tree)


def _example(op: Any, value: Any) -> str:
    if op in REPEATS:
        return example(value[2]) * (value[0] or int(value[1] > 0))
    if op in {code.LITERAL, code.IN, code.NOT_LITERAL, code.ANY}:
        return next(iter(members(op, value)), "")
    parts = inside(op, value)
    return example(parts[0]) if parts and op not in {code.ASSERT, code.ASSERT_NOT} else ""


REPEATS = {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}


def inside(op: Any, value: Any) -> list[Any]:
    """The patterns that a part of a pattern is made of."""
    if op is code.BRANCH:
        return list(value[1])
    if op is code.SUBPATTERN:
        return [value[3]]
    if op in REPEATS:
        return [value[2]]
    if op in {code.ASSERT, code.ASSERT_NOT}:
        return [value[1]]
    return [value] if op is code.ATOMIC_GROUP else []


PROBES = "a1A_ \t\n-./:,;@'\"()[]{}=#<>\\~é\u4e2d"


def members(op: Any, value: Any) -> list[str]:
    """Some characters of a class."""
    if op is code.LITERAL:
        return [chr(value)]
    if op is code.IN:
        listed = [chr(v) for o, v in value if o is code.LITERAL]
        listed += [chr(v[0]) for o, v in value if o is code.RANGE]
        inside = re.compile(_class(value))
        known = [c for c in [*listed, *PROBES] if inside.fullmatch(c)]
        return list(dict.fromkeys(known))[:6]
    if op is code.NOT_LITERAL:
        return [c for c in "a \n1" if ord(c) != value]
    return ["a", " "]


def _class(items: Any) -> str:
    parts = []
    for op, value in items:
        if op is code.NEGATE:
            parts.append("^")
        elif op is code.LITERAL:
            parts.append(re.escape(chr(value)))
        elif op is code.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif op is code.CATEGORY:
            parts.append(
                {
                    code.CATEGORY_SPACE: r"\s", code.CATEGORY_NOT_SPACE: r"\S",
                    code.CATEGORY_DIGIT: r"\d", code.CATEGORY_NOT_DIGIT: r"\D",
                    code.CATEGORY_WORD: r"\w", code.CATEGORY_NOT_WORD: r"\W",
                }[value]
            )  # fmt: skip
    return f"[{''.join(parts)}]"


def repeats(tree: Any, before: str = "") -> Iterator[tuple[str, list[str]]]:
    """What leads to each long repeat of a pattern, and what it repeats."""
    for op, value in tree:
        if op in REPEATS and value[1] > 16:
            single = len(value[2]) == 1 and value[2][0][0] in {code.IN, code.NOT_LITERAL, code.ANY}
            pumped = members(*value[2][0]) if single else [example(value[2])]
            yield before, [each for each in pumped if each]
        for part in inside(op, value):
            yield from repeats(part, before)
        before += _example(op, value)


def inputs(pattern: str, flags: int) -> Iterator[tuple[str, str, str]]:
    """Beginning, what is repeated, and end of the inputs of a pattern."""
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    whole = example(tree)
    found: dict[tuple[str, str, str], None] = {}
    for before, pumped in repeats(tree):
        for pump in pumped:
            for end in ("", "\0", "\n\0"):
                found[before, pump, end] = None
            found["", pump, "\0"] = found["", before + pump, "\0"] = None
            found["", before + pump * 3 + "\0", ""] = None
    if found and whole:
        found["", whole, "\0"] = found[whole[:1], whole[:1], "\0"] = None
    yield from found


def seconds(pattern: re.Pattern[str], method: str, text: str) -> float:
    """CPU that one use takes."""
    begun = time.thread_time()
    if method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return time.thread_time() - begun


def grows(pattern: re.Pattern[str], method: str, given: tuple[str, str, str]) -> float:
    """How many times as much four times the input takes; 0 where even that takes no noticeable time."""
    before, pump, end = given
    count = max(1, SIZE // len(pump))
    short, long = before + pump * count + end, before + pump * (4 * count) + end
    if seconds(pattern, method, long) < NOTICEABLE:
        return 0.0
    taken = min(seconds(pattern, method, long) for _ in range(3))
    return taken / min(seconds(pattern, method, short) for _ in range(5)) if taken > NOTICEABLE else 0.0


def slow(pattern: str, flags: int, methods: set[str]) -> Iterator[str]:
    """What is wrong with a pattern: at most one input for each method."""
    compiled = re.compile(pattern, flags)
    for method in sorted(methods & set(METHODS)):
        for given in inputs(pattern, flags):
            ratio = grows(compiled, method, given)
            if ratio > GROWTH:
                yield f"{pattern!r}.{method} on {given!r}: {ratio:.1f} times the time for 4 times the input"
                break


def test_no_pattern_takes_more_than_linear_time() -> None:
    found = collected()
    assert len(found) > 150
    assert any("PRIVATE KEY" in pattern for pattern, _ in found)
    assert any("u0085" in pattern for pattern, _ in found)
    wrong = [
        line for (pattern, flags), methods in sorted(found.items()) for line in slow(pattern, flags, methods)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"^[^\x00]*[^\s\x00][^\x00]*$", "search"),
        (r"[ \t]*(?:[\[][\d\s,;]*)?\Z", "search"),
        (r"\s+$", "finditer"),
        (r"(a+)+b", "match"),
        (r"x*y", "search"),
        (r"<!--.*?-->", "finditer"),
        (r"(?:\w+\s?)*!", "fullmatch"),
    ],
)
def test_the_sweep_finds_what_is_quadratic(
    pattern: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "SIZE", 5 if pattern in {r"(a+)+b", r"(?:\w+\s?)*!"} else 1_024)
    monkeypatch.setitem(globals(), "NOTICEABLE", 1e-4)
    assert list(slow(pattern, 0, {method}))
