from __future__ import annotations

import contextlib
import threading
from concurrent.futures import CancelledError

import pytest
from tests.reliability.interrupting import Interrupter

from simonides.recall.helping.running import JobRunner


def test_a_job_is_begun_once_and_kept() -> None:
    runner, calls = JobRunner(), []
    for _ in range(3):
        future = runner.start(("bank", "", "a"), lambda: calls.append(1))
        assert future is not None
        assert future.wait(30)
    assert calls == [1]
    runner.drop("another bank")
    runner.drop("bank", ("bank", "", "b"))
    assert runner.start(("bank", "", "a"), lambda: calls.append(1)) is future
    runner.drop("bank")
    assert runner.start(("bank", "", "a"), lambda: calls.append(1)) is not future
    runner.close()


def test_room_is_bounded_and_a_closed_runner_takes_nothing() -> None:
    runner, may, begun = JobRunner(workers=1, waiting=1), threading.Event(), threading.Event()

    def slow() -> bool:
        begun.set()
        return may.wait(30)

    first = runner.start(("bank", "", "a"), slow)
    second = runner.start(("bank", "", "b"), lambda: 2)
    assert first is not None
    assert second is not None
    assert runner.start(("bank", "", "c"), lambda: 3) is None
    assert begun.wait(30)
    may.set()
    runner.close()
    assert first.result() is True
    with contextlib.suppress(CancelledError):
        assert second.result() == 2
    assert runner.start(("bank", "", "d"), lambda: 4) is None
    runner.close()


def test_only_the_newest_results_are_kept() -> None:
    runner = JobRunner(kept=2)
    futures = []
    for name in "abcd":
        futures.append(runner.start(("bank", "", name), lambda: None))
        assert all(future.wait(30) for future in futures if future is not None)
    assert runner.start(("bank", "", "d"), lambda: None) is futures[3]
    assert runner.start(("bank", "", "a"), lambda: None) is not futures[0]
    runner.close()


def test_an_error_is_the_jobs() -> None:
    def fails() -> None:
        raise OSError("gone")

    runner = JobRunner()
    future = runner.start(("bank", "", "a"), fails)
    assert future is not None
    with pytest.raises(OSError, match="gone"):
        future.result()
    runner.close()


@pytest.mark.fault("N82")
def test_an_interrupt_anywhere_in_a_wait_holds_nothing_up() -> None:
    interrupter, runner, at = Interrupter(), JobRunner(workers=1), 1

    def ask() -> None:
        work = runner.start(("bank", "", f"{at}"), lambda: "answer")
        assert work is not None
        assert work.result() == "answer"

    while interrupter.run(ask, KeyboardInterrupt, at) is not None:
        again = runner.start(("bank", "", f"{at}"), lambda: "answer")
        assert again is not None
        assert again.wait(30), at
        assert again.result() == "answer"
        at += 1
    assert at > 5
    runner.close()
