"""Does operations for callers: checks what they may, and works in threads, as many and as long as allowed.

Work never runs on the event loop. What cannot start at once waits; what would wait in too long a queue, or is
one too many of the same token, is refused with the time after which to try again. No token has every worker,
so that one that sends much keeps no other waiting; of those that wait, the one whose token has least running
is next, and of these the oldest. A caller who leaves takes queued work along; work that has begun is
finished, and its place stays taken until it is.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import NotFoundError, SimonidesError, StoreError, UnavailableError
from simonides.forking import Origin
from simonides.surfaces.operations.table import Scope
from simonides.surfaces.serving.bodies import Bodies
from simonides.surfaces.serving.busy import BusyError
from simonides.surfaces.serving.grants import OTHER_BANKS, ForbiddenError
from simonides.surfaces.serving.listening import most_banks
from simonides.surfaces.serving.open_banks import OpenBanks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from simonides.store import Store
    from simonides.surfaces.operations.table import Operation
    from simonides.surfaces.serving.grants import Grant
    from simonides.surfaces.serving.limits import Limits

T = TypeVar("T")


class TooSlowError(SimonidesError):
    """The time limit passed. What had begun may still be done; what had not will not."""


class GoneError(SimonidesError):
    """The caller has left; nobody waits for the answer."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """Work for a worker: whose it is, what is to be done, and where the outcome goes."""

    token: str
    job: Callable[[], object]
    future: Future[Any]


class Dispatcher:
    """Does operations of one store, which is the caller's to close, after ``close``."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._origin = Origin(str(store.folder), "start the server in the process that is to serve")
        self.store = store
        self.limits = limits
        self.banks = OpenBanks(store, most_banks(limits))
        self.bodies = Bodies(limits)
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="simonides-work")
        self._taken = 0
        self._by_token: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._closing = False

    @property
    def taken(self) -> int:
        """Jobs that run or wait."""
        return self._taken

    @property
    def closing(self) -> bool:
        """Whether new work is refused because the server stops."""
        return self._closing

    async def perform(
        self,
        grant: Grant,
        operation: Operation,
        bank: str | None,
        values: Mapping[str, object],
        *extra: object,
    ) -> Mapping[str, Any]:
        """One operation, from what the caller wrote to its answer; raises what the operation raises.

        Args:
            bank: that the caller named; ``None`` for operations on the store.
            extra: handed to the operation's ``call`` after the request, for streams.

        Raises:
            ForbiddenError: the caller may not.
            InputError: a parameter does not exist, is missing or wrong.
            BusyError, TooSlowError, GoneError: see there.
        """
        return await self.do(dict, grant, operation, bank, lambda: operation.bind(values), *extra)

    async def do(
        self,
        finish: Callable[[Mapping[str, Any]], T],
        grant: Grant,
        operation: Operation,
        bank: str | None,
        bind: Callable[[], Mapping[str, Any]],
        *extra: object,
        left: Callable[[], Awaitable[object]] | None = None,
    ) -> T:
        """What *finish* makes of the answer to what *bind* makes; both may be long, and run in the worker."""
        grant.check(operation, bank)

        def job() -> T:
            request = bind()
            grant.check_request(operation, request)
            if operation.scope is Scope.STORE:
                self._check_bank_of(grant, request)
            return finish(self._call(grant, operation, bank, request, extra))

        return await self.work(grant, job, left=left)

    def _check_bank_of(self, grant: Grant, request: Mapping[str, Any]) -> None:
        """A bank that a request to the store names must be in the scope, too."""
        name = request.get("name")
        if name is not None and not grant.covers(name):
            raise ForbiddenError(OTHER_BANKS)

    def _call(
        self,
        grant: Grant,
        operation: Operation,
        bank: str | None,
        request: Mapping[str, Any],
        extra: tuple[object, ...],
    ) -> Mapping[str, Any]:
        if operation.scope is Scope.STORE:
            answer = operation.call(self.store, request)
            made = request.get("name")
            if made is not None and operation.destructive:
                self.banks.drop(made)
            elif made is not None:
                # From now on it counts among the banks that are open.
                with self.banks.use(made, None):
                    pass
            if "banks" in answer:
                answer = {**answer, "banks": [name for name in answer["banks"] if grant.covers(name)]}
            return answer
        name = bank or ""
        with self.banks.use(name, grant.principal) as opened:
            try:
                if operation.alters:
                    grant.check_memory(request.get("memory"), opened)
                return operation.call(opened, request, *extra)
            except StoreError as error:
                # Plain: deleted here or elsewhere. Of a kind of its own: damage, a full disk.
                if type(error) is not StoreError:
                    raise
        self.banks.drop(name)
        self.store.close_bank(name)
        if self.store.has_bank(name):
            raise UnavailableError("the bank was replaced meanwhile; try again")
        raise NotFoundError(
            "the bank was deleted meanwhile; make it anew with `simonides create-bank` or POST /v1/banks"
        )

    async def work(
        self, grant: Grant, job: Callable[[], T], *, left: Callable[[], Awaitable[object]] | None = None
    ) -> T:
        """Anything else that takes time, under the same limits."""
        future = self._submit(grant, job)
        waiting = asyncio.wrap_future(future)
        gone: asyncio.Future[object] | None = asyncio.ensure_future(left()) if left else None
        try:
            pending: list[asyncio.Future[Any]] = [waiting, gone] if gone else [waiting]
            await asyncio.wait(
                pending,
                timeout=self.limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if waiting.cancelled():
                raise BusyError("the server is stopping", 10, yours=False)
            if waiting.done():
                return waiting.result()
            if gone and gone.done():
                raise GoneError("the caller has left")
            raise TooSlowError(
                f"not done within {self.limits.seconds:g} s; a write may still be stored: "
                f"repeat it with its idempotency key"
            )
        finally:
            if gone:
                gone.cancel()
            if not waiting.done():
                # What waits in the queue is taken out; what runs is finished, its outcome read by nobody.
                waiting.cancel()

    def _submit(self, grant: Grant, job: Callable[[], T]) -> Future[T]:
        self._origin.check()
        with self._lock:
            if self._closing:
                raise BusyError("the server is stopping", 10, yours=False)
            if self._by_token[grant.name] >= self.limits.per_token:
                raise BusyError(
                    f"{self.limits.per_token} requests of this token are running; try again", 1, yours=True
                )
            if self._taken >= self.limits.workers + self.limits.queue:
                raise BusyError(f"{self._taken} requests are running or waiting; try again", 1, yours=False)
            self._taken += 1
            self._by_token[grant.name] += 1
            future: Future[T] = Future()
            one = _Waiting(grant.name, job, future)
            self._waiting.append(one)
        future.add_done_callback(lambda _: self._release(one))
        self._start()
        return future

    def _start(self) -> None:
        """Give free workers what may run."""
        with self._lock:
            while self._running.total() < self.limits.workers:
                able = [
                    each
                    for each in self._waiting
                    if self._running[each.token] < self.limits.per_token_running
                ]
                if not able:
                    break
                # The first of the least, so the oldest.
                one = min(able, key=lambda each: self._running[each.token])
                self._waiting.remove(one)
                self._running[one.token] += 1
                self._pool.submit(self._run, one)

    def _run(self, one: _Waiting) -> None:
        try:
            if one.future.set_running_or_notify_cancel():
                try:
                    one.future.set_result(one.job())
                except BaseException as error:  # noqa: BLE001 whoever waits for the outcome raises it
                    one.future.set_exception(error)
        finally:
            with self._lock:
                self._running[one.token] -= 1
                if not self._running[one.token]:
                    del self._running[one.token]
            self._start()

    def _release(self, one: _Waiting) -> None:
        with self._lock:
            if one in self._waiting:
                self._waiting.remove(one)
            self._taken -= 1
            self._by_token[one.token] -= 1
            if not self._by_token[one.token]:
                del self._by_token[one.token]

    def close(self) -> None:
        """Refuse new work and wait for what has begun; queued work is dropped."""
        if not self._origin.here:
            return
        with self._lock:
            self._closing = True
            dropped = tuple(self._waiting)
        for each in dropped:
            each.future.cancel()
        self._pool.shutdown(wait=True)
