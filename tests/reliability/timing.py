"""Whether answers take longer where somebody else's secrets are about the question.

Two banks hold the same open memories, and as many secret ones: in the first they are about the subjects of
``questions[0]``, in the second about those of ``questions[1]``. Of each round the logarithm

    d = ½ · log( t(first, q0) · t(second, q1) / (t(first, q1) · t(second, q0)) )

is kept, in which neither how a bank happens to lie in memory nor how much work a question is counts: only
whether question and secrets meet. Where that changes nothing, the sign of d is a coin's, so Wilcoxon's sum of
signed ranks is compared with the sums under ``DRAWS`` random signs (``evaluation.randomisation``).

Processor time of the thread that asks, which answers by itself; the order in each round is drawn by chance, so
that a drift of the machine counts on both sides.
"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.evaluation.comparing import sign_flip_p

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DRAWS = 9_999
_CALLS_OF_A_ROUND = 2


@dataclass(frozen=True, slots=True)
class Difference:
    """What it makes when secrets are about the question.

    Attributes:
        calls: timed ones where they are; as many where they are not.
        percent: median of the rounds' ratios less 1, in percent; positive = it takes longer.
        interval: 95 % interval of that median by its order statistics, percent.
        p: how often chance alone makes as much of a difference, in (0, 1].
    """

    calls: int
    percent: float
    interval: tuple[float, float]
    p: float


def compare(
    banks: tuple[Callable[[str], object], Callable[[str], object]],
    questions: tuple[Sequence[str], Sequence[str]],
    calls: int,
    seed: int,
) -> Difference:
    """Ask, after each question was asked once of each bank, untimed.

    Args:
        banks: ask the first and the second one.
        questions: about the secrets of the first and of the second one, equally many.
        calls: where question and secrets meet, and where they do not, each; even.
        seed: of the order in each round and of the permutations.
    """
    chance = np.random.default_rng(seed)
    for ask in banks:
        for question in (*questions[0], *questions[1]):
            ask(question)
    rounds = calls // _CALLS_OF_A_ROUND
    found = np.empty(rounds)
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            taken = np.empty((2, 2))
            for cell in chance.permutation(4).tolist():
                bank, about = divmod(cell, 2)
                ask, question = banks[bank], questions[about][number % len(questions[about])]
                began = time.thread_time_ns()
                ask(question)
                taken[bank, about] = time.thread_time_ns() - began
            logs = np.log(taken)
            found[number] = (logs[0, 0] + logs[1, 1] - logs[0, 1] - logs[1, 0]) / 2
            if number % 20 == 0:
                gc.collect()
    finally:
        gc.enable()
    return judge(found, chance)


def judge(ratios: NDArray[np.float64], chance: np.random.Generator) -> Difference:
    """The test itself, of one logarithm a round."""
    ranks = np.empty(len(ratios))
    ranks[np.argsort(np.abs(ratios), kind="stable")] = np.arange(1, len(ratios) + 1)
    p = sign_flip_p(np.sign(ratios) * ranks, chance, DRAWS)
    # The median lies between these order statistics 95 times of 100 (normal approximation of a coin's heads).
    half = 1.96 * math.sqrt(len(ratios)) / 2
    places = (
        max(0, math.floor(len(ratios) / 2 - half)),
        min(len(ratios) - 1, math.ceil(len(ratios) / 2 + half)),
    )
    low, high = (_percent(np.sort(ratios)[place]) for place in places)
    return Difference(_CALLS_OF_A_ROUND * len(ratios), _percent(np.median(ratios)), (low, high), p)


def _percent(logarithm: float) -> float:
    return round(100 * (math.exp(float(logarithm)) - 1), 3)
