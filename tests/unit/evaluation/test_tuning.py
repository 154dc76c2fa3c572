"""Tuning adopts what holds on queries that had no say, and refuses all else with the reason."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.tuning import Asker, Settings, least_differing, least_queries, tune
from simonides.evaluation.tuning_file import JudgedQuery, base_of
from simonides.evaluation.tuning_search import tunable
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank

QUESTIONS = 30
# Meaning counts eight times as much as words; in the bank below meaning is always wrong.
PROFILE = """
order = ["terms", "embedding", "dense", "lexical", "score_sum", "token_budget"]
[stages.dense]
depth = 10
rescore = 100
[stages.lexical]
depth = 10
k1 = 1.2
b = 0.5
fields = { text = 1.0 }
[stages.score_sum]
weights = { dense = 8.0, lexical = 1.0 }
[stages.token_budget]
count = "rendered"
label = ["date"]
"""


@dataclass(frozen=True)
class World:
    """A bank in which words find the right memory, and meaning finds another one."""

    bank: Bank
    profile: Path
    right: Sequence[str]
    decoys: Sequence[str]

    def queries(self, answers: Sequence[str]) -> list[JudgedQuery]:
        return [JudgedQuery(n + 1, question(n), (answers[n],)) for n in range(QUESTIONS)]


def word(n: int) -> str:
    """A made-up word of its own for each number; digits would be terms that others share."""
    return f"zu{'bdfgklmnp'[n // 5]}{'aeiou'[n % 5]}x"


def question(n: int) -> str:
    return f"where is {word(n)} kept"


def vector(n: int) -> list[float]:
    return [1.0 if place == n else 0.01 for place in range(2 * QUESTIONS)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    right = [f"Odalys keeps {word(n)} there" for n in range(QUESTIONS)]
    decoys = [f"Teodor painted the {word(n)[::-1]} fence" for n in range(QUESTIONS)]
    overrides = {
        **{text: vector(n) for n, text in enumerate(decoys)},
        **{question(n): vector(n) for n in range(QUESTIONS)},
        **{text: vector(QUESTIONS + n) for n, text in enumerate(right)},
    }
    profile = tmp_path / "mine.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    embedder = StubEmbedder(dimension=2 * QUESTIONS, overrides=overrides)
    with simonides.open(
        tmp_path / "store", clock=FrozenClock(), embedder=embedder, environ={}, expander=None
    ) as store:
        bank = store.bank("diary")
        yield World(
            bank,
            profile,
            bank.retain([*right], deduplicate=False),
            bank.retain([*decoys], deduplicate=False),
        )


def test_a_better_weight_is_found_and_adopted(world: World) -> None:
    told: list[tuple[str, int, int | None]] = []
    tuned = tune(
        world.bank,
        world.profile,
        world.queries(world.right),
        Settings(trials=20),
        progress=lambda *step: told.append(step),
    )

    assert tuned.adopted
    assert not tuned.reason
    after = {".".join(change.number.path): change.after for change in tuned.changes}
    weights = {"weights.dense": 8.0, "weights.lexical": 1.0, **after}
    assert weights["weights.lexical"] > weights["weights.dense"]
    held_out = tuned.evidence["held_out"]
    assert held_out["after"]["mean"] == 1.0
    assert held_out["difference"]["low"] > 0.2
    assert held_out["difference"]["p"] < 0.01
    assert told == [("profiles tried", n + 1, 20) for n in range(tuned.evidence["search"]["trials"])]


def test_the_held_out_part_has_no_say_in_the_search(world: World) -> None:
    right = world.queries(world.right)
    lines = tune(world.bank, world.profile, right, Settings(trials=12)).evidence["queries"]["held_out_lines"]
    assert len(lines) == 12
    wrong = [
        JudgedQuery(each.line, each.query, (world.decoys[each.line - 1],)) if each.line in lines else each
        for each in right
    ]

    tuned = tune(world.bank, world.profile, wrong, Settings(trials=12))

    assert tuned.changes
    assert not tuned.adopted
    assert "does not help others" in tuned.reason


def test_a_profile_whose_numbers_cannot_matter_is_left_alone(world: World, tmp_path: Path) -> None:
    words = tmp_path / "words.toml"
    words.write_text(
        'extends = "./mine.toml"\norder = ["terms", "lexical", "score_sum", "token_budget"]', encoding="utf-8"
    )
    # Each question finds one memory by its only word that any memory holds.
    tuned = tune(world.bank, words, world.queries(world.right), Settings(trials=20))

    assert not tuned.adopted
    assert not tuned.changes
    assert "none changed the score" in tuned.reason
    assert tuned.evidence["search"]["trials"] > 0
    assert tuned.evidence["held_out"]["difference"]["p"] == 1.0


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 3))])
def test_labels_drawn_by_chance_are_refused(world: World, seed: int) -> None:
    coin = random.Random(seed)
    answers = [coin.choice(pair) for pair in zip(world.right, world.decoys, strict=True)]

    tuned = tune(world.bank, world.profile, world.queries(answers), Settings(trials=12, seed=seed))

    assert tuned.evidence["search"]["trials_that_changed_a_score"] > 0
    assert not tuned.adopted
    assert tuned.reason


def test_the_same_seed_gives_the_same_and_the_clock_changes_nothing(world: World) -> None:
    queries = world.queries(world.right)
    first = tune(world.bank, world.profile, queries, Settings(trials=8, seed=3)).to_dict()
    clock = world.bank._context.parts.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(seconds=86_400 * 400)

    assert tune(world.bank, world.profile, queries, Settings(trials=8, seed=3)).to_dict() == first
    assert tune(world.bank, world.profile, queries, Settings(trials=8, seed=4)).to_dict() != first


def test_values_that_a_stage_or_a_guard_rail_refuses_are_not_asked_with(world: World, tmp_path: Path) -> None:
    railed = tmp_path / "railed.toml"
    railed.write_text('extends = "./mine.toml"\n[at_most.lexical]\nk1 = 1.2\n', encoding="utf-8")
    base = base_of(railed)
    numbers = tunable(base.described)
    queries = world.queries(world.right)[:2]
    asker = Asker(world.bank, base, numbers, "2026-04-01", tmp_path, "judged")

    def ask(name: str, value: float) -> object:
        return asker.ask(queries, tuple(value if str(n) == name else n.value for n in numbers))

    assert ask("lexical.k1", 1.1) is not None
    assert ask("lexical.k1", 1.3) is None
    assert ask("lexical.b", 1.5) is None


def test_too_few_queries_and_how_many_are_needed(world: World) -> None:
    needed = least_queries(Settings())
    assert needed == 16
    queries = world.queries(world.right)
    with pytest.raises(InputError, match=r"15 judged queries are too few; at least 16 are needed"):
        tune(world.bank, world.profile, queries[: needed - 1])
    tune(world.bank, world.profile, queries[:needed], Settings(trials=1))


@pytest.mark.parametrize(("alpha", "least"), [(0.5, 3), (0.05, 6), (0.01, 8), (0.001, 11)])
def test_fewer_differing_queries_can_never_be_significant(alpha: float, least: int) -> None:
    assert least_differing(alpha) == least
    assert 2 / 2**least < alpha <= 2 / 2 ** (least - 1)


def test_an_unknown_id_is_named_with_its_line(world: World) -> None:
    queries = world.queries(world.right)
    queries[4] = JudgedQuery(5, question(4), (world.right[4], "no-such-id"))
    queries[7] = JudgedQuery(8, question(7), ("neither",))
    with pytest.raises(InputError, match=r"line 5: .*'no-such-id' in bank 'diary' and 1 more"):
        tune(world.bank, world.profile, queries)


def test_a_wrong_argument_is_named_with_its_line(world: World) -> None:
    queries = world.queries(world.right)
    queries[9] = JudgedQuery(10, question(9), (world.right[9],), {"as_of": "soon"})
    with pytest.raises(InputError, match=r"line 10: as_of: "):
        tune(world.bank, world.profile, queries, Settings(trials=1))


def test_a_bank_of_a_principal_and_an_empty_one(world: World, tmp_path: Path) -> None:
    queries = world.queries(world.right)
    with simonides.open(tmp_path / "other", embedder=None, environ={}) as store:
        with pytest.raises(InputError, match=r"tune as the owner"):
            tune(store.bank("diary", principal="odalys"), world.profile, queries)
        with pytest.raises(InputError, match=r"holds no memory"):
            tune(store.bank("diary"), world.profile, queries)


def test_a_profile_without_such_numbers(world: World, tmp_path: Path) -> None:
    bare = tmp_path / "bare.toml"
    bare.write_text(
        'order = ["embedding", "dense", "interleave", "token_budget"]\n[stages.dense]\ndepth = 5\nrescore = 9\n'
        '[stages.token_budget]\ncount = "rendered"\nlabel = []\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"states no number that can be tuned"):
        tune(world.bank, bare, world.queries(world.right))


@pytest.mark.parametrize(
    "wrong",
    [{"trials": 0}, {"held_out": 0.0}, {"held_out": 1.0}, {"alpha": 0.0}, {"alpha": 0.6}, {"seed": -1}],
)
def test_settings_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]


def test_an_unknown_measure() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'ndcg@10'"):
        Settings(measure="ndcg")
