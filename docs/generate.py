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
    from collections.abc import Callable, Iterator

    from simonides.surfaces.mcp.tools import Tool

PAGE = Path(__file__).parent / "reference" / "cli.md"
MCP_PAGE = PAGE.with_name("mcp.md")
ABSTENTION = Path(__file__).parent / "guide" / "abstention.md"
QUALITY = Path(__file__).parent / "guide" / "quality.md"
MAINTENANCE = Path(__file__).parent / "guide" / "maintenance.md"
SCALE = QUALITY.with_name("scale.md")
README = Path(__file__).parents[1] / "README.md"
RESULTS = README.parent / "bench" / "results"
PROGRAM = "simonides"

MEASURED, PEERS, COMPARED, ABLATION, VARIANTS = "measured", "peers", "compared", "ablation", "variants"
MAINTAINED, LASTING, YEAR = "maintained", "lasting", "year"
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
        QUALITY: _quality(QUALITY.read_text(encoding="utf-8"), RESULTS),
        MAINTENANCE: _maintenance(MAINTENANCE.read_text(encoding="utf-8"), RESULTS),
        SCALE: _scale_page(SCALE.read_text(encoding="utf-8"), RESULTS),
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


def _with_table(page: str, table: str, name: str = MEASURED) -> str:
    """*page* with the table between the two marks of that name replaced by *table*."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = page.split(begin, 1)
    after = rest.split(end, 1)[1]
    return f"{before}{begin}\n{table}\n{end}{after}"


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


def _quality(page: str, results: Path) -> str:
    """The guide to quality with all its tables."""
    page = _with_table(page, _compared(results), COMPARED)
    page = _with_table(page, _ablation(results), ABLATION)
    page = _with_table(page, _variants(results), VARIANTS)
    return _with_table(page, _peers(results), PEERS)


def _pages(results: Path, name: str) -> list[tuple[str, dict[str, Any]]]:
    """What was written under *name*, by data set."""
    found = [(data, results / f"{name}-{data}.json") for data in NAMES]
    return [(data, json.loads(file.read_text("utf-8"))) for data, file in found if file.is_file()]


def _measured_on(pages: list[tuple[str, dict[str, Any]]]) -> str:
    dates = sorted({page["run"]["date"] for _, page in pages})
    commits = sorted({page["run"]["commit"][:12] for _, page in pages})
    return f"\nMeasured on {' and '.join(dates)} at {', '.join(commits)}: `bench/results/`."


def _compared(results: Path) -> str:
    """How surely ``default`` is better than each other profile."""
    pages = _pages(results, "compare")
    if not pages:
        return "Not measured."
    lines = [
        "| data | `default` beside | measure | ours is better by | 95 % | p (Holm) |",
        "|---|---|---|---:|---|---:|",
    ]
    for data, page in pages:
        for row in page["result"]["overall"]:
            if row["measure"] in {"recall@10", "ndcg@10"}:
                span = f"{-row['high']:+.3f} to {-row['low']:+.3f}"
                cells = [
                    NAMES[data],
                    f"`{row['second']}`",
                    row["measure"],
                    f"{-row['difference']:+.3f}",
                    span,
                ]
                lines.append(f"| {' | '.join(cells)} | {row['p_holm']:.4f} |")
    return "\n".join([*lines, _measured_on(pages)])


def _ablation(results: Path) -> str:
    """``default`` with each stage left out, below the rows that make it believable."""
    pages = _pages(results, "ablation")
    if not pages:
        return "Not measured."
    lines: list[str] = []
    for data, page in pages:
        result = page["result"]
        lines += [f"| {NAMES[data]} | {' | '.join(MEASURES)} |", "|---" + "|---:" * len(MEASURES) + "|"]
        for name, values in result["rows"].items():
            lines.append(f"| {name} | {' | '.join(f'{values[measure]:.3f}' for measure in MEASURES)} |")
        lines += [f"| {name} | cannot run {'|' * len(MEASURES)}" for name in result["refused"]]
        lines.append("")
    return "\n".join([*lines[:-1], _measured_on(pages)])


def _variants(results: Path) -> str:
    """Among distractors, and with learned sparse weights."""
    titles = {"distractors": "among 10,000 distractors", "sparse": "with learned sparse weights"}
    pages = [(name, *each) for name in titles for each in _pages(results, name)]
    if not pages:
        return "Not measured."
    heads = [*MEASURES, "CPU per recall, p50", "p95"]
    lines = [f"| data | profile | {' | '.join(heads)} |", "|---|---" + "|---:" * len(heads) + "|"]
    for name, data, page in pages:
        for result in page["result"].values():
            spent = result["recall_cpu_ms"]
            cells = [f"{result['metrics'][measure]:.3f}" for measure in MEASURES]
            cells += [f"{spent['p50']:.1f} ms", f"{spent['p95']:.1f} ms"]
            profile = Path(result["profile"]).stem
            lines.append(f"| {NAMES[data]} | `{profile}`, {titles[name]} | {' | '.join(cells)} |")
    return "\n".join([*lines, _measured_on([(data, page) for _, data, page in pages])])


def _maintenance(page: str, results: Path) -> str:
    """The guide to maintenance with all its tables."""
    page = _with_table(page, _maintained(results), MAINTAINED)
    page = _with_table(page, _lasting(results), LASTING)
    return _with_table(page, _year(results), YEAR)


def _maintained(results: Path) -> str:
    """Recall of the same conversations with and without maintenance."""
    pages = _pages(results, "lifecycle")
    if not pages:
        return "Not measured."
    heads = ("other answers", "recall@10", "ndcg@10", "recall@10 gains", "95 %", "p (Holm)")
    lines = [f"| asked | maintained by | {' | '.join(heads)} |", "|---|---" + "|---:" * len(heads) + "|"]
    for _, page in pages:
        for group in page["result"]["groups"]:
            asked = f"{'told again, ' if group['told_again'] else ''}{group['moment']}"
            gains = {row["second"]: row for row in group["overall"] if row["measure"] == "recall@10"}
            for system, values in group["rows"].items():
                cells = [f"{values[measure]:.3f}" for measure in ("recall@10", "ndcg@10")]
                cells = [str(group["differing_answers"].get(system, "")), *cells]
                row = gains.get(system)
                cells += (
                    [
                        f"{row['difference']:+.3f}",
                        f"{row['low']:+.3f} to {row['high']:+.3f}",
                        f"{row['p_holm']:.4f}",
                    ]
                    if row
                    else ["", "", ""]
                )
                name = "nothing" if row is None else system
                lines.append(f"| {asked} | {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, _measured_on(pages)])


def _lasting(results: Path) -> str:
    """How long an unused episode lasts, beside how old what is asked for is."""
    pages = _pages(results, "lifecycle")
    if not pages:
        return "Not measured."
    result = pages[0][1]["result"]
    ages = result["age_of_what_is_asked_days"]
    lines = ["| an unused episode is put away after days | user | assistant | tool, document | import |"]
    lines.append("|---|---:|---:|---:|---:|")
    for profile, days in result["lasting_days"].items():
        cells = [f"{days['episodic'][role]:.0f}" for role in ("user", "assistant", "tool", "import")]
        lines.append(f"| `{profile}` | {' | '.join(cells)} |")
    lines.append(
        f"\nA year after the conversations, what LoCoMo asks for is {ages['median']:.0f} days old at the "
        f"median and {ages['oldest']:.0f} at most."
    )
    return "\n".join(lines)


def _year(results: Path) -> str:
    """What was checked in a simulated year."""
    file = results / "lifecycle-year.json"
    if not file.is_file():
        return "Not measured."
    page = json.loads(file.read_text(encoding="utf-8"))
    year, alike = page["result"]["year"], page["result"]["alike"]
    counts = year["whole"]
    steps = sum(count for name, count in counts.items() if name.startswith("step: "))
    lines = ["| checked in a simulated year | how often |", "|---|---:|"]
    for name, count in (
        ("events: moves, repetitions, small talk, uses, pins, forgets", year["events"]),
        ("steps of maintenance", steps),
        ("what somebody's current town is, every week", counts["current facts"]),
        ("the same as of every earlier week", counts["facts as of earlier weeks"]),
        ("answers as of earlier weeks, before and after maintenance", counts["as-of answers"]),
        ("a second run changes nothing", counts["second runs"]),
        ("runs cut off in the year lived again, which ended the same", year["killed"]["kills"]),
        ("faults", len(year["faults"])),
    ):
        lines.append(f"| {name} | {count:,} |")
    lines += ["", "| one run over memories that say | memories | observations | CPU | memory |"]
    lines.append("|---|---:|---:|---:|---:|")
    lines += [
        f"| {name} | {each['memories']:,} | {each['steps']} | {each['cpu_seconds']:.1f} s "
        f"| +{each['peak_growth_mb']:.0f} MB |"
        for name, found in alike.items()
        for each in found
    ]
    run = page["run"]
    lines.append(f"\nMeasured on {run['date']} at {run['commit'][:12]}: `bench/results/`.")
    return "\n".join(lines)


def _scale_page(page: str, results: Path) -> str:
    """The page about size, with its tables."""
    tables = {"scale": _scale, "codes": _codes, "concurrency": _concurrency}
    for name, table in tables.items():
        page = _with_table(page, table(results), name)
    return page


def _concurrency(results: Path) -> str:
    """Recalls side by side, beside a writer, and what a process more keeps."""
    file = results / "concurrency.json"
    if not file.is_file():
        return "Not measured."
    page = json.loads(file.read_text(encoding="utf-8"))
    run, result = page["run"], page["result"]
    lines = []
    for sort, found in result["scaling"].items():
        lines += [f"| {sort} | {' | '.join(found)} |", "|---" + "|---:" * len(found) + "|"]
        for name, key, digits in (
            ("recalls per second", "per_second", 1),
            ("by one", "by_one", 2),
            ("CPU of a recall, by one", "cpu_ms_by_one", 2),
        ):
            lines.append(f"| {name} | {' | '.join(f'{one[key]:.{digits}f}' for one in found.values())} |")
        lines.append("")
    lines += _beside(result["beside"])
    lines += _process_memory(result["memory_mb"])
    loads = result["load_average"]
    lines.append(
        f"`{result['profile']}`, {result['n']:,} memories, {result['cores']} cores, load average "
        f"{loads['before']:.1f} before and {loads['after']:.1f} after. Measured on {run['date']} at "
        f"{run['commit'][:12]}: `bench/results/`."
    )
    return "\n".join(lines)


def _beside(found: dict[str, Any]) -> list[str]:
    lines = [
        (
            "| one reader beside | written per second | wall ms p50 / p95, alone | beside | p95 by alone "
            "| CPU ms p95, alone | beside | p95 by alone |"
        ),
        "|---" + "|---:" * 7 + "|",
    ]
    names = {"retain": "a writer that retains", "load": "a writer that loads and merges"}
    for sort, one in found.items():
        alone, beside = one["alone"], one["beside"]
        lines.append(
            f"| {names[sort]} | {one['written_per_second']:.1f} "
            f"| {alone['wall_p50_ms']:.0f} / {alone['wall_p95_ms']:.0f} "
            f"| {beside['wall_p50_ms']:.0f} / {beside['wall_p95_ms']:.0f} | {one['wall_p95_ratio']:.2f} "
            f"| {alone['cpu_p95_ms']:.1f} | {beside['cpu_p95_ms']:.1f} | {one['cpu_p95_ratio']:.2f} |"
        )
    return [*lines, ""]


def _process_memory(found: dict[str, Any]) -> list[str]:
    lines = ["| MB of each process | its share of all | its own alone | of these, of no file |"]
    lines.append("|---" + "|---:" * 3 + "|")
    shown = {"one, with an empty bank": found["empty"]}
    shown |= {f"of {number}": one for number, one in found["each_of"].items()}
    for name, one in shown.items():
        cells = " | ".join(f"{one[key]:.0f}" for key in ("pss", "private", "anonymous"))
        lines.append(f"| {name} | {cells} |")
    return [*lines, ""]


def _scale(results: Path) -> str:
    """Per profile its measures at each size, its stages, its intake and the peer beside it."""
    pages = [json.loads(file.read_text("utf-8")) for file in sorted(results.glob("scale-*-*.json"))]
    if not pages:
        return "Not measured."
    pages.sort(key=lambda page: (page["result"]["profile"] != "helix", page["result"]["n"]))
    lines: list[str] = []
    for profile in dict.fromkeys(page["result"]["profile"] for page in pages):
        found = [page["result"] for page in pages if page["result"]["profile"] == profile]
        heads = " | ".join(f"{one['n']:,}" for one in found)
        lines += [f"| `{profile}` | {heads} |", "|---" + "|---:" * len(found) + "|"]
        for name, cell in _SCALE_ROWS.items():
            lines.append(f"| {name} | {' | '.join(_scale_cell(cell, one) for one in found)} |")
        for stage in found[0]["stages"]:
            cells = [one["stages"].get(stage, {"cpu_p50": 0.0, "cpu_p95": 0.0}) for one in found]
            times = " | ".join(f"{cell['cpu_p50']:.1f} / {cell['cpu_p95']:.1f}" for cell in cells)
            lines.append(f"| {stage}, CPU ms p50 / p95 | {times} |")
        lines.append("")
    dates = sorted({page["run"]["date"] for page in pages})
    commits = sorted({page["run"]["commit"][:12] for page in pages})
    return "\n".join(
        [*lines, f"Measured on {' and '.join(dates)} at {', '.join(commits)}: `bench/results/`."]
    )


def _codes(results: Path) -> str:
    """Per kind of codes its bytes, and at each size the cheapest setting that keeps enough."""
    file = results / "dense-codes.json"
    if not file.is_file():
        return "Not measured."
    page = json.loads(file.read_text(encoding="utf-8"))
    sizes = page["result"]
    heads = " | ".join(f"{size['n']:,}" for size in sizes)
    lines = [f"| codes | bytes | {heads} |", "|---|---:" + "|---:" * len(sizes) + "|"]
    for kind, said in _CODES.items():
        mine = [[line for line in size["kinds"] if line["kind"] == kind] for size in sizes]
        if any(mine):
            room = max(line["bytes_per_vector"] for lines_of in mine for line in lines_of)
            cells = " | ".join(_codes_cell(found) for found in mine)
            lines.append(f"| {said} | {room:.0f} | {cells} |")
    run = page["run"]
    return "\n".join(
        [*lines, "", f"Measured on {run['date']} at {run['commit'][:12]}: `bench/results/dense-codes.json`."]
    )


def _codes_cell(found: list[dict[str, Any]]) -> str:
    """CPU ms and candidates of the cheapest that keeps 98 %, or what the dearest keeps."""
    if not found:
        return ""
    enough = [line for line in found if line["recall_of_candidates"] >= 0.98]
    if not enough:
        return f"keeps {max(line['recall_of_candidates'] for line in found):.3f}"
    best = min(enough, key=lambda line: (line["cpu_ms"]["p50"], line["candidates"]))
    return f"{best['cpu_ms']['p50']:.1f} ms, {best['candidates']:,}: {best['recall_of_candidates']:.3f}"


_CODES = {
    "hamming": "1 bit, differing signs counted (ours)",
    "asymmetric": "1 bit, weighted by a query of 4 bits",
    "asymmetric_rotated": "the same after a random rotation, with a factor per row",
    "two_bits": "2 bits, query of 2 bits",
    "staged": "1 bit counted, then the best weighted",
    "prefix": "half the dimensions counted, then the best by all",
    "turbovec_2": "`turbovec`, 2 bits",
    "turbovec_4": "`turbovec`, 4 bits",
    "turbovec_2_blocks": "`turbovec`, 2 bits, an index per block of 65,536",
}


def _scale_cell(cell: Callable[[dict[str, Any]], str], one: dict[str, Any]) -> str:
    """One cell; empty where that size was measured without it."""
    try:
        return cell(one)
    except (KeyError, TypeError):
        return ""


_SCALE_ROWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "CPU ms p50 / p95 / p99": lambda one: " / ".join(
        f"{one['cpu_ms'][p]:.1f}" for p in ("p50", "p95", "p99")
    ),
    "budget, CPU ms p95": lambda one: f"{one['budgets']['cpu_p95_ms']:.0f}",
    "wall ms p50 / p95": lambda one: f"{one['wall_ms']['p50']:.0f} / {one['wall_ms']['p95']:.0f}",
    "load average": lambda one: f"{one['load_average']:.1f}",
    "encoder beside it, CPU ms p50 / p95": lambda one: (
        f"{one['encoder_cpu_ms']['p50']:.1f} / {one['encoder_cpu_ms']['p95']:.1f}"
    ),
    "agreement with exact, recall@100": lambda one: f"{one['dense_recall_at_100']:.3f}",
    "a plain 1-bit scan on these vectors": lambda one: f"{one['plain_scan_recall_at_100']:.3f}",
    "queries with fewer than they asked for": lambda one: f"{one['fewer_than_asked']}",
    "private memory, growth MB": lambda one: f"{one['private_growth_mb']:.0f}",
    "mapped MB": lambda one: f"{one['mapped_mb']:.0f}",
    "derived bytes per memory that helix reads": lambda one: (
        f"{one['derived_bytes_per_memory']['helix']:,.0f}"
    ),
    "derived bytes per memory, all": lambda one: f"{one['derived_bytes_per_memory']['all']:,.0f}",
    "bytes on disk per memory": lambda one: f"{one['disk_bytes_per_memory']:,.0f}",
    "open, ms CPU / wall": lambda one: f"{one['cold_open_cpu_ms']:.0f} / {one['cold_open_ms']:.0f}",
    "first recall after it, ms CPU": lambda one: f"{one['first_recall_cpu_ms']:.0f}",
    "`simonides recall` from cold, s CPU": lambda one: f"{one['cold_command_cpu_ms'] / 1000:.2f}",
    "loaded per second / per CPU-second": lambda one: (
        f"{one['intake']['rows_per_second']:,.0f} / {one['intake']['rows_per_cpu_second']:,.0f}"
    ),
    "bytes written for each that stays": lambda one: f"{one['intake']['write_amplification']:.1f}",
    "settled per CPU-second: names / links": lambda one: (
        f"{one['settle']['read_per_cpu_second']:,.0f} / {one['settle']['link_per_cpu_second']:,.0f}"
    ),
    "FTS5 + sqlite-vec, cheapest: CPU by ours (its agreement)": lambda one: (
        f"{one['against']['cheapest']['cpu_ratio']:.1f} ({one['against']['cheapest']['recall_at_100']:.2f})"
    ),
    "FTS5 + sqlite-vec, rescored: CPU by ours (its agreement)": lambda one: (
        f"{one['against']['rescored']['cpu_ratio']:.1f} ({one['against']['rescored']['recall_at_100']:.2f})"
    ),
}


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


def _peers(results: Path) -> str:
    """Per data set every system, best first, and how surely the first of ours is better."""
    pages = [json.loads(file.read_text("utf-8")) for file in sorted(results.glob("peers-*-*.json"))]
    if not pages:
        return "Not measured."
    significance = results / "peers-significance.json"
    compared = json.loads(significance.read_text("utf-8"))["result"] if significance.is_file() else {}
    lines: list[str] = []
    for dataset in sorted({page["result"]["dataset"] for page in pages}):
        found = [page["result"] for page in pages if page["result"]["dataset"] == dataset]
        measured = [result for result in found if "metrics" in result]
        measured.sort(key=lambda result: (-result["metrics"]["recall@10"], result["system"]))
        surely = {
            row["against"]: row
            for row in compared.get(dataset, {}).get("simonides", [])
            if row["measure"] == "recall@10"
        }
        lines += [
            f"| {NAMES.get(dataset, dataset)} | version | {' | '.join(MEASURES)} | ours is better by | p |",
            "|---|---" + "|---:" * len(MEASURES) + "|---|---|",
        ]
        lines += [_peer_row(result, surely.get(result["system"])) for result in measured]
        lines += [
            f"| {r['title']} | {r['version']} | not measured: {r['unavailable']} {'|' * 6}"
            for r in found
            if "metrics" not in r
        ]
        lines.append("")
    notes = {page["result"]["title"]: page["result"]["note"] for page in pages}
    lines += ["| system | what it was given |", "|---|---|"]
    lines += [f"| {title} | {note} |" for title, note in sorted(notes.items())]
    dates = sorted({page["run"]["date"] for page in pages})
    commits = sorted({page["run"]["commit"][:12] for page in pages})
    lines.append(f"\nMeasured on {' and '.join(dates)} at {', '.join(commits)}: `bench/results/`.")
    return "\n".join(lines)


def _peer_row(result: dict[str, Any], surely: dict[str, Any] | None) -> str:
    """A system's measures, and our gain in recall@10 over it with its interval and adjusted p."""
    values = " | ".join(f"{result['metrics'][measure]:.3f}" for measure in MEASURES)
    gain = ("", "")
    if surely:
        gain = (
            f"{surely['difference']:+.3f} ({surely['low']:+.3f} to {surely['high']:+.3f})",
            f"{surely['p_holm']:.4f}",
        )
    return f"| {result['title']} | {result['version']} | {values} | {gain[0]} | {gain[1]} |"


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
