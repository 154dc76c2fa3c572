"""Write what can be read off the program and its results: command line, MCP tools, the README's numbers.

``--check`` only tells whether they are current. The reference is built from the parsed commands, not from the
help screen, so that the width of a terminal and the version of the help renderer change nothing. The numbers
come from bench/results/, which ``make bench`` writes.
"""

from __future__ import annotations

import argparse
import enum
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.main

from simonides.surfaces.cli.main import app
from simonides.surfaces.mcp.compat import SYSTEMS, tools_for
from simonides.surfaces.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.surfaces.mcp.tools import Tool

PAGE = Path(__file__).parent / "reference" / "cli.md"
MCP_PAGE = PAGE.with_name("mcp.md")
ABSTENTION = Path(__file__).parent / "guide" / "abstention.md"
README = Path(__file__).parents[1] / "README.md"
RESULTS = README.parent / "bench" / "results"
PROGRAM = "simonides"

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
MEASURES = ("recall@5", "recall@10", "ndcg@10", "all@10")
NAMES = {"locomo": "LoCoMo", "musique": "MuSiQue"}

HEAD = f"""\
<!-- Written by `make docs`; edits here are lost. -->

# Command line reference

How to use it: [the guide](../guide/cli.md). `{PROGRAM} COMMAND --help` shows the same in a terminal.
"""


MCP_HEAD = """\
<!-- Written by `make docs`; edits here are lost. -->

# MCP reference

How to use it: [the guide](../guide/mcp.md). Parameters in bold must be given.
"""


