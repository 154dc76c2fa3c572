"""How well the probabilities of the default profile hold, and what it gives by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tables.results import all_pages, measured_on

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {
    "all": "all",
    "locomo": "LoCoMo",
    "musique": "MuSiQue",
    "facts": "small banks",
    "short": "short facts",
    "chat": "chats",
}
GIVEN = ("precision", "recall", "hits", "tokens", "nothing")


def relevance(results: Path) -> str:
    """Calibration by data set, what confidence tells apart, and what is given, with vectors and by words.

    Without ``relevance-words.json`` the columns of words hold a dash.
    """
    (page,) = all_pages(results, "relevance.json")
    words = [json.loads(file.read_text("utf-8")) for file in results.glob("relevance-words.json")]
    both = (page["result"], words[0]["result"] if words else None)
    lines = [*_calibration(both), "", *_areas(both), "", *_given(page["result"])]
    return "\n".join([*lines, "", measured_on((page, *words))])


def saved(results: Path) -> str:
    """By data set, what each precision puts into the context of a question that has an answer."""
    (page,) = all_pages(results, "relevance.json")
    lines = [
        "| data set | `precision` | tokens a question | saved | recall | precision | hits |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for part, levels in page["result"]["precision"].items():
        whole = levels["wide"]["answerable"]["tokens"]
        for level in ("wide", "balanced", "high"):
            row = levels[level]["answerable"]
            share = f"{1 - row['tokens'] / whole:.0%}" if whole and level != "wide" else ""
            cells = [f"{row['tokens']:.0f}", share]
            cells += [_cell(each, row[each]) for each in ("recall", "precision", "hits")]
            lines.append(f"| {NAMES.get(part, part)} | `{level}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", measured_on((page,))])


def among(results: Path) -> str:
    """What is told in banks of 40 facts among many other memories."""
    (page,) = all_pages(results, "among.json")
    lines = [
        "| others | refused | precision | recall | hits | near miss as a match | off topic as a match |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in page["result"]:
        cells = [f"{row['others']:,}", *(f"{row[each]:.1%}" for each in ("refused", "precision", "recall"))]
        cells += [f"{row['hits']:.1f}"]
        cells += [f"{row[each]:.1%}" for each in ("near-miss as a match", "off-topic as a match")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", measured_on((page,))])


def _calibration(both: tuple[dict[str, Any], dict[str, Any] | None]) -> list[str]:
    lines = [
        "| data set | questions | error of relevance | of confidence | by words: relevance | confidence |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    fitted = both[0]["fitted_on"]
    for name in both[0]["calibration"]["relevance"]:
        cells = [
            f"{each['calibration'][of][name]['error']:.3f}" if each else "–"
            for each in both
            for of in ("relevance", "confidence")
        ]
        count = both[0]["calibration"]["confidence"][name]["n"]
        shown = f"{NAMES.get(name, name)}{' (fitted on)' * (name in fitted)}"
        lines.append(f"| {shown} | {count:,} | {' | '.join(cells)} |")
    return lines


def _areas(both: tuple[dict[str, Any], dict[str, Any] | None]) -> list[str]:
    lines = ["| answerable against | questions | AUC | by words |", "|---|---:|---:|---:|"]
    counts = {k: n for k, n in both[0]["questions"].items() if k not in both[0]["answerable"]}
    for kind in both[0]["auc"]:
        count = counts.get(kind, sum(n for k, n in counts.items() if k != "adversarial"))
        areas = [each["auc"].get(kind) if each else None for each in both]
        cells = ["–" if area is None else f"{area:.3f}" for area in areas]
        lines.append(f"| {kind} | {count:,} | {' | '.join(cells)} |")
    return lines


def _given(result: dict[str, Any]) -> list[str]:
    lines = [
        "| asked with | questions | precision | recall | hits | tokens | nothing given |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    rows = [(f'`precision="{name}"`', row) for name, row in result["precision"]["all"].items()]
    rows += [(f"`min_relevance={row['min_relevance']:g}`, wide", row) for row in result["min_relevance"]]
    for name, row in rows:
        for kind in ("answerable", "unanswerable", "adversarial"):
            if kind in row:
                cells = (_cell(each, row[kind].get(each)) for each in GIVEN)
                lines.append(f"| {name} | {kind} | {' | '.join(cells)} |")
    return lines


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return (
        f"{value:.1%}"
        if name == "nothing"
        else f"{value:.1f}"
        if name in {"hits", "tokens"}
        else f"{value:.3f}"
    )
