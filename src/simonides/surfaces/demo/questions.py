"""The demo's questions, each with the words that only a right answer holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the journal.

    Attributes:
        needs: what a memory must be good at to answer, for the reader.
        expected: words of each memory that is needed; each occurs in exactly one text of the journal.
        window: explicit time window (start, end), ISO dates, end excluded; ``None`` = any time.
        as_of: the day from which the world is seen, an ISO date; ``None`` = after the journal's end.
        bridge: pattern with one group, the name that a reader takes from a memory found; empty = one recall
            must find all that is expected.
        follow_up: asked next, ``{}`` replaced by that name; must find the last of ``expected``.
        traced: show what each stage did.
    """

    text: str
    needs: str
    expected: tuple[str, ...]
    window: tuple[str, str] | None = None
    as_of: str | None = None
    bridge: str = ""
    follow_up: str = ""
    traced: bool = False


QUESTIONS = (
    Question(
        "What does error E_TIDE_413 mean?",
        "exact term: an error code",
        ("E_TIDE_413 means that a gauge sent more readings in one batch",),
    ),
    Question(
        "What gets blocked in TG-207?",
        "exact term: a ticket",
        ("TG-207 describes how the nightly export and live ingest block each other",),
    ),
    Question(
        "Why was retryBackoffMs raised?",
        "exact term: an identifier",
        ("We raised `retryBackoffMs` from 250 to 2000",),
    ),
    Question(
        "Who has a dangerous allergy?",
        "other words than the memory's",
        ("a crumb of hazelnut makes her throat swell",),
        traced=True,
    ),
    Question(
        "How do we exchange our cryptographic secrets?",
        "other words than the memory's",
        ("To rotate the signing keys, create the new pair",),
    ),
    Question(
        "Why did we move away from DuckDB?",
        "a decision that changed, and its cause",
        ("Readings move from DuckDB to PostgreSQL, because",),
    ),
    Question(
        "What broke during the storm?",
        "time: a window of three days",
        ("tore the antenna off gauge SR-4", "ingest fell forty minutes behind"),
        window=("2025-11-15", "2025-11-18"),
    ),
    Question(
        "On which day does the on-call week begin?",
        "time: as it stood on 1 February 2026",
        ("begins on Thursday instead of Monday",),
        as_of="2026-02-01",
    ),
    Question(
        "From which office is Project Heron led?",
        "two hops: two recalls in a chain",
        ("is led by Odalys Fennimark", "Odalys Fennimark works from the Brackwater office"),
        bridge=r"Heron.* is led by (\w+ \w+)",
        follow_up="Which office does {} work from?",
    ),
    Question(
        "Who wrote the parsing library that caused the outage at Saltreach?",
        "two hops: one recall brings both facts",
        ("the outage was caused by `nmea-sift`", "`nmea-sift` is maintained by Ambrose Kettlewynd"),
    ),
)
