from __future__ import annotations

from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.relevance import (
    all_questions,
    key_words,
    names,
    off_topic_questions,
)
from simonides.text.analyser import TextAnalyser

ANALYSER = TextAnalyser()


def dataset(name: str, **texts: str) -> Dataset:
    corpora = tuple(
        (
            Corpus(f"{name}-{who}", (Item("i1", f"{who.capitalize()}: {text}"),)),
            (
                Question(f"{name}-{who}-1", f"Where does {who.capitalize()} live?", ("i1",), "1"),
                Question(f"{name}-{who}-2", "Who sang the aria?", (), "5", answerable=False),
            ),
        )
        for who, text in texts.items()
    )
    return Dataset(name, corpora)


DATASETS = [
    dataset("talks", odile="I live by the kiln.", ruben="I live with Odile."),
    dataset("pages", ines="By sea."),
]


def test_a_hundred_invented_questions_and_more_no_two_alike() -> None:
    questions = [text for texts in off_topic_questions().values() for text in texts]
    assert len(questions) >= 100
    assert len(set(questions)) == len(questions)


def test_kinds_and_what_they_are_asked_of() -> None:
    asked = all_questions(DATASETS, ANALYSER)
    by_kind = {kind: [each for each in asked if each.kind == kind] for kind in {each.kind for each in asked}}
    assert {each.corpus for each in by_kind["talks"]} == {"talks-odile", "talks-ruben"}
    assert [each.text for each in by_kind["pages-key-words"]] == ["Ines live"]
    assert len(by_kind["adversarial"]) == 3
    # Both data sets get each invented question once.
    for kind, texts in off_topic_questions().items():
        assert sorted(each.text for each in by_kind[kind]) == sorted([*texts, *texts])
        assert {each.corpus for each in by_kind[kind]} == {"talks-odile", "talks-ruben", "pages-ines"}
    answerable = {each.kind for each in asked if each.answerable}
    assert answerable == {"talks", "talks-key-words", "pages", "pages-key-words"}


def test_what_answers_goes_along_and_a_named_kind_stays() -> None:
    question = Question("q1", "Where is the old kiln?", ("a",), "full", acceptable=("b",))
    missing = Question("q2", "Whose is it?", (), "near-miss", answerable=False)
    other = Question("q3", "Whose was it?", (), "2", answerable=False)
    corpus = Corpus("c", (Item("a", "The old kiln is here."),))
    asked = all_questions([Dataset("small", ((corpus, (question, missing, other)),))], ANALYSER)
    assert [(e.kind, e.gold, e.acceptable) for e in asked[:4]] == [
        ("small", ("a",), ("b",)),
        ("small-key-words", ("a",), ("b",)),
        ("near-miss", (), ()),
        ("adversarial", (), ()),
    ]


def test_no_question_is_asked_elsewhere_where_its_names_stand() -> None:
    elsewhere = {(e.text, e.corpus) for e in all_questions(DATASETS, ANALYSER) if e.kind == "elsewhere"}
    of_odile = {corpus for text, corpus in elsewhere if "Odile" in text}
    # Ruben's corpus names her.
    assert of_odile == {"pages-ines"}
    assert all("Ruben" not in text or corpus != "talks-ruben" for text, corpus in elsewhere)


def test_key_words_and_names() -> None:
    assert key_words("What did Odile's sister sell at the fair?", ANALYSER) == "Odile's sister sell fair"
    assert key_words("who is it", ANALYSER) == "who is it"
    assert names("Where did Odile's aunt meet Ruben at a Fair?") == {"odile", "ruben", "fair"}
    assert names("Where is it?") == frozenset()
