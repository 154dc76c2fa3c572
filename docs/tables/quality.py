"""How well recalls find what is asked for: profiles, stages left out, other systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tables.results import MEASURES, NAMES, all_pages, measured_on, pages_by_data


def headline(results: Path) -> str:
    """``default`` beside words alone, on every data set."""
    return measured(results, ("default", "lexical"))


def measured(results: Path, profiles: tuple[str, ...] = ()) -> str:
    """Some profiles, or every one, on every data set."""
    lines = [f"| data | profile | questions | {' | '.join(MEASURES)} |", "|---" * (3 + len(MEASURES)) + "|"]
    pages = all_pages(results, "quality-*.json")
    for page in pages:
        result = page["result"]
        if profiles and result["profile"] not in profiles:
            continue
        values = " | ".join(f"{result['metrics'][measure]:.3f}" for measure in MEASURES)
        name = NAMES.get(result["dataset"], result["dataset"])
        lines.append(f"| {name} | `{result['profile']}` | {result['questions']} | {values} |")
    return "\n".join([*lines, "", measured_on(pages)])


def compared(results: Path) -> str:
    """How surely ``default`` is better than each other profile."""
    pages = pages_by_data(results, "compare")
    lines = [
        "| data | `default` beside | measure | ours is better by | 95 % | p (Holm) |",
        "|---|---|---|---:|---|---:|",
    ]
    for _, data, page in pages:
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
    return "\n".join([*lines, "", measured_on(page for _, _, page in pages)])


def ablation(results: Path) -> str:
    """``default`` with each stage left out, below the rows that make it believable."""
    pages = pages_by_data(results, "ablation")
    lines: list[str] = []
    for _, data, page in pages:
        result = page["result"]
        lines += [f"| {NAMES[data]} | {' | '.join(MEASURES)} |", "|---" + "|---:" * len(MEASURES) + "|"]
        for name, values in result["rows"].items():
            lines.append(f"| {name} | {' | '.join(f'{values[measure]:.3f}' for measure in MEASURES)} |")
        lines += [f"| {name} | cannot run {'|' * len(MEASURES)}" for name in result["refused"]]
        lines.append("")
    return "\n".join([*lines, measured_on(page for _, _, page in pages)])


def variants(results: Path) -> str:
    """Among distractors, and with learned sparse weights."""
    titles = {"distractors": "among 10,000 distractors", "sparse": "with learned sparse weights"}
    pages = pages_by_data(results, *titles)
    heads = [*MEASURES, "CPU per recall, p50", "p95"]
    lines = [f"| data | profile | {' | '.join(heads)} |", "|---|---" + "|---:" * len(heads) + "|"]
    for name, data, page in pages:
        for result in page["result"].values():
            spent = result["recall_cpu_ms"]
            cells = [f"{result['metrics'][measure]:.3f}" for measure in MEASURES]
            cells += [f"{spent['p50']:.1f} ms", f"{spent['p95']:.1f} ms"]
            profile = Path(result["profile"]).stem
            lines.append(f"| {NAMES[data]} | `{profile}`, {titles[name]} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", measured_on(page for _, _, page in pages)])


def peers(results: Path) -> str:
    """Per data set every system, best first, and how surely the first of ours is better."""
    pages = all_pages(results, "peers-*-*.json")
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
    return "\n".join([*lines, "", measured_on(pages)])


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