def main() -> int:
    """Write the pages, or with ``--check`` compare them; 1 means that one is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a page is out of date"
    )
    check = parser.parse_args().check

    pages = {
        PAGE: "\n".join([HEAD, *_command(typer.main.get_command(app), PROGRAM)]),
        MCP_PAGE: mcp_page(),
        README: _with_table(README.read_text(encoding="utf-8"), _measured(RESULTS)),
        ABSTENTION: _with_table(ABSTENTION.read_text(encoding="utf-8"), _abstention(RESULTS)),
    }
    stale = [page for page, text in pages.items() if not _says(page, text)]
    if not check:
        for page in stale:
            page.parent.mkdir(exist_ok=True)
            page.write_text(pages[page], encoding="utf-8")
        return 0
    for page in stale:
        print(f"{page.name} is out of date; run `make docs` and commit the result", file=sys.stderr)
    return 1 if stale else 0


def _says(page: Path, text: str) -> bool:
    return page.is_file() and page.read_text(encoding="utf-8") == text


def _with_table(page: str, table: str) -> str:
    """*page* with the table between the two marks replaced by *table*."""
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def _measured(results: Path) -> str:
    lines = [f"| data | profile | questions | {' | '.join(MEASURES)} |", "|---" * (3 + len(MEASURES)) + "|"]
    runs: list[dict[str, Any]] = []
    for file in sorted(results.glob("quality-*.json")):
        page = json.loads(file.read_text(encoding="utf-8"))
        result = page["result"]
        runs.append(page["run"])
        values = " | ".join(f"{result['metrics'][measure]:.3f}" for measure in MEASURES)
        name = NAMES.get(result["dataset"], result["dataset"])
        lines.append(f"| {name} | `{result['profile']}` | {result['questions']} | {values} |")
    dates = sorted({run["date"] for run in runs})
    commits = sorted({run["commit"][:12] for run in runs})
    lines.append(f"\nMeasured on {' and '.join(dates)} at {', '.join(commits)}: `bench/results/`.")
    return "\n".join(lines)


def _abstention(results: Path) -> str:
    """The rates of the default profile as it is, and the curve of both rates by the threshold."""
    file = results / "abstention.json"
    if not file.is_file():
        return "Not measured."
    page = json.loads(file.read_text(encoding="utf-8"))
    run, result = page["run"], page["result"]
    lines = ["| questions | how many | with vectors | by words alone |", "|---|---:|---:|---:|"]
    for which, rate in (("answerable", "lost"), ("unanswerable", "false")):
        for kind, count in result["questions"].items():
            if (kind in result["answerable"]) is (which == "answerable"):
                cells = [f"{result['measured'][how][rate][kind]:.1%}" for how in ("meaning", "words")]
                lines.append(f"| {which}: {kind} | {count} | {' | '.join(f'{rate} {c}' for c in cells)} |")
    for name, curve in (("least", "curve"), ("least_coverage", "curve_words")):
        lines += [
            "",
            f"| `{name}` | lost answers | false answers | category 5 | |",
            "|---:|---:|---:|---:|---|",
        ]
        for row in result[curve]:
            lost, false, hard = row["lost"]["all"], row["false"]["all"], row["false"].get("adversarial", 0.0)
            bar = "█" * round(20 * false) + "░" * round(20 * lost)
            lines.append(f"| {row[name]:.2f} | {lost:.1%} | {false:.1%} | {hard:.1%} | {bar} |")
    lines.append(f"\nBars: █ false, ░ lost, 5 % each. Measured on {run['date']} at {run['commit'][:12]}.")
    return "\n".join(lines)


# The command classes belong to typer or to click, depending on typer's version: hence Any.
def _command(command: Any, path: str) -> Iterator[str]:
    parameters = [p for p in command.params if not p.__dict__.get("hidden") and p.name != "help"]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option"]
    subcommands = [c for _, c in sorted(getattr(command, "commands", {}).items()) if not c.hidden]

    yield f"## `{path}`\n"
    for text in filter(None, (command.help, command.epilog)):
        yield f"{_one_spaced(text)}\n"
    usage = [path, "[OPTIONS]", *map(_placeholder, arguments)] + ["COMMAND …"] * bool(subcommands)
    yield f"```console\n$ {' '.join(usage)}\n```\n"
    yield from _table("Argument", [(f"`{_placeholder(p)}`", p) for p in arguments])
    yield from _table("Option", [(_spelling(p), p) for p in options])
    for subcommand in subcommands:
        yield from _command(subcommand, f"{path} {subcommand.name}")


def _table(heading: str, rows: list[tuple[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {heading} | Meaning | Default |\n|---|---|---|"
    for name, parameter in rows:
        cells = [name, _one_spaced(parameter.help or ""), _default(parameter)]
        yield " | ".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]).strip()
    yield ""


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper()).strip("[]")
    repeated = f"{name}…" if argument.nargs == -1 else name
    return repeated if argument.required else f"[{repeated}]"


def _spelling(option: Any) -> str:
    spellings = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return spellings
    return f"{spellings} `{option.metavar or option.name.upper()}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    parts = [f"`${parameter.envvar}`"] if parameter.envvar else []
    value = parameter.default.value if isinstance(parameter.default, enum.Enum) else parameter.default
    if isinstance(parameter.show_default, str):
        parts.append(parameter.show_default)
    # A flag's default says nothing, and one that is computed could differ between machines.
    elif parameter.show_default and _plain(value):
        parts.append(f"`{value}`")
    return ", else ".join(parts)


def _plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def mcp_page() -> str:
    """The whole page."""
    return "\n".join([MCP_HEAD, *_mcp_tools(), *_mcp_aliases()]) + "\n"


def _mcp_tools() -> Iterator[str]:
    for tool in TOOLS.values():
        yield f"## {tool.name}\n"
        yield f"{tool.description}\n"
        yield f"*{_mcp_hints(tool)}*\n"
        schema = tool.schema
        if schema["properties"]:
            yield "| parameter | default | |\n|---|---|---|"
        for name, each in schema["properties"].items():
            shown = f"**{name}**" if name in schema["required"] else name
            default = f"`{each['default']}`" if "default" in each else ""
            yield f"| {shown} | {default} | {each.get('description', '')} |"
        yield ""


def _mcp_hints(tool: Tool) -> str:
    operation = tool.operation
    words = ["writes" if operation.changes else "reads only"]
    words += ["destructive"] if operation.destructive else []
    words += ["the same twice is the same once"] if operation.changes and operation.idempotent else []
    return "; ".join([*words, f"needs the verb {operation.verb}"])


def _mcp_aliases() -> Iterator[str]:
    yield "## Aliases\n"
    yield "With `--compat`; every parameter is also taken in camelCase.\n"
    yield "| system | tool | does | other spellings |\n|---|---|---|---|"
    for system in SYSTEMS:
        for name, tool in tools_for(system).items():
            spelt = {
                theirs: ours for theirs, ours in tool.spellings.items() if theirs.islower() or "_" in theirs
            }
            if name not in TOOLS or spelt:
                words = ", ".join(f"`{theirs}` = {ours}" for theirs, ours in spelt.items())
                yield f"| {system} | `{name}` | {tool.operation.name} | {words} |"


def _one_spaced(text: str) -> str:
    """Paragraphs kept, line breaks within a paragraph joined."""
    paragraphs = text.replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


if __name__ == "__main__":
    sys.exit(main())
