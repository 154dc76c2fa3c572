"""Public faults of what a recall answers: options that do nothing, limits that are not reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import simonides

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import BankWith

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.testing.clock import FrozenClock

REPRODUCED = ("engram", "memoria", "jeffs_brain", "hindsight", "helix")
PROFILES = (*REPRODUCED, "default", "lexical")


@pytest.fixture
def words_only(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    """An empty bank of a store without an embedder."""
    with simonides.open(tmp_path / "words", clock=clock, embedder=None, environ={}) as opened:
        yield opened.bank("diary")


def texts(answer: Any) -> list[str]:
    return [hit.text for hit in answer]


def said(answer: Any, option: str) -> list[str]:
    return [line for line in answer.trace.degraded if line.startswith(f"{option}:")]


# Option → a value, and the profiles that have a stage for it.
OPTIONS: dict[str, tuple[Any, set[str]]] = {
    "mode": ("semantic", {"jeffs_brain"}),
    "budget": ("high", {"hindsight"}),
    "budget_function": ("adaptive", {"hindsight"}),
    "entity_hints": (["Ines"], {"engram", "memoria", "hindsight", "helix", "default"}),
    "question_date": ("2026-02-01", {"engram", "jeffs_brain", "hindsight", "default"}),
    "syntax": ("extended", {"jeffs_brain"}),
    "aliases": ({"lamp": ["light"]}, {"jeffs_brain"}),
    "deadline_ms": (60_000, set(PROFILES) - {"lexical"}),
    "include_chunks": (True, set(PROFILES)),
}


@pytest.mark.fault("N9")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_no_stage_reads_is_ignored_and_said(bank: Bank, option: str, profile: str) -> None:
    bank.retain(["The lamp is green.", "Ines mends the lamp.", "The kettle is red."])
    value, readers = OPTIONS[option]
    plain = bank.recall("lamp", profile=profile)

    answer = bank.recall("lamp", profile=profile, **{option: value})

    lines = said(answer, option)
    if profile in readers:
        assert lines == []
        return
    assert len(lines) == 1
    assert repr(profile) in lines[0]
    assert [(hit.id, hit.score) for hit in answer] == [(hit.id, hit.score) for hit in plain]
    assert answer.context == plain.context


@pytest.mark.fault("N9")
@pytest.mark.parametrize("profile", [each for each in PROFILES if each != "jeffs_brain"])
@pytest.mark.parametrize("mode", ["semantic", "bm25", "hybrid", "hybrid-rerank"])
def test_a_mode_never_empties_a_profile_that_has_none(words_only: Bank, profile: str, mode: str) -> None:
    words_only.retain(["The lamp is green.", "The kettle is red."])

    answer = words_only.recall("lamp", profile=profile, mode=mode)

    assert texts(answer)[:1] == ["The lamp is green."]
    assert said(answer, "mode")


@pytest.mark.fault("N9")
def test_the_conditions_of_an_extended_query_still_filter(words_only: Bank) -> None:
    words_only.retain([{"text": "The lamp is green.", "tags": ["home"]}, "The lamp is red."])

    answer = words_only.recall("tag:home lamp", syntax="extended")

    assert texts(answer) == ["The lamp is green."]
    assert "filter" in said(answer, "syntax")[0]


@pytest.mark.fault("N9")
def test_why_not_and_a_job_ignore_the_same(words_only: Bank) -> None:
    lamp, _ = words_only.retain(["The lamp is green.", "The kettle is red."])

    assert words_only.why_not(lamp, "lamp", mode="semantic").returned
    plain = words_only.recall("lamp", mode="semantic", tier="async")
    job = words_only.get_job(plain.job, wait_seconds=30)

    assert job.recall is not None
    assert texts(job.recall) == texts(plain) == ["The lamp is green."]
    assert said(job.recall, "mode") == said(plain, "mode")


PROSE = (
    "It was raining when we left the house.",
    "Who knows whether it is the pump?",
    "The kettle is red.",
    "I asked who it was at the door.",
    "He said: to be or not to be, that is the question.",
    "Our IT department moved to Ghent.",
    "The gateway is written in C++ and the editor in C#.",
    "The old driver is written in C.",
)


@pytest.fixture
def prose(words_only: Bank) -> Bank:
    words_only.retain(PROSE)
    return words_only


@pytest.mark.fault("N6")
@pytest.mark.parametrize("profile", ["default", "lexical"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("who was it", {3}),
        ("Who was it?", {3}),
        ("to be or not to be", {4}),
        ("IT", {5}),
        ("who is in IT?", {5}),
        ("is there anybody", set()),
        ("why should she", set()),
        ("C++", {6}),
        ("C#", {6}),
        ("C", {7}),
    ],
)
def test_stop_words_alone_find_what_holds_all_of_them(
    prose: Bank, profile: str, query: str, found: set[int]
) -> None:
    answer = prose.recall(query, profile=profile)

    assert set(texts(answer)) == {PROSE[n] for n in found}
    assert answer.no_match == (not found)
    assert bool(answer.context) == bool(found)


@pytest.mark.fault("N6")
def test_the_trace_says_why_stop_words_found_nothing(prose: Bank) -> None:
    answer = prose.recall("why should she")

    assert any("only stop-words" in line and "should" in line for line in answer.trace.degraded)


@pytest.mark.fault("N6")
@pytest.mark.parametrize("profile", ["default", "lexical"])
def test_a_name_in_capitals_stays_in_a_question(prose: Bank, profile: str) -> None:
    answer = prose.recall("Who leads IT in Antwerp?", profile=profile)

    assert texts(answer) == ["Our IT department moved to Ghent."]
    assert texts(prose.recall("Who leads it in Antwerp?", profile=profile)) == []


@pytest.mark.fault("N6")
def test_a_name_in_capitals_raises_what_holds_it(words_only: Bank) -> None:
    words_only.retain(["The team in Ghent says it is late.", "The IT team in Ghent is late."])

    assert texts(words_only.recall("IT team Ghent"))[0] == "The IT team in Ghent is late."


@pytest.mark.fault("N6")
def test_stop_words_alone_heed_filters_and_readers(words_only: Bank) -> None:
    words_only.retain(
        [
            {"text": "I asked who it was.", "tags": ["a"]},
            {"text": "Nobody knew who it was.", "acl": ["ines"]},
        ]
    )

    assert texts(words_only.recall("who was it", tags=["b"], tags_match="any_strict")) == []
    assert texts(words_only.recall("who was it", tags=["a"], tags_match="any_strict")) == [
        "I asked who it was."
    ]


@pytest.mark.fault("N6")
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("who was it", ["who", "was", "it"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("May", ["May"]),
        ("C++", ["C++"]),
        ("is C# used in the editor", ["C#"]),
        ("department of IT in Ghent", ["IT"]),
    ],
)
def test_the_query_language_says_which_words_it_drops(prose: Bank, query: str, named: list[str]) -> None:
    answer = prose.recall(query, profile="jeffs_brain")

    (line,) = said(answer, "query_dsl")
    assert all(repr(word) in line for word in named)
    quoted = prose.recall(f'"{query}"', profile="jeffs_brain")
    assert said(quoted, "query_dsl") == []


@pytest.mark.fault("N6")
@pytest.mark.parametrize("query", ["the pump", "who is at the pump", "department Ghent"])
def test_filler_beside_words_that_are_searched_is_not_named(prose: Bank, query: str) -> None:
    assert said(prose.recall(query, profile="jeffs_brain"), "query_dsl") == []


@pytest.mark.fault("N6")
@pytest.mark.parametrize("profile", [each for each in REPRODUCED if each != "jeffs_brain"])
def test_a_reproduced_profile_finds_what_it_found(prose: Bank, profile: str) -> None:
    assert len(prose.recall("who was it", profile=profile)) >= 3


# Words that the default embedder does not know.
FOREIGN = ("김치찌개", "날씨가 좋다", "ประเทศไทย", "แมวนอนหลับ", "น้ำตก", "请求书", "薪酬条例")


@pytest.mark.fault("N5")
@pytest.mark.model
@pytest.mark.parametrize("profile", ["default", "engram", "memoria", "jeffs_brain", "hindsight", "helix"])
def test_a_word_that_the_embedder_does_not_know_is_found_by_words(
    tmp_path: Path, clock: FrozenClock, default_embedder: Embedder, profile: str
) -> None:
    with simonides.open(tmp_path / "foreign", clock=clock, embedder=default_embedder, environ={}) as opened:
        bank = opened.bank("diary")
        bank.retain([*FOREIGN, *(f"Gauge {n} stands by the pier." for n in range(40))])
        for word in FOREIGN:
            assert texts(bank.recall(word, profile=profile, max_tokens=None))[0] == word
        absent = bank.recall("ขนมปัง", profile=profile)
        assert not set(texts(absent)) & set(FOREIGN)


@pytest.mark.fault("N5")
@pytest.mark.model
def test_full_width_letters_are_the_same_letters_to_the_embedder(default_embedder: Embedder) -> None:
    wide = "Ｔｈｅ ｋｅｔｔｌｅ ｉｓ ｒｅｄ．"
    vectors = default_embedder.encode(
        ["The kettle is red", "Ｔｈｅ　ｋｅｔｔｌｅ ｉｓ ｒｅｄ", "ﬁne ﬂour", "fine flour"]
    )

    assert (vectors[0] == vectors[1]).all()
    assert (vectors[2] == vectors[3]).all()
    assert default_embedder.encode_query(wide) @ vectors[0] > 0.9


@pytest.fixture
def lamps(bank_with: BankWith) -> Bank:
    texts = [f"Lamp number {n} hangs in room {n * 7 % 400}." for n in range(320)]
    return bank_with("320 lamps", lambda bank: bank.retain(texts))


@pytest.mark.fault("N8")
@pytest.mark.parametrize("profile", ["default", "lexical"])
def test_as_many_hits_come_as_the_limit_asks_for(lamps: Bank, profile: str) -> None:
    answer = lamps.recall("lamp", profile=profile, limit=300, max_tokens=None, precision="wide")

    assert len(answer) == 300
    assert said(answer, "limit") == []
    assert len(lamps.recall("lamp", profile=profile, limit=400, max_tokens=None, precision="wide")) == 320


@pytest.mark.fault("N8")
def test_without_an_embedder_the_limit_is_reached_too(words_only: Bank) -> None:
    words_only.retain([f"Lamp number {n} hangs in room {n * 7 % 400}." for n in range(320)])

    assert len(words_only.recall("lamp", limit=300, max_tokens=None, precision="wide")) == 300


@pytest.mark.fault("N8")
def test_the_filters_of_a_deep_recall_count_before_the_limit(lamps: Bank) -> None:
    lamps.retain([{"text": f"Lamp {n} of the cellar.", "tags": ["cellar"]} for n in range(150)])

    answer = lamps.recall(
        "lamp", tags=["cellar"], tags_match="any_strict", limit=140, max_tokens=None, precision="wide"
    )

    assert len(answer) == 140


@pytest.mark.fault("N8")
@pytest.mark.parametrize("profile", REPRODUCED)
def test_a_reproduced_profile_keeps_its_depth_and_says_where_it_ends(lamps: Bank, profile: str) -> None:
    # At its usual budget, 300 memories in each of four channels, hindsight would find them all.
    budget = "low" if profile == "hindsight" else None
    answer = lamps.recall(
        "lamp", profile=profile, limit=319, max_tokens=None, budget=budget, precision="wide"
    )

    lines = said(answer, "limit")
    assert len(answer) < 319
    assert len(lines) == 1
    assert "319 is above the depth" in lines[0] or "319 is above the most" in lines[0]
    assert repr(profile) in lines[0]
    few = lamps.recall("lamp", profile=profile, limit=5, precision="wide")
    assert said(few, "limit") == []


@pytest.mark.fault("N8")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_limit_that_more_memories_would_not_reach_is_no_fault_of_the_profile(
    words_only: Bank, profile: str
) -> None:
    words_only.retain(["The lamp is green.", "The kettle is red."])

    assert said(words_only.recall("lamp", profile=profile, limit=300, precision="wide"), "limit") == []


@pytest.mark.fault("N8")
def test_a_limit_above_the_ceiling_of_a_profile_says_so(lamps: Bank, tmp_path: Path) -> None:
    profile = tmp_path / "shallow.toml"
    profile.write_text('extends = "default"\nmax_depth = 150\n', encoding="utf-8")

    answer = lamps.recall("lamp", profile=profile, limit=310, max_tokens=None, precision="wide")

    assert 150 <= len(answer) < 310
    assert "the depth 150 of" in said(answer, "limit")[0]


@pytest.mark.fault("N8")
def test_a_job_reaches_the_limit_too(lamps: Bank) -> None:
    plain = lamps.recall("lamp", limit=300, max_tokens=None, tier="async", precision="wide")

    job = lamps.get_job(plain.job, wait_seconds=60)

    assert job.recall is not None
    assert len(job.recall) == len(plain) == 300


# How sure, how many: banks of a few facts, asked in a few words.

FEW = (
    "Guest network at home: SSID Heron, key tulip42.",
    "GitHub Actions secrets live in the settings of the organisation.",
    "Trash goes out on Tuesday evening.",
    "The dentist is Dr. Opal Marchetti on Linden Row.",
    "Call Jo about the boat at +491575550707.",
    "My e-mail is jo@tern.example.",
    "Rent is 1,480 euros, paid on the first of the month.",
    "Tamsin is allergic to peanuts.",
    "The spare key hangs behind the cellar door.",
    "The piano was last tuned in January.",
    "Milo plays the trombone in the school band.",
    "The car's inspection runs out in April.",
    "The balcony tomatoes want water every evening.",
    "The landlord answers within two days.",
)


@pytest.fixture
def few(tmp_path: Path, clock: FrozenClock, default_embedder: Embedder) -> Iterator[Bank]:
    """A bank of a few facts, with the default embedder."""
    with simonides.open(tmp_path / "few", clock=clock, embedder=default_embedder, environ={}) as opened:
        bank = opened.bank("home")
        bank.retain(list(FEW))
        yield bank


@pytest.mark.model
@pytest.mark.fault("N1")
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("wifi password", 0),
        ("wifi", 0),
        ("GHA secrets", 1),
        ("trash day", 2),
        ("dentst", 3),
        ("+49 (157) 555-0707", 4),
        ("email", 5),
        ("rent eur", 6),
        ("peanut alergy", 7),
        ("Where is the spare key?", 8),
        ("piano tunning", 9),
        ("car MOT exp", 11),
    ],
)
def test_a_few_words_bring_the_right_fact_into_the_context(few: Bank, query: str, wanted: int) -> None:
    answer = few.recall(query)

    assert answer.hits[0].text == FEW[wanted]
    assert FEW[wanted] in answer.context
    assert len(answer.context.splitlines()) <= 3
    assert not answer.no_match


# The first minute: a handful of facts, and questions such as quick starts ask.
HANDFUL = (
    "Odile lives in Antwerp and works as a bookbinder.",
    "She is vegetarian and allergic to hazelnuts.",
    "Her dog Pepper is a three-year-old beagle.",
    "Odile prefers trains to planes and has a rail pass.",
    "The workshop meeting moved from Monday to Thursday at ten.",
)
FIRST_MINUTE = (
    ("Where does Odile live?", 0),
    ("What is Odile's job?", 0),
    ("what does she do for a living", 0),
    ("What can't she eat?", 1),
    ("any allergies?", 1),
    ("dietary restrictions", 1),
    ("What's the name of her pet?", 2),
    ("how old is Pepper", 2),
    ("How does Odile like to travel?", 3),
    ("travel preferences", 3),
    ("When is the workshop meeting?", 4),
    ("meeting day", 4),
)


@pytest.mark.model
@pytest.mark.fault("N1")
def test_the_first_minute(tmp_path: Path, clock: FrozenClock, default_embedder: Embedder) -> None:
    with simonides.open(tmp_path / "first", clock=clock, embedder=default_embedder, environ={}) as store:
        bank = store.bank("assistant")
        bank.retain(list(HANDFUL))
        answers = [(bank.recall(query), HANDFUL[wanted]) for query, wanted in FIRST_MINUTE]

    assert sum(answer.hits[0].text == wanted for answer, wanted in answers) >= 11
    assert all(answer.context for answer, _ in answers)
    lines = [len(answer.context.splitlines()) for answer, _ in answers]
    assert sum(lines) / len(lines) <= 3


@pytest.mark.model
@pytest.mark.fault("N2")
def test_one_fact_that_answers_is_one_hit_with_a_probability(few: Bank) -> None:
    answer = few.recall("When does the trash go out?")

    assert texts(answer) == [FEW[2]]
    assert answer.confidence is not None
    assert answer.hits[0].relevance is not None
    assert 0.7 < answer.hits[0].relevance <= answer.confidence <= 1
    wide = few.recall("When does the trash go out?", precision="wide", limit=10)
    assert len(wide) == 10
    assert all(0 <= (hit.relevance or 0.0) < 0.2 for hit in wide.hits[1:])
    assert len(few.recall("When does the trash go out?", min_relevance=0.999999)) <= 1


@pytest.mark.model
@pytest.mark.fault("N2")
@pytest.mark.parametrize("query", ["hello", "thank you so much!", "ok", "good morning"])
def test_small_talk_puts_nothing_into_a_prompt(few: Bank, query: str) -> None:
    answer = few.recall(query)

    assert (answer.band, answer.no_match, answer.context) == ("none", True, "")
    assert answer.confidence == 0


@pytest.mark.fault("N3")
@pytest.mark.parametrize("greeting", ["thanks", "Okay.", "Noted, thank you!"])
def test_a_greeting_answers_nothing(greeting: str, tmp_path: Path, default_embedder: Embedder) -> None:
    with simonides.open(tmp_path / "store", embedder=default_embedder, environ={}) as store:
        bank = store.bank("chat")
        turns = ["I moved to 4 Heron Lane.", greeting, "My sister is called Tove."]
        bank.retain_conversation(
            [{"speaker": "user", "role": "user", "text": text} for text in turns], session="a"
        )
        answer = bank.recall("What's my address?", precision="wide")
        assert "Heron Lane" in answer.hits[0].text
        assert [hit.relevance for hit in answer if greeting in hit.text] == [0.0]
        assert greeting not in bank.recall("What's my address?").context
