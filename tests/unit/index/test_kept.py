from __future__ import annotations

import threading

from simonides.index.snapshot import MOST, Kept


def test_a_value_is_made_once_for_a_key() -> None:
    kept, made = Kept(), list[int]()

    def make() -> list[int]:
        made.append(len(made))
        return [made[-1]]

    assert kept.get("m", "a", make) is kept.get("m", "a", make)
    assert kept.get("m", "b", make) == [1]
    assert made == [0, 1]


def test_what_was_used_longest_ago_goes_first() -> None:
    kept, made = Kept(), list[int]()

    def get(key: int) -> int:
        def make() -> int:
            made.append(key)
            return key

        return kept.get("m", key, make)

    for key in range(MOST):
        get(key)
    get(0)
    get(MOST)  # in the place of 1
    made.clear()
    assert [get(key) for key in (0, MOST, 2)] == [0, MOST, 2]
    assert made == []
    assert get(1) == 1
    assert made == [1]


def test_what_one_maker_makes_displaces_nothing_of_another() -> None:
    kept = Kept()
    kept.get("mask", 0, lambda: "mask")
    for key in range(2 * MOST):
        kept.get("sums", key, lambda: "sums")
    assert kept.get("mask", 0, lambda: "made anew") == "mask"


def test_a_fault_leaves_nothing_behind() -> None:
    kept = Kept()

    def fail() -> int:
        raise LookupError

    for _ in range(2):
        try:
            kept.get("m", "a", fail)
        except LookupError:
            continue
        raise AssertionError("kept what was never made")
    assert kept.get("m", "a", lambda: 5) == 5


def test_many_threads_get_what_belongs_to_their_key() -> None:
    kept, wrong = Kept(), list[int]()

    def work(seed: int) -> None:
        for step in range(300):
            key = (seed * 7 + step) % (2 * MOST)
            if kept.get("m", key, lambda key=key: -key) != -key:  # type: ignore[misc]
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(kept._values["m"]) <= MOST
