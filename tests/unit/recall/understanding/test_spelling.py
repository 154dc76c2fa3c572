from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.recall.understanding.question import AnalysedTerms
from simonides.recall.understanding.spelling import Spelling
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Collection

    from simonides.records.query import Query

TEXTS = (
    "The physiotherapist comes on Tuesday.",
    "GitHub Actions holds the deploy secrets.",
    "The home password is kettle-drum-58.",
    "My e-mail is jo@tern.example.",
    "The locker is number 218.",
    "Call Jo at +491575550707, or Mo at 030 555 0142.",
    "Every morning the brake pads are checked.",
    "The team meets on monday.",
)
REAL = frozenset({"train", "hello", "boots", "wife", "number", "tuesday"})


class Words:
    """Knows *REAL* and nothing else."""

    def knows(self, word: str) -> bool:
        return word in REAL


def read(
    text: str,
    *,
    texts: Collection[str] = TEXTS,
    visible: list[bool] | None = None,
    words: Words | None = None,
) -> Query:
    view = FakeView.of([fake_memory(each) for each in texts], visible=visible, analyser=TextAnalyser())
    tools = replace(fake_tools(analyser=TextAnalyser()), words=words or Words())
    query = AnalysedTerms().understand(view, fake_query(text), tools)
    return Spelling(0.7).understand(view, query, tools)


@pytest.mark.fault("N12")
@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("tuesdy", "tuesday"),
        ("lokcer numbr", "locker number"),
        ("phsyiotherapist", "physiotherapist"),
        ("evry mornng", "every morning"),
        ("home pw", "home password"),
        ("GHA secrets", "github actions secrets"),
        ("lckr", "locker"),
        ("email", "e-mail"),
        ("brakepads", "brake pads"),
        ("+49 (157) 555-0707", "491575550707"),
        ("0305550142", "030 555 0142"),
        ("the phy.", "the physiotherapist"),
    ],
)
def test_a_word_that_no_memory_holds_is_read_as_one_that_a_memory_holds(text: str, rewritten: str) -> None:
    found = read(text)
    assert found.rewritten.lower() == rewritten
    assert found.text == text
    assert found.notes[-1].count(" read as ") >= 1


def test_terms_that_the_caller_did_not_write_weigh_less() -> None:
    assert dict(read("locker numbr").terms) == {"locker": 1.0, "number": pytest.approx(0.7)}


@pytest.mark.parametrize(
    "text", ["locker", "physiotherapist on Tuesday", "hello", "boots", "wife", "qq", "!?"]
)
def test_what_a_memory_holds_or_the_embedder_knows_stays(text: str) -> None:
    assert read(text).rewritten == ""


def test_without_an_embedder_only_long_words_with_one_error_are_corrected() -> None:
    view = FakeView.of([fake_memory(each) for each in TEXTS], analyser=TextAnalyser())
    tools = fake_tools(analyser=TextAnalyser())
    for text, rewritten in (("tuesdy", "tuesday"), ("kye", ""), ("phsyiotherpist", "")):
        query = AnalysedTerms().understand(view, fake_query(text), tools)
        assert Spelling(0.7).understand(view, query, tools).rewritten == rewritten


def test_words_of_rows_that_the_asker_may_not_see_rewrite_nothing() -> None:
    for hidden, text in enumerate(("phsyiotherapist", "GHA secrets", "home pw", "email", "lokcer")):
        seen = [place != hidden for place in range(len(TEXTS))]
        without = [each for each, there in zip(TEXTS, seen, strict=True) if there]
        with_hidden, alone = read(text, visible=seen), read(text, texts=without)
        assert (with_hidden.rewritten, with_hidden.terms) == (alone.rewritten, alone.terms)


def test_a_query_in_another_language_is_left_alone() -> None:
    words = "wo wird eigentlich morgends gewohnlich zusamen gefruhstuckt abends jedoch niemals trotzdem"
    assert read(words).rewritten == ""


def test_hostile_queries_end() -> None:
    for text in ("z" * 5_000, "1" * 5_000, "+1" + "(" * 5_000, "a-" * 2_500, "x." * 2_500):
        read(text)


@pytest.mark.parametrize("weight", [0.0, 1.0, -1.0])
def test_a_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        Spelling(weight)
