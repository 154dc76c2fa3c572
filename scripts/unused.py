"""Name what nothing in the repository calls: modules, functions, classes, fields, parameters.

    python scripts/unused.py

Roots are what users, frameworks and strings reach: names in ``simonides.__all__``, ``"module:Name"`` strings
(entry points, the registry of stages, lazily loaded commands), typer commands, and ``ALLOWED``. Callers are
src, bench, docs, scripts and examples; a test alone keeps nothing alive. A parameter is named when it has a
default and no call of a function of that name gives it. Prints one line for each find and exits 1 when there
is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
from vulture.core import Vulture

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
CALLERS = ("src", "bench", "docs", "scripts", "examples")
REACHED_BY_STRING = re.compile(r"[\"']((?:simonides\.)?[\w.]+):(\w+)[\"']")

ALLOWED = {
    "integrations/": "classes and methods that a framework calls",
    "testing/": "what users test their own stages and embedders with",
    "client/remote.py": "the public client; its methods mirror Bank",
    "store.py": "the public API",
    "bank.py": "the public API",
    "bank_browsing.py": "the public API",
    "surfaces/cli/": "typer calls commands and passes their options",
    "OTHER_TABLES": "says which tables hold no text of memories; a test compares it with the schema",
    "NOT_TOOLS": "a test compares it with the operations",
    "counterexamples?|examples?|finds": "cases beside a rule; its tests try each",
    "do_POST|redirect_request|list_commands|handle_error|log_message": "called by the base class",
    "(intra|inter)_op_num_threads|log_severity_level|writeable|no_wrap": "attributes of libraries",
    "default_map|__signature__|__annotations__|__call__": "read by libraries",
    "first_mean|fused_score|enrichments|judge_(in|out)put_tokens|short_by": "fields that JSON shows",
    "models_folder|write_file|sharing": "arguments that tests give in place of the system's own",
    "prune_impressions|check_room|compare_systems|bins_of|document_items": "limits that tests make small",
    "entity_mass": "tests check that no mass is lost",
    "starts_by_itself": "compared with the record as a whole",
    "HANDLE|EMAIL|CAUSE_FIRST": "named in extraction/rules",
    "embedded/storage.py": "storage loads the backend by its name",
    "anyio": "named in the text of a cast",
    "operations/local.py": "tests compare it with the commands and methods",
    "operations/calls.py": "the table finds each function by the name of its operation",
    "models/llm_judge.py": "users import it",
    "models/remote_reranker.py": "users import it",
    "models/resolve.py": "load_reranker and load_sparse take what load_embedder takes",
    "extraction/spacy_extractor.py": "users import it",
}
"""What is kept, as a part of a path or a pattern of names, and why."""


def main() -> int:
    """Print every find; 1 when there is one."""
    found = sorted({*unused_modules(), *unused_names(), *unpassed_parameters()})
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


def allowed(path: str, name: str) -> bool:
    """Whether ``ALLOWED`` keeps *name*."""
    return any(
        key in path if "/" in key or key.endswith(".py") else re.fullmatch(key, name) for key in ALLOWED
    )


def reached_by_string() -> set[tuple[str, str]]:
    """(module, name) of every ``"module:Name"`` in the source and the entry points."""
    texts = [path.read_text("utf-8") for path in (*SOURCE.rglob("*.py"), ROOT / "pyproject.toml")]
    return {pair for text in texts for pair in REACHED_BY_STRING.findall(text)}


def unused_modules() -> Iterator[str]:
    """Modules that no module imports and no string names."""
    graph = grimp.build_graph("simonides")
    by_string = {module.removeprefix("simonides.") for module, _ in reached_by_string()}
    for module in graph.modules:
        path = f"{module.replace('.', '/')}.py"
        imported = graph.find_modules_that_directly_import(module) or module.endswith(".__main__")
        if not (SOURCE / path).is_file() or imported or allowed(path, module):
            continue
        if not any(module.endswith(f".{each}") for each in by_string):
            yield f"src/{path}: no module imports it"


def unused_names() -> Iterator[str]:
    """Names that vulture finds nowhere else."""
    reached = {name for _, name in reached_by_string()}
    search = Vulture(ignore_decorators=["@*.command", "@*.callback"])
    search.scavenge([str(ROOT / folder) for folder in CALLERS])
    for item in search.get_unused_code(min_confidence=60):
        path = item.filename.relative_to(ROOT).as_posix()
        if path.startswith("src/") and item.name not in reached and not allowed(path, item.name):
            yield f"{path}:{item.first_lineno}: nothing uses the {item.typ} {item.name}"


def unpassed_parameters() -> Iterator[str]:
    """Parameters with a default that no call of a function of that name gives.

    A function that is handed on as a value may be called with anything, so it is passed over.
    """
    calls: dict[str, list[ast.Call]] = defaultdict(list)
    handed_on: Counter[str] = Counter()
    functions: list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef, bool]] = []
    for path in (path for folder in CALLERS for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        nodes = list(ast.walk(tree))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Call) and (name := _name(node.func)):
                calls[name].append(node)
            elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
                handed_on[_name(node)] += 1
            elif path.is_relative_to(SOURCE) and isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef
            ):
                functions += [
                    (path, each, isinstance(node, ast.ClassDef))
                    for each in node.body
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                ]
    for path, function, method in functions:
        where = path.relative_to(ROOT).as_posix()
        if handed_on[function.name] or not calls[function.name] or allowed(where, function.name):
            continue
        for parameter, place in _optional(function, method=method):
            if not any(_gives(call, parameter, place) for call in calls[function.name]):
                yield f"{where}:{function.lineno}: no call of {function.name} gives {parameter}"


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _optional(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, method: bool
) -> Iterator[tuple[str, int | None]]:
    """Parameters with a default, and the place among the arguments of a call; ``None`` = by keyword only."""
    taken = [*function.args.posonlyargs, *function.args.args]
    bound = int(method and bool(taken) and taken[0].arg in {"self", "cls"})
    for place in range(len(taken) - len(function.args.defaults), len(taken)):
        yield taken[place].arg, place - bound
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, None


def _gives(call: ast.Call, parameter: str, place: int | None) -> bool:
    return (
        any(keyword.arg in {None, parameter} for keyword in call.keywords)
        or any(isinstance(argument, ast.Starred) for argument in call.args)
        or (place is not None and len(call.args) > place)
    )


if __name__ == "__main__":
    sys.exit(main())
