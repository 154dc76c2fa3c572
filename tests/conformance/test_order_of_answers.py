"""N3 and N4 through the default profile: what answers leads, with and without an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.recall.refining.answers_first import SIGNAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

FACT = "The alarm code of the greenhouse is 8821."
OTHERS = (
    "Figs need water every second day.",
    "The greenhouse was built by Odalys Brenn.",
    "My shoe size is 44.",
    "The ferry to Norrhav leaves from pier four.",
)
WORDINGS = (
    "What is the alarm code of the greenhouse?",
    "How do I switch off the alarm in the greenhouse?",
    "what's the greenhouse alarm code",
    "What was the greenhouse alarm again?",
    "Can you tell me the code for the alarm of the greenhouse?",
    "tell me how to switch off the greenhouse alarm",
    "Which number turns off the greenhouse alarm?",
    "Sorry, what is that alarm code?",
    "Remind me what switches off the alarm in the greenhouse",
    "the alarm code, please?",
    "I forgot which code the greenhouse alarm has.",
    "Do you still know the code of the greenhouse alarm?",
    "What do I type when the alarm of the greenhouse goes off?",
    "alarm code?",
    "Hi! Which code belongs to the greenhouse alarm?",
    "how can the alarm of the greenhouse be switched off",
    "Which code is the alarm of the greenhouse switched off with?",
    "Could you give me the greenhouse alarm code once more?",
    "Is there a code for the greenhouse alarm?",
    "The greenhouse alarm, what is its code?",
)
QUESTION = WORDINGS[0]


@pytest.fixture(params=["with an embedder", "words alone"])
def chat(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    embedder = None if request.param == "words alone" else request.getfixturevalue("default_embedder")
    with simonides.open(tmp_path / "store", clock=clock, embedder=embedder, environ={}) as store:
        bank = store.bank("chat")
        bank.retain([FACT, *OTHERS])
        yield bank


@pytest.mark.fault("N3")
@pytest.mark.parametrize("answered", [False, True])
def test_a_fact_stays_first_when_it_is_asked_for_twenty_times(
    chat: Bank, clock: FrozenClock, answered: bool
) -> None:
    for number, wording in enumerate(WORDINGS):
        clock.advance(seconds=3_600)
        answer = chat.recall(wording)
        assert answer.hits[0].text == FACT, (wording, [hit.text for hit in answer])
        assert not answer.no_match
        turns = [{"speaker": "user", "role": "user", "text": wording}]
        if answered:
            turns.append(
                {
                    "speaker": "assistant",
                    "role": "assistant",
                    "text": "It is 8821, for the alarm of the greenhouse.",
                }
            )
        chat.retain_conversation(turns, session=f"s{number}")


@pytest.mark.fault("N3")
def test_a_stored_question_alone_is_no_answer(chat: Bank) -> None:
    asked = "Which violin maker did Balthazar commission?"
    chat.retain_conversation([{"speaker": "user", "role": "user", "text": asked}], session="s1")
    for query in (asked, "Balthazar's violin maker"):
        answer = chat.recall(query)
        assert answer.band == "none"
        assert answer.context == ""
        assert asked not in answer.context
        assert all(hit.relevance == 0.0 for hit in answer if asked in hit.text)


@pytest.mark.fault("N3")
def test_what_was_asked_is_found_by_who_wants_to_know_it(chat: Bank) -> None:
    chat.retain_conversation([{"speaker": "user", "role": "user", "text": QUESTION}], session="s1")
    answer = chat.recall("What did I ask about the alarm of the greenhouse?")
    found = next(hit for hit in answer if QUESTION in hit.text)
    assert found.relevance


@pytest.mark.fault("N3")
def test_a_tools_output_comes_behind_what_the_user_says(chat: Bank) -> None:
    chat.retain("greenhouse alarm log: alarm switched off, alarm switched on, alarm test", role="tool")
    assert chat.recall("greenhouse alarm").hits[0].text == FACT


@pytest.mark.fault("N3")
def test_the_explanation_names_the_rule(chat: Bank) -> None:
    for wording in WORDINGS[:6]:
        chat.retain_conversation([{"speaker": "user", "role": "user", "text": wording}], session=wording[:9])
    answer = chat.recall(QUESTION, explain=True)
    first = answer.explanations[0]
    verdict = next(each for each in first.verdicts if each.stage == "answers_first")
    assert answer.hits[0].text == FACT
    if verdict.note:
        assert first.signals[SIGNAL] >= 1
        assert verdict.note.startswith("moved before what only asks")


@pytest.mark.fault("N3")
def test_a_bank_of_another_index_format_is_read_anew(
    tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr("simonides.index.generation.FORMAT", 4)
        with simonides.open(tmp_path / "s", clock=clock, embedder=None, environ={}) as store:
            bank = store.bank("chat")
            bank.retain([FACT, *OTHERS, *WORDINGS])
            before = bank.recall(QUESTION)
    with simonides.open(tmp_path / "s", clock=clock, embedder=None, environ={}) as store:
        answer = store.bank("chat").recall(QUESTION)
        assert [hit.id for hit in answer] == [hit.id for hit in before]
        assert answer.hits[0].text == FACT
