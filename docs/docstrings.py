"""The arguments in the docstrings of a bank: what an option does is said as ``simonides.options`` says it.

An entry begins with the option's sentence, its range and its default; what else Python has to say follows it
and stays as it is. Entries that refer to another method, and those of ``OWN``, are left alone.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import simonides
from simonides.surfaces.operations.table import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.options import Option

MODULES = tuple(
    Path(simonides.__file__).with_name(f"{name}.py")
    for name in ("bank", "bank_administration", "bank_browsing", "bank_exchange", "bank_structure")
)
OWN = {
    ("list_memories", "limit"): "a page of a server is smaller",
    ("entities", "limit"): "None gives all",
    ("settle", "most"): "None gives all",
    ("maintain", "most"): "Python takes any number",
    ("retain_conversation", "window"): "Python takes any number",
    ("set_ttl", "ttl"): "None removes the setting",
}
"""Method and argument → why Python says it otherwise."""

_ENTRY = re.compile(r"^ {12}(\w+): (.*(?:\n {16}.*)*)", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z*`\"])")
_REFERS = re.compile(r"as for |the same[.,;]")
_PROPER = ("Markdown",)
_WIDTH = 110


def stated(option: Option) -> str:
    """What every docstring says of an option: its sentence, its range where it has one, its default."""
    sentence, kind = option.sentence, option.values
    lowest, highest = kind.get("minimum", kind.get("exclusiveMinimum", 0)), kind.get("maximum", 2**63)
    if kind.get("type") in {"integer", "number"} and highest < 2**63 - 1:
        above = "above " if "exclusiveMinimum" in kind else ""
        span = f"{above}{lowest:,} to {highest:,}"
        sentence = sentence if span in sentence else f"{sentence[:-1]}, {span}."
    if sentence[1:2].islower() and not sentence.startswith(_PROPER):
        sentence = sentence[0].lower() + sentence[1:]
    return f"{sentence} Default: {option.otherwise}." if option.otherwise else sentence


def with_options(source: str) -> str:
    """*source* with the entry of each option as it is declared."""
    lines = source.splitlines(keepends=True)
    for name, first, last in reversed(list(_docstrings(source))):
        options = {each.name: each for each in OPERATIONS[name].parameters}
        written = "".join(lines[first:last])
        head, mark, rest = written.partition("        Args:\n")
        entries, end, after = rest.partition("\n\n")
        shown = _ENTRY.sub(lambda entry: _entry(name, entry, options), entries)  # noqa: B023 used at once
        lines[first:last] = [head + mark + shown + end + after]
    return "".join(lines)


def _docstrings(source: str) -> Iterator[tuple[str, int, int]]:
    """Methods of operations, with the lines of their docstrings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name in OPERATIONS and ast.get_docstring(node):
            text = node.body[0]
            yield node.name, text.lineno - 1, text.end_lineno or text.lineno


def _entry(method: str, entry: re.Match[str], options: dict[str, Option]) -> str:
    name, text = entry[1], " ".join(entry[2].split())
    if name not in options or (method, name) in OWN or _REFERS.match(text):
        return entry[0]
    now = stated(options[name])
    if text != now and not text.startswith(f"{now} "):
        more = _SENTENCE.split(text)[len(_SENTENCE.split(now)) :]
        text = " ".join((now, *more))
    return textwrap.fill(
        f"{name}: {text}",
        _WIDTH,
        initial_indent=" " * 12,
        subsequent_indent=" " * 16,
        break_long_words=False,
        break_on_hyphens=False,
    )
