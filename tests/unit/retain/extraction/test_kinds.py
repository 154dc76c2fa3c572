from __future__ import annotations

import pytest

from simonides.records.kind import Kind
from simonides.retain.extraction.kinds import find_kind
from simonides.retain.extraction.names import find_names
from simonides.retain.extraction.passage import Passage, find_speaker


def kind(text: str, *, dated: bool = False) -> Kind | None:
    passage, speaker = Passage.read(text), find_speaker(text)
    names = find_names(passage, speaker=speaker)
    return find_kind(passage, names, dated=dated, body=speaker.body if speaker else 0)


@pytest.mark.spec("HX-21")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We decided to ship on Friday.", Kind.DECISION),
        ("To restart the relay, run `relayctl restart`.", Kind.PROCEDURAL),
        ("Mo prefers tea.", Kind.PREFERENCE),
        ("Bo: I love sailing at dawn.", Kind.PREFERENCE),
        ("The timeout lives in `relay/config.toml`.", Kind.CODE),
        ("```\nprint(1)\n```", Kind.CODE),
        ("Nerys tested the mock-up last week.", Kind.EPISODIC),
        ("Storm Petronel tore the antenna off.", Kind.EPISODIC),
        ("Marrowtide is a data service.", Kind.SEMANTIC),
        ("Kofi Dunmarrow works at Gullspire.", Kind.SEMANTIC),
    ],
)
def test_cues_tell_the_kind(text: str, expected: Kind) -> None:
    assert kind(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We decided to run `relayctl` after the outage last week.", Kind.DECISION),
        ("To fix `relay.py`, run the tests that Bo wrote.", Kind.PROCEDURAL),
        ("Bo prefers `vim`, he said yesterday.", Kind.PREFERENCE),
        ("Bo fixed `relay.py` yesterday.", Kind.CODE),
        ("Bo is a sailor and went home yesterday.", Kind.EPISODIC),
    ],
)
def test_the_earlier_kind_wins_where_several_have_a_cue(text: str, expected: Kind) -> None:
    assert kind(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that's awesome!",
        "Do you like tea?",
        "What made you choose that?",
        "Sounds like a plan.",
        "I'm so impressed.",
        "You got this!",
        "Sports are the best.",
        "The gauges are painted.",
        "",
    ],
)
def test_without_a_sure_cue_there_is_no_kind(text: str) -> None:
    assert kind(text) is None


def test_a_date_beside_a_past_tense_is_enough() -> None:
    text = "the pier was painted"

    assert kind(text) is None
    assert kind(text, dated=True) is Kind.EPISODIC


def test_other_languages_are_code_or_nothing() -> None:
    german = "Wir haben uns entschieden und es ist nicht so, wie es bei uns war"

    assert kind(german) is None
    assert kind(f"{german}: `relay.py`") is Kind.CODE
