"""A LangGraph store over a bank: long-term memory of a graph, searched by meaning and words.

    graph = builder.compile(store=BankStore(store.bank("agent")))

Namespace and key are the path of a value. Search by a query is a recall in the bank that gives the nearest
values, each with its relevance as score, the probability that it answers; without one it lists, newest first.
A time to live is in minutes, as LangGraph has it, and begins anew with each put, and with each read unless
``refresh_ttl`` is false. When it has ended the value is not found any more, and the next write erases it:
``ttl`` holds the defaults, of which ``omit_expired`` is always true and nothing needs to be swept. Needs the
extra ``langgraph``.
"""

from __future__ import annotations

import asyncio
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
from simonides.integrations.keyed import LONGEST_TEXT, newest_of_each, search_records, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from langgraph.store.base import Op, Result, TTLConfig

    from simonides.integrations.keyed import AnyBank
    from simonides.records.keyed_record import KeyedRecord

_SPACE = "langgraph"
_MOST_SEARCHED = 1_000
"""Candidates of a search whose filter is applied here."""

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda here, asked: bool(here == asked),
    "$ne": lambda here, asked: bool(here != asked),
    "$gt": lambda here, asked: bool(here > asked),
    "$gte": lambda here, asked: bool(here >= asked),
    "$lt": lambda here, asked: bool(here < asked),
    "$lte": lambda here, asked: bool(here <= asked),
}


class BankStore(BaseStore):
    """A ``BaseStore``.

    Each operation is one transaction of the bank: a key has one value, whoever puts it at the same time.

    Args:
        bank: of this process, or of a server.
        ttl: ``default_ttl`` in minutes and ``refresh_on_read``; ``None`` = values have no end.
    """

    supports_ttl = True

    def __init__(self, bank: AnyBank, *, ttl: TTLConfig | None = None) -> None:
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
        if op.query:
            most = min(wanted if not op.filter else max(wanted, _MOST_SEARCHED), 10_000)
            found = search_records(self._bank, _SPACE, op.namespace_prefix, op.query, most)
        else:
            below = newest_of_each(self._bank.list_records(_SPACE, op.namespace_prefix))
            by_key = sorted(below, key=lambda each: each.path)
            found = sorted(by_key, key=lambda each: each.updated_at, reverse=True)
        kept = [each for each in found if _passes(each.value, op.filter or {})]
        given = kept[op.offset : wanted]
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


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_passes_one(value.get(name), asked) for name, asked in wanted.items())


def _passes_one(here: Any, asked: Any) -> bool:
    if not isinstance(asked, dict) or not any(str(name).startswith("$") for name in asked):
        return bool(here == asked)
    for name, value in asked.items():
        if name not in _COMPARED:
            raise InputError("filter", f"{name!r} is not known; use {', '.join(_COMPARED)}")
        if here is None and name not in {"$eq", "$ne"}:
            return False
        if not _COMPARED[name](here, value):
            return False
    return True


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    pattern = condition.path
    if len(namespace) < len(pattern):
        return False
    part = namespace[: len(pattern)] if condition.match_type == "prefix" else namespace[-len(pattern) :]
    return all(asked in {"*", here} for here, asked in zip(part, pattern, strict=False))
