"""X6: what looks like a secret is stored by no verb and repeated by no message, while redaction is on.

The verbs and their arguments are read from the class, so that a new one is tried without being listed here.
"""

from __future__ import annotations

import inspect
import random
import string
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simonides
from simonides.bank import Bank
from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.retain.secrets import Policy
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

pytestmark = pytest.mark.fault("X6")

CHARACTERS = string.ascii_letters + string.digits
LEAST = 14
"""Characters of a token in a row that count as a leak: its prefix and ten more."""
NO_TEXT = {"progress", "on_text", "stopping", "answerer", "vectors", "tokens", "network"}
"""Parameters that take things, not what a caller writes."""


class Tokens:
    """A token of its own for every place, so that a leak tells where it came in."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self._chance = random.Random(6)

    def new(self, place: str) -> str:
        token = "ghp_" + "".join(self._chance.choices(CHARACTERS, k=36))
        self.places[token] = place
        return token

    def told_in(self, text: str) -> set[str]:
        """Places whose token, or the beginning of it, is in *text*."""
        return {place for token, place in self.places.items() if token[:LEAST].lower() in text.lower()}


def of_bank(bank: Bank, elsewhere: Path) -> dict[str, dict[str, Any]]:
    """What each verb is called with, beside the argument at hand."""
    [memory] = bank.retain("Odalys Fennimark leads the harbour office in Norrhav.")
    entity = bank.entities()[0].number
    return {
        "retain": {"items": "Tove keeps the spare key of the shed."},
        "load": {"items": ["Ravi waters the figs."], "vectors": np.ones((1, 32), np.float32)},
        "retain_document": {"text": "# Boats\n\nThe ferry leaves at nine.", "document_id": "boats"},
        "retain_conversation": {"turns": [{"text": "The kettle leaks."}], "session": "kitchen"},
        "source": {"memory": memory},
        "import_items": {"items": [{"text": "Ivo paints the gate."}]},
        "export": {"target": elsewhere / "export"},
        "import_bank": {"path": elsewhere / "none"},
        "enrich": {"model": None},
        "invalidate": {"memory": memory},
        "update_memory": {"memory": memory},
        "get_entity": {"entity": entity},
        "add_alias": {"entity": entity, "name": "The office"},
        "remove_alias": {"entity": entity, "alias": "The office"},
        "merge_entities": {"entity": entity, "into": entity},
        "undo_merge": {"merge": 1},
        "count_tokens": {"text": "a"},
        "history": {"memory": memory},
        "diff": {"earlier": "2026-01-01"},
        "recall": {"query": "Who leads the office?", "tier": "async"},
        "get_job": {"job": "0" * 32},
        "reflect": {"query": "Who leads the office?"},
        "used": {"ids": memory},
        "why_not": {"memory": memory, "query": "Who leads the office?"},
        "get_memory": {"memory": memory},
        "forget": {"ids": "0" * 16},
        "quarantine": {"ids": []},
        "release": {"ids": []},
        "backup": {"target": elsewhere / "backup"},
        "restore": {"path": elsewhere / "none"},
        "reembed": {"model": "none-such"},
        "undo_move": {"number": 1},
        "pin": {"memory": memory},
        "unpin": {"memory": memory},
        "check_references": {"root": elsewhere},
        "brief": {"task": "Lead the office."},
        "adopt_reranker": {"network": None, "memories": [memory]},
    }


def verbs() -> Iterator[tuple[str, list[inspect.Parameter]]]:
    for name, method in vars(Bank).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            yield name, list(inspect.signature(method).parameters.values())[1:]


def values(parameter: inspect.Parameter, token: str) -> list[Any]:
    """The token in the shapes that a parameter takes, alone and among words, short and cut by messages."""
    long = f"{'of the harbour office, '[: 20 + len(parameter.name)]}{token} as Tove wrote it down last week"
    shapes: list[Any] = [token, f"see {token}.", long]
    kind = str(parameter.annotation)
    if "Iterable" in kind or "Sequence" in kind:
        shapes += [[token], iter([long])]
    if "Mapping" in kind:
        shapes += [{token: 1}, {"note": [long, {"deep": token}]}, {token: [token]}]
    return shapes


def calls(bank: Bank, tokens: Tokens, elsewhere: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every verb with a token in every argument of it, and in every key of an item."""
    given = of_bank(bank, elsewhere)
    keys = [p for p in inspect.signature(Bank.retain).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name, parameters in verbs():
        method, base = getattr(bank, name), given.get(name, {})
        for parameter in parameters:
            if parameter.name in NO_TEXT or parameter.kind is parameter.VAR_KEYWORD:
                continue
            place = f"{name}({parameter.name})"
            for value in values(parameter, tokens.new(place)):
                yield place, lambda m=method, a={**base, parameter.name: value}: m(**a)  # type: ignore[misc]
        for key in keys if "items" in base or "turns" in base else ():
            if key.name == "idempotency_key":
                continue
            place = f"{name}(items[0].{key.name})"
            for value in values(key, tokens.new(place)):
                held = "items" if "items" in base else "turns"
                item = {"text": f"Words of {place}.", key.name: value}
                if key.name in {"subject", "object"}:
                    item = {"subject": "a", "object": "b", "relation": "owns", **item}
                yield place, lambda m=method, a={**base, held: [item]}: m(**a)  # type: ignore[misc]
                lazy = iter([item])
                yield place, lambda m=method, a={**base, held: lazy}: m(**a)  # type: ignore[misc]
    for name in ("retain", "import_items"):
        token = tokens.new(f"{name}(unknown key)")
        yield name, lambda n=name, t=token: getattr(bank, n)([{"text": "words", t: 1}])  # type: ignore[misc]


def messages(error: BaseException) -> str:
    """All that an error says, and whatever it came from."""
    said = []
    seen: list[BaseException | None] = [error]
    for one in seen:
        if one is not None:
            said += [str(one), repr(one.args), repr(vars(one))]
            seen += [each for each in (one.__cause__, one.__context__) if each not in seen]
    return "".join([*said, *traceback.format_exception(error)])


def leaks(folder: Path, tokens: Tokens) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        told = tokens.told_in(path.name)
        if path.is_file():
            told |= tokens.told_in(path.read_bytes().decode("latin-1"))
        for place in told:
            found.setdefault(place, []).append(path.name)
    return found


@pytest.fixture(params=["mask", "refuse"])
def policy(request: pytest.FixtureRequest) -> Policy:
    chosen: Policy = request.param
    return chosen


@pytest.fixture
def opened(
    tmp_path: Path, policy: Policy, stub_embedder: StubEmbedder, clock: FrozenClock
) -> Iterator[Store]:
    with simonides.open(
        tmp_path / "store", embedder=stub_embedder, clock=clock, environ={}, redact=policy
    ) as store:
        yield store


def test_no_verb_stores_a_token_and_no_message_repeats_one(
    opened: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tokens, echoes, tried = Tokens(), set(), 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for place, call in calls(opened.bank(), tokens, elsewhere):
        tried += 1
        try:
            call()
        except Exception as error:  # noqa: BLE001 whatever it is, it must not repeat a token
            if tokens.told_in(messages(error)):
                echoes.add(place)
    opened.close()
    assert tried > 300
    assert leaks(tmp_path / "store", tokens) == {}
    assert echoes == set()
    assert not tokens.told_in(caplog.text)


def test_the_check_finds_what_is_not_redacted(
    tmp_path: Path, stub_embedder: StubEmbedder, clock: FrozenClock
) -> None:
    tokens = Tokens()
    with simonides.open(tmp_path / "store", embedder=stub_embedder, clock=clock, environ={}) as store:
        for place, call in calls(store.bank(), tokens, tmp_path):
            if place in {"retain(tags)", "update_memory(path)", "add_alias(name)", "recall(query)"}:
                with suppress(InputError):
                    call()
    assert set(leaks(tmp_path / "store", tokens)) == {
        "retain(tags)",
        "update_memory(path)",
        "add_alias(name)",
        "recall(query)",
    }
