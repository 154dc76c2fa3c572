"""What the tests against the references of frameworks share: the differences that are meant, banks, what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank

SEQUENCES, STEPS = 40, 12
"""In the default run, per integration; the soak runs sixty times as many."""

IN_ONE_BANK = 25

MEANT = {
    "memory tool": {
        "folders": "one in which nothing is left is gone, since only files are kept",
        "sizes": "of a folder: those of its files; the reference gives what the file system says",
        "raw": "errors of the file system that the reference lets out (a file where a folder must be): refused",
    },
    "LangGraph": {
        "order": "of items without a query: newest first, as its Postgres store gives them",
        "created": "the time of an item that is put again stays; the reference forgets it",
        "numbers": "$gt, $gte, $lt, $lte of what is no number do not match; the reference raises",
        "operators": "unknown ones are refused; the reference notices them where it compares",
        "empty": "namespaces without an item are not listed; the reference keeps them",
        "batch": "each operation in turn; the reference reads before it writes",
    },
    "OpenAI session": {
        "finite": "JSON has no NaN and no infinity: they are refused; the reference keeps them",
    },
    "LlamaIndex": {
        "fitting": "a block gives what answers the newest message; the reference the nearest, answer or not",
        "sessions": "of all of the bank; the reference gives its own alone",
        "wording": "memories stand between marks as data; the reference gives messages, and their extras",
        "tools": "what tools said answers nothing; the reference gives it like any message",
    },
}


def tell(integration: str, sequences: int, seen: Counter[str]) -> None:
    """Print what was run; whoever gets here found no other difference."""
    meant = ", ".join(MEANT[integration])
    print(  # noqa: T201 - seen with ``pytest -s``
        f"\n{integration}: {sequences:,} sequences, {sum(seen.values()):,} steps ({dict(sorted(seen.items()))}), "
        f"0 differences beside those meant: {meant}"
    )


@pytest.fixture(params=[1, pytest.param(60, marks=pytest.mark.soak)], ids=["some", "many"])
def seeds(request: pytest.FixtureRequest) -> range:
    return range(SEQUENCES * int(request.param))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Callable[[int], Bank]]:
    """A bank without records for each sequence."""
    with simonides.open(tmp_path / "store", clock=FrozenClock(), embedder=None) as store:

        def bank(number: int) -> Bank:
            """Empty; to make one takes longer than a sequence."""
            found = store.bank(f"b{number // IN_ONE_BANK}")
            for space in ("anthropic", "langgraph", "openai-agents"):
                found.forget_records(space)
            return found

        yield bank


ODD = ("", " ", "\0", "\u200b", "a\0b", "half \ud83d", "figs " * 20_000)
"""Texts that nobody means, and that users and models send."""
