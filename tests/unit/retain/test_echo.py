from __future__ import annotations

import threading

from simonides.retain.echo import _REMEMBERED, RecentAnswers


def test_a_returned_text_is_known_whatever_its_spaces() -> None:
    answers = RecentAnswers()
    answers.remember(("the fuse\nis  blown ", "m1"))
    assert answers.source(" the fuse is\tblown") == "m1"
    assert answers.source("the fuse is not blown") is None
    assert answers.source("The fuse is blown") is None


def test_the_newest_memory_stands_for_a_text() -> None:
    answers = RecentAnswers()
    answers.remember(("fuse", "m1"))
    answers.remember(("fuse", "m2"))
    assert answers.source("fuse") == "m2"


def test_the_oldest_texts_are_let_go() -> None:
    answers = RecentAnswers()
    answers.remember(("first", "m"))
    answers.remember(("second", "m"))
    for number in range(_REMEMBERED - 2):
        answers.remember((f"text {number}", "m"))
    answers.remember(("first", "m"))
    answers.remember(("one more", "m"))
    assert answers.source("first") == "m"
    assert answers.source("second") is None


def test_long_texts_take_no_room() -> None:
    answers = RecentAnswers()
    answers.remember(("x" * 1_000_000, "m"))
    assert answers.source("x" * 1_000_000) == "m"
    assert sum(len(key) for key in answers._ids) < 100


def test_threads_may_remember_at_once() -> None:
    answers = RecentAnswers()

    def remember(name: int) -> None:
        for number in range(_REMEMBERED):
            answers.remember((f"{name} {number}", str(name)))

    threads = [threading.Thread(target=remember, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers._ids) == _REMEMBERED
    assert answers.source("nobody said so") is None
