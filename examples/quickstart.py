"""Retain a few memories, recall them by words, filter, look back, and forget.

    python examples/quickstart.py

Everything happens in a temporary folder. Without a model recall uses keyword search only; leave out
``embedder=None`` to recall by meaning as well (the default model is fetched at first use).
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime

import simonides


def main() -> None:
    now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, clock=lambda: now, embedder=None) as store,
    ):
        bank = store.bank("assistant")

        # One transaction: all of it is stored, or nothing. An id comes back for each item.
        review, *_ = bank.retain(
            [
                {
                    "text": "Odalys moved the weekly review to Thursday.",
                    "kind": "decision",
                    "tags": ["meetings"],
                    "event_time": "2026-02-24",
                },
                {
                    "text": "Bram deploys from the release branch only.",
                    "kind": "procedural",
                    "tags": ["deploy"],
                },
                {"text": "The staging database was restored on 2026-02-20.", "event_time": "2026-02-20"},
            ]
        )

        recall = bank.recall("When is the weekly review?", limit=1)
        print("best:", recall[0].text)
        print("context:", recall.context)

        # Filters are exact and act before the cut to `limit`.
        deploy = bank.recall("release review database", tags=["deploy"], tags_match="any_strict")
        print("tagged:", [hit.text for hit in deploy])
        february = bank.recall("database review", window=("2026-02-20", "2026-02-21"))
        print("that day:", [hit.text for hit in february])

        # As of a day before anything was retained, nothing was known.
        print("earlier:", len(bank.recall("review", as_of="2026-02-25")))

        print("forgotten:", bank.forget(review))
        print("left:", bank.stats()["memories"])


if __name__ == "__main__":
    main()
