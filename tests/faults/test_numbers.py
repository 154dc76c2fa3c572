"""Numbers that callers state: what is none, or out of range, is refused by the argument's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank

pytestmark = pytest.mark.fault("N72")

NO_COUNTS: tuple[Any, ...] = (1.5, float("nan"), float("inf"), -1, 2**63, 10**400, True, "1", b"1", [1], 1j)


def counted(bank: Bank, model: Any, value: Any) -> dict[str, tuple[str, Callable[[], object]]]:
    """By verb: the name of an argument that counts something, and a call with *value* for it."""
    return {
        "settle": ("most", lambda: bank.settle(value)),
        "audit_entries": ("most", lambda: bank.audit_entries(value)),
        "audit_entries of recalls": ("most", lambda: bank.audit_entries(value, recalls=True)),
        "entities": ("limit", lambda: bank.entities(value)),
        "maintain": ("most", lambda: bank.maintain(most=value)),
        "enrich": ("most", lambda: bank.enrich(model, most=value)),
        "memories": ("limit", lambda: bank.list_memories(limit=value)),
        "recall": ("limit", lambda: bank.recall("kettle", limit=value)),
        "recall, tokens": ("max_tokens", lambda: bank.recall("kettle", max_tokens=value)),
        "recall, chunks": ("max_chunk_tokens", lambda: bank.recall("kettle", max_chunk_tokens=value)),
        "recall, seed": ("seed", lambda: bank.recall("kettle", seed=value)),
        "brief": ("max_tokens", lambda: bank.brief("kettle", max_tokens=value)),
        "load": ("batch", lambda: bank.load(["a"], np.ones((1, 32)), batch=value)),
        "load, workers": ("workers", lambda: bank.load(["a"], np.ones((1, 32)), workers=value)),
        "conversation": (
            "window",
            lambda: bank.retain_conversation([{"text": "a"}], session="s", window=value),
        ),
    }


VERBS = [
    "settle", "audit_entries", "audit_entries of recalls", "entities", "maintain", "enrich", "memories",
    "recall", "recall, tokens", "recall, chunks", "recall, seed", "brief", "load", "load, workers",
    "conversation",
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_count_is_refused_by_the_name_of_the_argument(
    bank: Bank, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.retain("The kettle is red.")
    if verb.startswith("audit"):
        bank.start_audit()
    before = bank.stats()
    for value in NO_COUNTS:
        field, call = counted(bank, NoModel(), value)[verb]
        with pytest.raises(InputError) as refused:
            call()
        assert refused.value.field == field, value
    assert bank.stats() == before


class NoModel:
    """An enricher that is never asked."""

    model = "none"
    priced = False


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 10**400, True, "5", 1j])
def test_what_is_no_deadline_is_refused_by_name(bank: Bank, value: Any) -> None:
    with pytest.raises(InputError) as refused:
        bank.recall("kettle", deadline_ms=value)
    assert refused.value.field == "deadline_ms"


@pytest.mark.parametrize("value", [-1, float("nan"), 10**400, True, "5"])
def test_what_is_no_wait_is_refused_by_name(bank: Bank, value: Any) -> None:
    with pytest.raises(InputError) as refused:
        bank.get_job("0" * 32, wait_seconds=value)
    assert refused.value.field == "wait_seconds"


def test_a_count_of_nothing_gives_nothing_and_numpy_counts_count(bank: Bank) -> None:
    bank.retain("Ada Lovelace wrote to Ben Miller.")
    assert bank.entities(0) == []
    assert len(bank.entities(np.int64(1))) == 1  # type: ignore[arg-type]
    assert bank.settle(0) == 0
