from __future__ import annotations

from datetime import UTC, datetime

import pytest

from simonides.records.extraction import EntityKind, Extraction, Mention, Relation, TimeMention
from simonides.records.interval import parse_time, to_micros
from simonides.retain.expansion import MOST_QUESTIONS, QUESTIONS, QuestionRules
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.extraction.relations import RELATION_RULES
from simonides.text.times.expressions import find_times

ANCHOR = to_micros(datetime(2026, 3, 2, tzinfo=UTC))


def questions(text: str) -> list[str]:
    found = RuleExtractor(find_times).extract(text, anchor=ANCHOR, zone=UTC)
    return QuestionRules().expand(text, found).splitlines()


@pytest.mark.spec("HX-16")
def test_a_relation_is_asked_in_other_words_than_it_is_stated() -> None:
    assert questions("Odalys Fennimark works at Gullspire.") == [
        "Where does Odalys Fennimark work?",
        "Who is the employer of Odalys Fennimark, and what is the company?",
        "Who has a job at Gullspire?",
    ]


@pytest.mark.spec("HX-16")
def test_a_date_is_asked_by_name_and_by_day() -> None:
    found = Extraction(
        mentions=(
            Mention("Gullspire", EntityKind.ORGANISATION, 0, 9),
            Mention("Ilse", EntityKind.PERSON, 10, 14),
        ),
        times=(TimeMention("yesterday", 20, 29, parse_time("2026-03-01", "when")),),
    )
    assert QuestionRules().expand("", found).splitlines() == [
        "What happened on 1 March 2026?",
        "When did Ilse do this, on what date?",
    ]


def test_nothing_found_is_nothing_asked() -> None:
    assert QuestionRules().expand("Yes, the blue one.", Extraction()) == ""


def test_questions_are_asked_once_and_not_without_end() -> None:
    many = tuple(Relation("likes", f"Ilse {n}", "figs", single_valued=False) for n in range(50))
    same = (many[0], many[0])
    assert len(QuestionRules().expand("", Extraction(relations=same)).splitlines()) == len(QUESTIONS["likes"])
    assert len(QuestionRules().expand("", Extraction(relations=many)).splitlines()) == MOST_QUESTIONS


def test_a_relation_without_questions_is_passed_over() -> None:
    assert (
        QuestionRules().expand("", Extraction(relations=(Relation("{x}", "a", "b", single_valued=False),)))
        == ""
    )


def test_names_are_put_in_as_they_are() -> None:
    relation = Relation("works at", "{subject}", "{0!r}", single_valued=True)
    assert (
        QuestionRules().expand("", Extraction(relations=(relation,))).startswith("Where does {subject} work?")
    )


def test_questions_exist_for_relations_that_the_rules_find() -> None:
    assert QUESTIONS.keys() <= {rule.name for rule in RELATION_RULES}


@pytest.mark.parametrize("text", ["Ada moved to Tarn.", "I moved to Tarn."])
def test_a_change_is_asked_for_as_the_value_that_it_ends_was(text: str) -> None:
    asked = QuestionRules().expand(text, Extraction())
    assert "live?" in asked.splitlines()[0]
    assert "tarn" in asked
