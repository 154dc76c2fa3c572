"""Who is served when, by a dispatcher alone."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest

from simonides.surfaces.operations.table import Verb
from simonides.surfaces.serving.busy import BusyError
from simonides.surfaces.serving.dispatching import Dispatcher, TooSlowError
from simonides.surfaces.serving.grants import Grant
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from simonides.store import Store


def _grant(name: str) -> Grant:
    return Grant(name, None, ("*",), frozenset(Verb))


IVO, EVA, CARO = _grant("ivo"), _grant("eva"), _grant("caro")


@pytest.mark.fault("O1")
@pytest.mark.parametrize("workers", [2, 4])
def test_a_token_that_sends_much_keeps_no_other_waiting(store: Store, workers: int) -> None:
    go = threading.Event()
    dispatcher = Dispatcher(store, Limits(workers=workers, seconds=20))

    async def work() -> None:
        held = [asyncio.ensure_future(dispatcher.work(IVO, partial(go.wait, 30))) for _ in range(8)]
        await asyncio.sleep(0)
        try:
            # Were every worker ivo's, this one would be done after *go* alone.
            assert await asyncio.wait_for(dispatcher.work(EVA, lambda: "done"), 5) == "done"
        finally:
            go.set()
        assert await asyncio.gather(*held) == [True] * 8

    asyncio.run(work())
    dispatcher.close()
    # A worker hands its outcome over before it counts itself as free.
    assert dispatcher.taken == 0


def test_one_worker_serves_every_token_all_the_same(store: Store) -> None:
    dispatcher = Dispatcher(store, Limits(workers=1))

    async def work() -> list[str]:
        return await asyncio.gather(*(dispatcher.work(each, lambda: "done") for each in (IVO, EVA, IVO)))

    assert asyncio.run(work()) == ["done"] * 3
    dispatcher.close()


def test_of_those_that_wait_the_token_with_least_running_is_next_and_then_the_oldest(store: Store) -> None:
    go, order, lock = threading.Event(), list[str](), threading.Lock()
    begun = threading.Semaphore(0)
    dispatcher = Dispatcher(store, Limits(workers=3))

    def hold() -> None:
        begun.release()
        go.wait(30)

    def note(name: str) -> None:
        with lock:
            order.append(name)

    async def work() -> None:
        first = [
            asyncio.ensure_future(dispatcher.work(IVO, hold)),
            asyncio.ensure_future(dispatcher.work(CARO, hold)),
        ]
        await asyncio.to_thread(lambda: [begun.acquire() for _ in first])
        last = threading.Event()
        blocker = asyncio.ensure_future(dispatcher.work(EVA, partial(last.wait, 30)))
        await asyncio.sleep(0)
        later = [
            asyncio.ensure_future(dispatcher.work(grant, partial(note, name)))
            for grant, name in (
                (IVO, "ivo"),
                (CARO, "caro 1"),
                (EVA, "eva"),
                (CARO, "caro 2"),
                (_grant("x"), "x"),
            )
        ]
        await asyncio.sleep(0)
        # One worker is free now, ivo and caro have one running each and x and eva none.
        last.set()
        await asyncio.gather(blocker, *later)
        go.set()
        await asyncio.gather(*first)

    asyncio.run(work())
    assert order == ["eva", "x", "ivo", "caro 1", "caro 2"]
    dispatcher.close()


def test_work_that_is_given_up_while_it_waits_leaves_nothing_behind(store: Store) -> None:
    go, done = threading.Event(), list[int]()
    dispatcher = Dispatcher(store, Limits(workers=2, queue=4, per_token=3, seconds=0.05))

    async def work() -> None:
        for _ in range(3):
            held = asyncio.ensure_future(dispatcher.work(IVO, partial(go.wait, 30)))
            waits = asyncio.ensure_future(dispatcher.work(IVO, lambda: done.append(1)))
            for each in (held, waits):
                with pytest.raises(TooSlowError):
                    await each
            if dispatcher.taken > 1:
                break
        go.set()

    asyncio.run(work())
    dispatcher.close()
    assert (dispatcher.taken, done) == (0, [])


def test_a_stop_drops_what_waits_and_finishes_what_runs(store: Store) -> None:
    go = threading.Event()
    dispatcher = Dispatcher(store, Limits(workers=1))

    async def work() -> None:
        runs = asyncio.ensure_future(dispatcher.work(IVO, partial(go.wait, 30)))
        waits = asyncio.ensure_future(dispatcher.work(EVA, lambda: "done"))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(asyncio.to_thread(dispatcher.close))
        with pytest.raises(BusyError, match="stopping"):
            await waits
        go.set()
        assert await runs is True
        await closing

    asyncio.run(work())
    assert dispatcher.taken == 0
