"""Whatever a model answers, what is kept can be checked against the memory, and nothing raises."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simonides.retain.enriching import (
    LONGEST_SENTENCE,
    MOST_NAMES,
    MOST_RELATIONS,
    MOST_SENTENCES,
    read_answer,
)
from simonides.testing.fakes import fake_memory
from simonides.text.analyser import TextAnalyser

WORDS = st.sampled_from(
    ["Odalys", "Nerys", "lamp", "stove", "VX-1103", "12", "lit", "he", "the", "东京", "Zoë", "?"]
)
PHRASES = st.lists(WORDS, max_size=6).map(" ".join) | st.text(max_size=20)
NAMES = st.fixed_dictionaries({"name": PHRASES}, optional={"kind": st.sampled_from(["person", "place", "x"])})
RELATIONS = st.fixed_dictionaries({"subject": PHRASES, "name": PHRASES, "object": PHRASES})
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PHRASES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PHRASES, inner, max_size=4),
    max_leaves=8,
)
ENTRIES = st.fixed_dictionaries(
    {"number": st.integers(0, 4)},
    optional={
        "entities": st.lists(NAMES | ANYTHING, max_size=8) | ANYTHING,
        "relations": st.lists(RELATIONS | ANYTHING, max_size=8) | ANYTHING,
        "facts": st.lists(PHRASES | ANYTHING, max_size=8) | ANYTHING,
        "questions": st.lists(PHRASES | ANYTHING, max_size=8) | ANYTHING,
    },
)
ANSWERS = st.fixed_dictionaries({"memories": st.lists(ENTRIES | ANYTHING, max_size=6) | ANYTHING})
TEXTS = st.lists(PHRASES.filter(str.strip), min_size=1, max_size=3)


@given(answer=ANSWERS, texts=TEXTS)
def test_what_is_kept_stands_in_the_memorys_own_text(answer: dict[str, Any], texts: list[str]) -> None:
    memories = [fake_memory(text, id=str(place)) for place, text in enumerate(texts)]

    found, strays = read_answer(answer, memories, TextAnalyser("english"))

    assert len(found) == len(memories)
    told = answer["memories"]
    spoken_of = sum(one is not None for one in found)
    assert strays == (len(told) - spoken_of if isinstance(told, list) else 0)
    for text, one in zip(texts, found, strict=True):
        if one is None:
            continue
        assert len(one.mentions) <= MOST_NAMES + MOST_RELATIONS
        assert len(one.relations) <= MOST_RELATIONS
        for mention in one.mentions:
            assert mention.name == text[mention.start : mention.stop]
        for relation in one.relations:
            assert relation.subject in text
            assert relation.object in text
            assert not relation.single_valued
        for sentences in (one.facts, one.questions):
            assert len(sentences) <= MOST_SENTENCES
            for sentence in sentences:
                assert 0 < len(sentence) <= LONGEST_SENTENCE
                assert "\n" not in sentence
        assert all(question.endswith(("?", "\uff1f", "\u061f")) for question in one.questions)
        assert one.dropped >= 0


@given(answer=ANSWERS, texts=TEXTS)
def test_one_memorys_part_of_an_answer_changes_no_other(answer: dict[str, Any], texts: list[str]) -> None:
    """The exact twin: each memory alone with the entries that bear its number."""
    memories = [fake_memory(text, id=str(place)) for place, text in enumerate(texts)]
    analyser = TextAnalyser("english")
    told = answer["memories"] if isinstance(answer["memories"], list) else []

    together, _ = read_answer(answer, memories, analyser)

    for number, memory in enumerate(memories, start=1):
        mine = [
            {**entry, "number": 1}
            for entry in told
            if isinstance(entry, dict) and type(entry.get("number")) is int and entry["number"] == number
        ]
        [alone], _ = read_answer({"memories": mine}, [memory], analyser)
        assert alone == together[number - 1]
