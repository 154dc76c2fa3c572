"""Every SELECT of the package names ``verified``, ``keys`` or ``unverified`` for a table with checksums.

The test reads the source: each string with SQL, with its parts that are computed.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.backends.embedded.checksums import CHECKSUMS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(simonides.__file__).parent
PACKAGE = ROOT / "backends" / "embedded"
READERS = {"verified", "keys", "unverified"}

UNVERIFIED = {
    ("rows.py", "_WHOLE"): "check_rows compares these rows in Python",
    ("rows.py", "compare_memories"): "compares each row and says whether it is intact",
    (
        "reading.py",
        "_MEMORY",
    ): "recall ranks hundreds of candidates and passes the ten it returns to check_rows",
    ("reader.py", "signatures"): "of the same candidates; a signature only orders them",
    ("relations.py", "_WORDS"): "skips rows that say nothing of interest; _HELD verifies all others",
    ("change_log.py", "find_meta"): "verify must read the counters of a damaged bank",
    ("forgetting.py", "select"): "a damaged memory can be forgotten",
    ("forgetting.py", "overwrite_unused_names"): "a purge leaves no name, whatever row is damaged",
    ("redaction.py", "read_forgotten"): "a damaged memory can be forgotten",
    ("redaction.py", "_redact_document"): "a forgotten text is taken out of damaged rows, too",
    ("verification.py", ""): "verify compares all rows by itself and reports the damaged ones",
}
"""Reads of whole rows without comparing them: file, function or constant ("" = the whole file), and the reason."""

BARE = {
    "checksums.py": "computes and compares the checksums",
    "rows.py": "defines the readers",
    "migrations.py": "SQL views for other programs, which have no function that compares",
}
"""Files whose SQL names tables without a reader, and the reason."""

TABLES = "|".join(CHECKSUMS)
# A table after FROM, JOIN or a comma of a FROM clause, or a computed part that no reader made.
READ = re.compile(rf"\b(?:FROM|JOIN)\s+(?:(?P<table>{TABLES})\b|(?P<computed>\x00))")
COMMA = re.compile(rf"\bFROM\s+[^()]*?,\s*(?:{TABLES})\b(?!\s*\.)")
RETURNING = re.compile(r"\bRETURNING\s+(?P<columns>[a-z_, ]+)")


def parts_of(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Functions, methods and constants of a module, by name."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inner:
            if isinstance(each, ast.FunctionDef):
                yield each.name, each
            elif isinstance(each, ast.Assign):
                yield ast.unparse(each.targets[0]), each.value


def strings(part: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """Each string: its text, in which a null character stands for each computed part, and these parts."""
    inside = set[int]()
    for node in ast.walk(part):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(each) for each in ast.walk(node) if isinstance(each, ast.Constant)}
            text = "".join(
                str(getattr(value, "value", "")) if isinstance(value, ast.Constant) else "\x00"
                for value in node.values
            )
            yield text, [value.value for value in node.values if isinstance(value, ast.FormattedValue)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value, []


def names_in(part: ast.AST) -> set[str]:
    """Functions that a part calls."""
    calls = [node.func for node in ast.walk(part) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def made_by_readers(path: Path) -> set[str]:
    """Names of constants and variables that begin with what a reader made."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign):
            targets = [each.id for each in ast.walk(node.targets[0]) if isinstance(each, ast.Name)]
            found |= set(targets) if names_in(node.value) & READERS else set()
    return found


@cache
def constants_made_by_readers() -> frozenset[str]:
    """The same, of the constants of all modules: one imports those of another."""
    return frozenset(
        name for path in PACKAGE.glob("*.py") for name in made_by_readers(path) if name.isupper()
    )


def reads(path: Path) -> list[str]:
    """Reads of tables with checksums that name no reader."""
    made = made_by_readers(path) | constants_made_by_readers()
    found = []
    for owner, node in parts_of(path):
        for text, parts in strings(node):
            # A deletion reads no row.
            sql = re.sub(r"\bDELETE FROM\b", "", text)
            for match in READ.finditer(sql):
                part = match["table"] or parts[sql[: match.end() - 1].count("\x00")]
                if isinstance(part, str):
                    found.append(f"{owner}: {part}")
                elif not (names_in(part) & READERS or ast.unparse(part) in made):
                    found.append(f"{owner}: {ast.unparse(part)}")
            found += [f"{owner}: {match.group()}" for match in COMMA.finditer(sql)]
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_every_read_names_a_reader(path: Path) -> None:
    assert path.name in BARE or reads(path) == []


def test_files_that_are_excepted_need_it() -> None:
    assert {name for name in BARE if reads(PACKAGE / name)} == set(BARE)


def test_each_unverified_read_has_a_reason() -> None:
    found = set()
    for path in PACKAGE.glob("*.py"):
        for owner, node in parts_of(path):
            if "unverified" in names_in(node):
                found.add((path.name, "" if (path.name, "") in UNVERIFIED else owner))
    assert found == set(UNVERIFIED)


def test_nothing_is_returned_by_a_change_but_keys() -> None:
    """RETURNING reads the row as it is stored."""
    found = set()
    for path in sorted(PACKAGE.glob("*.py")):
        for text, _ in strings(ast.parse(path.read_text(encoding="utf-8"))):
            for match in RETURNING.finditer(text):
                found |= {column.strip() for column in match["columns"].split(",")}
    # ``texts``: of recalls that wait, a table without checksums.
    assert found <= {"number", "1", "", "texts"}


def test_no_other_package_has_sql() -> None:
    """Above the storage protocols there is none."""
    select = re.compile(rf"\bSELECT\b.*\bFROM\s+(?:{TABLES})\b", re.DOTALL)
    found = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if PACKAGE not in path.parents
        for text, _ in strings(ast.parse(path.read_text(encoding="utf-8")))
        if select.search(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('x.execute("SELECT name FROM entities")', "entities"),
        ('x.execute("SELECT e.name FROM json_each(?) r JOIN entities e ON 1")', "entities"),
        ('x.execute(f"SELECT name FROM {table}")', "table"),
        ('x.execute("SELECT 1 FROM notes, labels WHERE 1")', "labels"),
        ('x.execute("DELETE FROM jobs WHERE ordinal IN (SELECT ordinal FROM memories)")', "memories"),
    ],
)
def test_a_read_past_the_readers_is_found(tmp_path: Path, source: str, problem: str) -> None:
    path = tmp_path / "sample.py"
    path.write_text(f"def f(x, table):\n    {source}\n", encoding="utf-8")
    assert problem in " ".join(reads(path))
