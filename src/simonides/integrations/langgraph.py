"""A LangGraph store over a bank: long-term memory of a graph, searched by meaning and words.

    graph = builder.compile(store=BankStore(store.bank("agent")))

Namespace and key are the path of a value. Search by a query is a recall in the bank that gives the nearest
values, each with its relevance as score, the probability that it answers; those that it does not find stand
behind them without a score. Without a query it lists. It answers as LangGraph's ``InMemoryStore`` does, but
on purpose: what has no score stands newest first; a value that is put again keeps the time at which its key
was made; ``$gt``, ``$gte``, ``$lt`` and ``$lte`` pass over what is no number, and an unknown operator is
always refused; a namespace without values is not listed; a batch is done in its order. A value that is put
with ``index=False``, or that holds no words, is found by its key alone.
A time to live is in minutes, as LangGraph has it, and begins anew with each put, and with each read unless
``refresh_ttl`` is false. When it has ended the value is not found any more, and the next write erases it:
``ttl`` holds the defaults, of which ``omit_expired`` is always true and nothing needs to be swept. Needs the
extra ``langgraph``.
"""

from __future__ import annotations

import asyncio
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)

from simonides.errors import InputError
from simonides.integrations.keyed import (
    LONGEST_TEXT,
    check_bank,
    newest_of_each,
    question_of,
    search_records,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from langgraph.store.base import Op, Result, TTLConfig

    from simonides.integrations.keyed import AnyBank
    from simonides.records.keyed_record import KeyedRecord

_SPACE = "langgraph"
_MOST_SEARCHED = 1_000
"""Candidates of a search whose filter is applied here; what lies behind them has no score."""

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


class BankStore(BaseStore):
    """A ``BaseStore``.

    Each operation is one transaction of the bank: a key has one value, whoever puts it at the same time.

    Args:
        bank: of this process, or of a server.
        ttl: ``default_ttl`` in minutes and ``refresh_on_read``; ``None`` = values have no end.
    """

    supports_ttl = True

    def __init__(self, bank: AnyBank, *, ttl: TTLConfig | None = None) -> None:
        check_bank(bank)
        self._bank = bank
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Each operation in turn."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            path = (*op.namespace, op.key)
            found = newest_of_each(self._bank.list_records(_SPACE, path, exact=True, refresh=op.refresh_ttl))
            return Item(**_fields(found[-1])) if found else None
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise InputError("ops", f"{type(op).__name__} is no operation of a store")

    def _put(self, op: PutOp) -> None:
        path = (*op.namespace, op.key)
        if op.value is None:
            self._bank.forget_records(_SPACE, path, exact=True)
            return
        shown = op.value
        if isinstance(op.index, list):
            shown = {name: value for name, value in op.value.items() if name in op.index}
        words = "" if op.index is False else words_of(shown)
        record: dict[str, Any] = {"path": path, "value": op.value, "text": words[:LONGEST_TEXT]}
        if op.ttl is not None:
            record["ttl"] = op.ttl * 60
        self._bank.put_records(_SPACE, [record])

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.offset + op.limit
        asked = op.filter or {}
        check_operators(asked)
        found: list[KeyedRecord] = []
        question = question_of(op.query)
        if question and wanted > 0:
            most = min(wanted if not asked else max(wanted, _MOST_SEARCHED), 10_000)
            scored = search_records(self._bank, _SPACE, op.namespace_prefix, question, most)
            found = [each for each in scored if passes(each.value, asked)]
        if len(found) < wanted or op.limit < 0 or op.offset < 0:
            below = newest_of_each(self._bank.list_records(_SPACE, op.namespace_prefix))
            by_key = sorted(below, key=lambda each: each.path)
            newest = sorted(by_key, key=lambda each: each.updated_at, reverse=True)
            there = {each.path for each in found}
            found += [each for each in newest if each.path not in there and passes(each.value, asked)]
        given = found[op.offset : wanted]
        for each in given if op.refresh_ttl else ():
            if each.ttl is not None:
                self._bank.list_records(_SPACE, each.path, exact=True, refresh=True)
        return [SearchItem(**_fields(each), score=each.score) for each in given]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {each.path[:-1] for each in self._bank.list_records(_SPACE)}
        conditions = op.match_conditions or ()
        kept = {each for each in every if all(_matches(each, condition) for condition in conditions)}
        cut = sorted({each[: op.max_depth] if op.max_depth is not None else each for each in kept})
        return cut[op.offset : op.offset + op.limit]


def _fields(record: KeyedRecord) -> dict[str, Any]:
    return {
        "namespace": record.path[:-1],
        "key": record.path[-1],
        "value": record.value,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value meets a filter: every key of it, nested ones too."""
    return all(_meets(value.get(name), asked) for name, asked in wanted.items())


def _meets(here: Any, asked: Any) -> bool:
    if isinstance(asked, dict):
        if any(name.startswith("$") for name in asked):
            return all(_holds(here, name, value) for name, value in asked.items())
        return isinstance(here, dict) and passes(here, asked)
    if isinstance(asked, list | tuple):
        same_length = isinstance(here, list | tuple) and len(here) == len(asked)
        return same_length and all(_meets(one, other) for one, other in zip(here, asked, strict=True))
    return bool(here == asked)


def check_operators(asked: Any) -> None:
    """Raise ``InputError`` for an unknown operator, also where there is nothing to compare."""
    if isinstance(asked, list | tuple):
        for each in asked:
            check_operators(each)
    if not isinstance(asked, dict):
        return
    if any(name.startswith("$") for name in asked):
        for name in asked:
            if name not in {"$eq", "$ne", *_COMPARED}:
                known = ", ".join(("$eq", "$ne", *_COMPARED))
                raise InputError("filter", f"Unsupported operator: {name}; use {known}")
        return
    for each in asked.values():
        check_operators(each)


def _holds(here: Any, name: str, value: Any) -> bool:
    if name in {"$eq", "$ne"}:
        return bool(here == value) == (name == "$eq")
    try:
        return _COMPARED[name](float(here), float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    pattern = condition.path
    if len(namespace) < len(pattern):
        return False
    part = namespace[: len(pattern)] if condition.match_type == "prefix" else namespace[-len(pattern) :]
    return all(asked in {"*", here} for here, asked in zip(part, pattern, strict=False))
