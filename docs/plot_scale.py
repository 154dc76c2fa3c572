"""Draw latency and memory against size: docs/guide/scale.svg, from bench/results/scale-*.json.

Needs matplotlib, which the extra ``docs`` brings. The same results give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

RESULTS = Path(__file__).parents[1] / "bench" / "results"
PICTURE = Path(__file__).parent / "guide" / "scale.svg"
# Keys and values of many types.
STYLE: Any = {
    "svg.hashsalt": "simonides",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


def main() -> int:
    """Draw; 1 when nothing was measured."""
    found = read_results(RESULTS)
    if not found:
        print("nothing to draw: there is no bench/results/scale-*.json", file=sys.stderr)
        return 1
    draw(found, PICTURE)
    return 0


def read_results(results: Path) -> dict[str, list[dict[str, Any]]]:
    """Measures by profile, by growing size."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(results.glob("scale-*-*.json")):
        one = json.loads(file.read_text(encoding="utf-8"))["result"]
        found.setdefault(one["profile"], []).append(one)
    for measured in found.values():
        measured.sort(key=lambda one: int(one["n"]))
    return found


def draw(found: dict[str, list[dict[str, Any]]], picture: Path) -> None:
    """Two panels, both axes logarithmic: CPU of a recall, and memory."""
    with mpl.rc_context(STYLE):
        figure, (latency, memory) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
        for profile, measured in found.items():
            sizes = [one["n"] for one in measured]
            for share, line in (("p50", "-"), ("p95", "--")):
                times = [one["cpu_ms"][share] for one in measured]
                latency.plot(sizes, times, line, marker="o", label=f"{profile}, {share}")
            memory.plot(
                sizes, [one["mapped_mb"] for one in measured], "-", marker="o", label=f"{profile}, mapped"
            )
            own = [max(1.0, one["private_growth_mb"]) for one in measured]
            memory.plot(sizes, own, "--", marker="o", label=f"{profile}, private growth")
        budgets = [one for measured in found.values() for one in measured if one["profile"] == "helix"]
        if budgets:
            limits = [one["budgets"]["cpu_p95_ms"] for one in budgets]
            latency.plot(
                [one["n"] for one in budgets], limits, ":", color="grey", label="budget of helix, p95"
            )
        for panel, title in ((latency, "CPU of a recall, ms, without the encoder"), (memory, "memory, MB")):
            panel.set(xscale="log", yscale="log", xlabel="memories", title=title)
            panel.legend(fontsize=7)
        figure.savefig(picture, format="svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
