"""What maintenance changes and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables.results import all_pages, measured_on, pages_by_data

if TYPE_CHECKING:
    from pathlib import Path


def maintained(results: Path) -> str:
    """Recall of the same conversations with and without maintenance."""
    pages = pages_by_data(results, "lifecycle")
    heads = ("other answers", "recall@10", "ndcg@10", "recall@10 gains", "95 %", "p (Holm)")
    lines = [f"| asked | maintained by | {' | '.join(heads)} |", "|---|---" + "|---:" * len(heads) + "|"]
    for _, _, page in pages:
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
    return "\n".join([*lines, "", measured_on(page for _, _, page in pages)])


def lasting(results: Path) -> str:
    """How long an unused episode lasts, beside how old what is asked for is."""
    pages = pages_by_data(results, "lifecycle")
    result = pages[0][2]["result"]
    ages = result["age_of_what_is_asked_days"]
    lines = ["| an unused episode is archived after days | user | assistant | tool, document | import |"]
    lines.append("|---|---:|---:|---:|---:|")
    for profile, days in result["lasting_days"].items():
        cells = [f"{days['episodic'][role]:.0f}" for role in ("user", "assistant", "tool", "import")]
        lines.append(f"| `{profile}` | {' | '.join(cells)} |")
    lines.append(
        f"\nA year after the conversations, what LoCoMo asks for is {ages['median']:.0f} days old at the "
        f"median and {ages['oldest']:.0f} at most."
    )
    return "\n".join(lines)


def year(results: Path) -> str:
    """What was checked in a simulated year."""
    (page,) = all_pages(results, "lifecycle-year.json")
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
    return "\n".join([*lines, "", measured_on([page])])
