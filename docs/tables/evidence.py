"""Whether evidence is whole in the context, and in which sessions it is found, beside published figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tables.results import NAMES, measured_on, pages_by_data

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BUDGETS = ("250", "500", "1000", "2000")
SESSIONS = ("recall@5", "recall@10", "any@5", "all@5", "all@10", "mrr")
OURS = ("default", "default-no-embedder")
SETS = {
    "1-5": "5 conversations, categories 1–5",
    "1-4": "5 conversations, categories 1–4",
}
"""What was measured here: the first as most publish it, the second without unanswerable questions."""


@dataclass(frozen=True, slots=True)
class Published:
    """Figures that others published; not measured here.

    Attributes:
        title, source: of the system, and where it says so, as a link.
        questions: which.
        values: by measure; what was not published is left out.
    """

    title: str
    source: str
    questions: str
    values: Mapping[str, float] = field(default_factory=dict)


_MEMPALACE = (
    "[BENCHMARKS.md](https://github.com/MemPalace/mempalace/blob/6806f98ef9ad44996dddf8a0fcbfa559f4cfbee0/"
    "benchmarks/BENCHMARKS.md)"
)
_BASIC = (
    "[matrix v1.2](https://github.com/basicmachines-co/basic-memory-benchmarks/blob/"
    "0632f72221ae50002d61301cccb8740658f7be42/benchmarks/results/matrix-v1.2-summary.md)"
)
_ALL = "10 conversations, categories 1–5"
PUBLISHED = (
    Published("MemPalace, sessions as they are", _MEMPALACE, f"{_ALL}, 1,986", {"recall@10": 0.603}),
    Published("MemPalace, hybrid v5", _MEMPALACE, f"{_ALL}, 1,986", {"recall@5": 0.837, "recall@10": 0.889}),
    Published("MemPalace, hybrid, bge-large", _MEMPALACE, f"{_ALL}, 1,986", {"recall@10": 0.924}),
    Published(
        "basic-memory, main of June 2026",
        _BASIC,
        f"{_ALL}, 1,986, all in one collection, corrected key",
        {"recall@5": 0.745, "mrr": 0.618},
    ),
    Published(
        "basic-memory with #994",
        _BASIC,
        f"{_ALL}, 1,986, all in one collection, corrected key",
        {"recall@5": 0.823, "mrr": 0.718},
    ),
    Published(
        "graph-memory, session and message",
        "[#76](https://github.com/adoresever/graph-memory/issues/76)",
        f"{_ALL}, 1,982",
        {"all@5": 0.829, "all@10": 0.902},
    ),
    Published(
        "deja-vu",
        "[#299](https://github.com/vshulcz/deja-vu/pull/299)",
        f"{_ALL}, 1,982",
        {"any@5": 0.780},
    ),
    Published(
        "pgmnemo 0.4.0, DRAGON+",
        "[report](https://github.com/pgmnemo/pgmnemo/blob/08477243cd9c5759264cd42912d37e18b3b96f8b/"
        "benchmarks/locomo/results/v0.4.0_session_hybrid_20260515/report.md)",
        f"{_ALL}, 1,982, all in one collection, a session's number counts in any conversation",
        {"recall@5": 0.725, "recall@10": 0.841, "mrr": 0.637},
    ),
)


def complete(results: Path) -> str:
    """Per system and budget the share of questions whose evidence is whole; what each system was given."""
    pages = [page for _, _, page in pages_by_data(results, "evidence")]
    found = [page["result"] for page in pages]
    heads = [f"{NAMES[result['dataset']]}, {int(b):,}" for result in found for b in BUDGETS]
    lines = [f"| system | {' | '.join(heads)} |", "|---" + "|---:" * len(heads) + "|"]
    systems = list(dict.fromkeys(name for result in found for name in result["systems"]))
    for name in systems:
        rows = [result["systems"].get(name) for result in found]
        title = next(row["title"] for row in rows if row)
        cells = [cell for row in rows for cell in _shares(row)]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    notes = {row["title"]: row["note"] for result in found for row in result["systems"].values()}
    lines += [
        "",
        "| system | how |",
        "|---|---|",
        *(f"| {title} | {note} |" for title, note in notes.items()),
    ]
    return "\n".join([*lines, "", *_circumstances(found), measured_on(pages)])


def sessions(results: Path) -> str:
    """Recall at session level on LoCoMo, and what others published, each with its questions."""
    pages = [page for _, data, page in pages_by_data(results, "evidence") if data == "locomo"]
    heads = ["MRR" if name == "mrr" else name for name in SESSIONS]
    lines = [
        f"| system | questions of LoCoMo | {' | '.join(heads)} | source |",
        "|---|---" + "|---:" * len(heads) + "|---|",
    ]
    for page in pages:
        for key, title in SETS.items():
            for name, row in page["result"]["systems"].items():
                if key in row.get("sessions", {}) and (key == "1-5" or name in OURS):
                    values = row["sessions"][key]
                    about = f"{title}, {values['questions']:,}"
                    lines.append(_session_row(row["title"], about, values, "measured here"))
    lines += [_session_row(p.title, p.questions, p.values, f"as published: {p.source}") for p in PUBLISHED]
    return "\n".join([*lines, "", measured_on(pages)])


def _shares(row: dict[str, Any] | None) -> list[str]:
    if row is None or "complete" not in row:
        return ["not measured" if row is None else f"not measured: {row['unavailable']}", "", "", ""]
    return [f"{row['complete'][budget]:.3f}" for budget in BUDGETS]


def _session_row(title: str, questions: str, values: Mapping[str, float], source: str) -> str:
    cells = [f"{values[name]:.3f}" if name in values else "" for name in SESSIONS]
    return f"| {title} | {questions} | {' | '.join(cells)} | {source} |"


def _circumstances(found: list[dict[str, Any]]) -> list[str]:
    lines = []
    for result in found:
        row = result["systems"].get("default-as-it-comes")
        if row:
            lines.append(
                f"{NAMES[result['dataset']]}: {row['questions']} questions. As it comes, `default` puts "
                f"{row['tokens']['2000']:.0f} tokens a question into the context at a budget of 2,000."
            )
    return [*lines, f"Tokens: {found[0]['tokens']}; embedder: {found[0]['embedder']}, on a CPU.", ""]
