"""What recalls and loads cost by the size of a bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tables.results import all_pages, measured_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def scale(results: Path) -> str:
    """Per profile its measures at each size, its stages, its intake and the peer beside it."""
    pages = all_pages(results, "scale-*-*.json")
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
    return "\n".join([*lines, measured_on(pages)])


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


def _scale_cell(cell: Callable[[dict[str, Any]], str], one: dict[str, Any]) -> str:
    """One cell; empty where that size was measured without it."""
    try:
        return cell(one)
    except (KeyError, TypeError):
        return ""


def codes(results: Path) -> str:
    """Per kind of codes its bytes, and at each size the cheapest setting that keeps enough."""
    (page,) = all_pages(results, "dense-codes.json")
    sizes = page["result"]
    heads = " | ".join(f"{size['n']:,}" for size in sizes)
    lines = [f"| codes | bytes | {heads} |", "|---|---:" + "|---:" * len(sizes) + "|"]
    for kind, said in _CODES.items():
        mine = [[line for line in size["kinds"] if line["kind"] == kind] for size in sizes]
        if any(mine):
            room = max(line["bytes_per_vector"] for lines_of in mine for line in lines_of)
            cells = " | ".join(_codes_cell(found) for found in mine)
            lines.append(f"| {said} | {room:.0f} | {cells} |")
    return "\n".join([*lines, "", measured_on([page], "dense-codes.json")])


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
