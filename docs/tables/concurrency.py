"""Recalls side by side and beside a writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tables.results import all_pages, measured_on

if TYPE_CHECKING:
    from pathlib import Path


def concurrency(results: Path) -> str:
    """Recalls side by side, beside a writer, and what a process more keeps."""
    (page,) = all_pages(results, "concurrency.json")
    result = page["result"]
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
        f"{loads['before']:.1f} before and {loads['after']:.1f} after. "
        f"{measured_on([page])}"
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
