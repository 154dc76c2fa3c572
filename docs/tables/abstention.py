"""How often an answer is rightly withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables.results import all_pages

if TYPE_CHECKING:
    from pathlib import Path


def abstention(results: Path) -> str:
    """The rates of the default profile as it is, and the curve of both rates by the threshold."""
    (page,) = all_pages(results, "abstention.json")
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
