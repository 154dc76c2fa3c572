"""A bank for asynchronous code: each method of ``Bank``, done in a bounded pool of threads.

    bank = AsyncBank(store.bank("assistant"))
    await bank.retain("Odalys moved the weekly review to Thursday.")
    print((await bank.recall("When is the review?")).context)

Nothing is written twice: a method here is the method of the bank and an ``await``. The bank may be one of
this process or of a server. A cancelled call that has begun is finished all the same, its answer dropped.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from simonides.bank import Bank
from simonides.deprecations import BANK_METHODS, answers_old_names
from simonides.errors import InputError, StoreError
from simonides.forking import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from simonides.surfaces.client.remote import RemoteBank

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Bank, P], T],
) -> Callable[Concatenate[AsyncBank, P], Coroutine[Any, Any, T]]:
    """The method of a bank as one to be awaited."""

    @functools.wraps(method)
    async def call(self: AsyncBank, /, *args: P.args, **kwargs: P.kwargs) -> T:
        answer: T = await self._in_pool(method.__name__, *args, **kwargs)
        return answer

    return call


def _awaited_openly(method: Callable[..., T]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The same of a method that takes options by name; type checkers cannot carry these over."""
    return _awaited(method)


@answers_old_names(BANK_METHODS)
class AsyncBank:
    """A bank whose methods are awaited. An asynchronous context manager; closes its threads, not the bank.

    Args:
        bank: of this process, or of a server.
        workers: threads, 1 to 64; more calls than that wait.

    Raises:
        InputError: *workers* is out of its range.
    """

    def __init__(self, bank: Bank | RemoteBank, *, workers: int = 4) -> None:
        if not 1 <= workers <= 64:
            raise InputError("workers", f"expected a whole number from 1 to 64, got {workers!r}")
        self._origin = Origin(f"AsyncBank of {bank.name!r}")
        self._bank = bank
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="simonides-async")

    @property
    def name(self) -> str:
        """Of the bank."""
        return self._bank.name

    @property
    def bank(self) -> Bank | RemoteBank:
        """The bank whose methods are awaited."""
        return self._bank

    async def _in_pool(self, name: str, *args: Any, **kwargs: Any) -> Any:
        work = functools.partial(getattr(self._bank, name), *args, **kwargs)
        self._origin.check()
        loop = asyncio.get_running_loop()
        try:
            waiting = loop.run_in_executor(self._pool, work)
        except RuntimeError as error:
            raise StoreError("this AsyncBank is closed; make another") from error
        return await waiting

    retain = _awaited(Bank.retain)
    retain_document = _awaited_openly(Bank.retain_document)
    retain_conversation = _awaited_openly(Bank.retain_conversation)
    recall = _awaited(Bank.recall)
    get_job = _awaited(Bank.get_job)
    reflect = _awaited_openly(Bank.reflect)
    why_not = _awaited_openly(Bank.why_not)
    get_memory = _awaited(Bank.get_memory)
    list_memories = _awaited(Bank.list_memories)
    facets = _awaited(Bank.facets)
    update_memory = _awaited(Bank.update_memory)
    invalidate = _awaited(Bank.invalidate)
    forget = _awaited(Bank.forget)
    list_records = _awaited(Bank.list_records)
    put_records = _awaited(Bank.put_records)
    move_records = _awaited(Bank.move_records)
    pop_record = _awaited(Bank.pop_record)
    forget_records = _awaited(Bank.forget_records)
    used = _awaited(Bank.used)
    history = _awaited(Bank.history)
    source = _awaited(Bank.source)
    diff = _awaited(Bank.diff)
    entities = _awaited(Bank.entities)
    get_entity = _awaited(Bank.get_entity)
    add_alias = _awaited(Bank.add_alias)
    remove_alias = _awaited(Bank.remove_alias)
    merge_entities = _awaited(Bank.merge_entities)
    undo_merge = _awaited(Bank.undo_merge)
    settle = _awaited(Bank.settle)
    brief = _awaited(Bank.brief)
    pin = _awaited(Bank.pin)
    unpin = _awaited(Bank.unpin)
    set_zone = _awaited(Bank.set_zone)
    set_ttl = _awaited(Bank.set_ttl)
    maintain = _awaited(Bank.maintain)
    activity = _awaited(Bank.activity)
    review = _awaited(Bank.review)
    moves = _awaited(Bank.moves)
    undo_move = _awaited(Bank.undo_move)
    archive = _awaited(Bank.archive)
    quarantine = _awaited(Bank.quarantine)
    release = _awaited(Bank.release)
    audit_entries = _awaited(Bank.audit_entries)
    audit_verify = _awaited(Bank.audit_verify)
    stats = _awaited(Bank.stats)
    verify = _awaited(Bank.verify)
    export = _awaited(Bank.export)
    backup = _awaited(Bank.backup)
    import_bank = _awaited(Bank.import_bank)

    async def close(self) -> None:
        """End the threads once what has begun is done; may be called again."""
        if self._origin.here:
            await asyncio.to_thread(self._pool.shutdown)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
