"""A LangGraph store over a bank: long-term memory of a graph, searched by meaning and words.

    graph = builder.compile(store=BankStore(store.bank("agent")))

Namespace and key are the path of a value. Search by a query is a recall in the bank; without one it lists,
newest first. A time to live is refused: a memory that expires by itself is not forgotten.
Needs the extra ``langgraph``.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
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
from simonides.integrations.keyed import Entry, KeyedMemories, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from langgraph.store.base import Op, Result

    from simonides.integrations.keyed import AnyBank

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

    Args:
        bank: of this process, or of a server.
    """

    supports_ttl = False

    def __init__(self, bank: AnyBank) -> None:
        self._kept = KeyedMemories(bank, "langgraph")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Each operation in turn."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, off the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._kept.get((*op.namespace, op.key))
            return None if found is None else Item(**_fields(found))
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
        found = self._kept.get(path)
        if op.value is None:
            self._kept.forget([found] if found else [])
            return
        if op.ttl is not None:
            raise InputError("ttl", "is not supported; leave it out, and forget what is no longer needed")
        shown = op.value
        if isinstance(op.index, list):
            shown = {name: value for name, value in op.value.items() if name in op.index}
        words = "" if op.index is False else words_of(shown)
        created = found.value["created"] if found else datetime.now(UTC).isoformat()
        self._kept.put(path, {"value": op.value, "created": created}, words)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.offset + op.limit
        if op.query:
            most = min(wanted if not op.filter else max(wanted, _MOST_SEARCHED), 10_000)
            found = self._kept.search(op.namespace_prefix, op.query, most)
        else:
            newest = sorted(self._kept.below(op.namespace_prefix), key=lambda each: each.path)
            found = sorted(newest, key=lambda each: each.memory.ingested_at_micros, reverse=True)
        kept = [each for each in found if _passes(each.value["value"], op.filter or {})]
        return [SearchItem(**_fields(each), score=each.score) for each in kept[op.offset : wanted]]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {each.path[:-1] for each in self._kept.below()}
        conditions = op.match_conditions or ()
        kept = {each for each in every if all(_matches(each, condition) for condition in conditions)}
        cut = sorted({each[: op.max_depth] if op.max_depth is not None else each for each in kept})
        return cut[op.offset : op.offset + op.limit]


def _fields(entry: Entry) -> dict[str, Any]:
    updated = entry.memory.ingested_at
    assert updated is not None
    return {
        "namespace": entry.path[:-1],
        "key": entry.path[-1],
        "value": entry.value["value"],
        "created_at": datetime.fromisoformat(entry.value["created"]),
        "updated_at": updated,
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
