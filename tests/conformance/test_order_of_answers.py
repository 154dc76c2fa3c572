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


UPDATES = [f"The gate code is {number}." for number in range(4101, 4121)]
PAIRS = (
    ("Odalys Brenn lives in Norrhav.", "Odalys Brenn lives in Quillmouth.", "Where does Odalys Brenn live?"),
    ("My phone number is 555-0177.", "My phone number is 555-0166.", "What is my phone number?"),
    ("The preview runs on port 7411.", "The preview runs on port 7412.", "Which port does the preview use?"),
    ("The rent is 810 euros.", "The rent is 840 euros.", "How high is the rent?"),
    ("I work at Tarn & Fell.", "I work at Brightwater.", "Where do I work?"),
    ("The review is on Tuesday.", "The review is on Thursday.", "When is the review?"),
    ("Our project uses Lumen 3.1.", "Our project uses Lumen 3.2.", "Which Lumen version do we use?"),
    ("My favourite tea is oolong.", "My favourite tea is sencha.", "What is my favourite tea?"),
    ("The wifi password is fern-otter-4.", "The wifi password is moss-heron-9.", "wifi password"),
    ("The ladder hangs in the barn.", "The ladder hangs in the shed.", "Where does the ladder hang?"),
)


@pytest.mark.fault("N4")
def test_after_twenty_updates_the_newest_leads(chat: Bank, clock: FrozenClock) -> None:
    for number, update in enumerate(UPDATES, 1):
        clock.advance(days=10)
        chat.retain(update)
        answer = chat.recall("What is the gate code?")
        said = [hit.text for hit in answer if hit.text in UPDATES]
        assert answer.hits[0].text == update
        assert said == sorted(said, reverse=True)
        told = [line for line in answer.context.splitlines() if "gate code" in line]
        assert all("(earlier, " in line for line in told[1:]), told
        assert "earlier" not in told[0]
        assert len(said) <= number


@pytest.mark.fault("N4")
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("first", "second", "query"), PAIRS)
def test_of_two_values_the_newer_leads_whichever_it_is(
    chat: Bank, clock: FrozenClock, first: str, second: str, query: str, turned: bool
) -> None:
    older, newer = (second, first) if turned else (first, second)
    chat.retain(older)
    clock.advance(days=30)
    chat.retain(newer)
    texts = [hit.text for hit in chat.recall(query, precision="wide")]
    assert texts[0] == newer
    assert older not in texts or texts.index(older) == 1


@pytest.mark.fault("N4")
def test_values_that_were_brought_in_backwards_go_by_when_they_were_true(chat: Bank) -> None:
    older, newer, query = PAIRS[-1]
    chat.retain(newer, event_time="2026-02-01")
    chat.retain(older, event_time="2025-02-01")
    assert chat.recall(query).hits[0].text == newer


@pytest.mark.fault("N4")
def test_of_a_past_moment_the_newest_value_of_then_leads(chat: Bank, clock: FrozenClock) -> None:
    older, newer, query = PAIRS[-1]
    chat.retain(older)
    clock.advance(days=10)
    then = clock()
    clock.advance(days=10)
    chat.retain(newer)
    answer = chat.recall(query, as_of=then)
    assert answer.hits[0].text == older
    assert newer not in answer.context
    assert "earlier" not in answer.context


@pytest.mark.fault("N4")
def test_a_value_that_others_may_not_read_changes_nothing_for_them(
    tmp_path: Path, clock: FrozenClock
) -> None:
    older, newer, query = PAIRS[1]
    with simonides.open(tmp_path / "s", clock=clock, embedder=None, environ={}) as store:
        store.bank("b").retain([older, *OTHERS])
        alone = store.bank("b", principal="tove").recall(query).to_dict(trace=False)
        clock.advance(days=1)
        store.bank("b").retain(newer, acl=["ada"])
        clock.advance(days=-1)
        ada, tove = (store.bank("b", principal=name).recall(query) for name in ("ada", "tove"))
        assert [hit.text for hit in ada][:1] == [newer]
        assert [hit.to_dict()["signals"] for hit in tove] == [hit["signals"] for hit in alone["hits"]]
        assert tove.context == alone["context"]
