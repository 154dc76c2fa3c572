"""Draw the reliability curve: docs/guide/relevance.svg, from bench/results/relevance.json.

A point per bin: the mean probability that was stated, and the share of what was right. Needs matplotlib,
which the extra ``docs`` brings. The same results give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from plot_scale import RESULTS, STYLE

PICTURE = Path(__file__).parent / "guide" / "relevance.svg"


def main() -> int:
    """Draw; 1 when nothing was measured."""
    file = RESULTS / "relevance.json"
    if not file.is_file():
        print("nothing to draw: there is no bench/results/relevance.json", file=sys.stderr)
        return 1
    draw(json.loads(file.read_text(encoding="utf-8"))["result"], PICTURE)
    return 0


def draw(result: dict[str, Any], picture: Path) -> None:
    """Two panels: relevance of hits, and confidence of recalls; a line per data set."""
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
        for panel, (of, parts) in zip(panels, result["calibration"].items(), strict=True):
            panel.plot([0, 1], [0, 1], ":", color="grey", label="as stated")
            for name, part in parts.items():
                bins = part["bins"]
                panel.plot(
                    [each["chance"] for each in bins],
                    [each["right"] for each in bins],
                    "-" if name == "all" else "--",
                    marker="o",
                    markersize=3,
                    label=f"{name}{' (fitted on)' * (name in result['fitted_on'])}",
                )
            panel.set(
                xlabel=f"stated {of}", ylabel="share that was right", title=of, xlim=(0, 1), ylim=(0, 1)
            )
            panel.legend(fontsize=7)
        figure.savefig(picture, format="svg", metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
