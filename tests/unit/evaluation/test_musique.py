from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import Dataset, Item, Question, load_musique

if TYPE_CHECKING:
    from pathlib import Path

PASSAGES = [
    {"title": "Lindow", "text": "A village on the river Orr."},
    {"title": "Orr", "text": "A river that ends in the bay of Tamm."},
    {"title": "Lindow", "text": "A painter born in 1804."},
    {"title": "Orr", "text": "A river that ends in the bay of Tamm."},
]


def paragraph(title: str, text: str, *, supporting: bool) -> dict[str, object]:
    return {"idx": 0, "title": title, "paragraph_text": text, "is_supporting": supporting}


VILLAGE = paragraph("Lindow", "A village on the river Orr.", supporting=True)
RIVER = paragraph("Orr", "A river that ends in the bay of Tamm.", supporting=True)
PAINTER = paragraph("Lindow", "A painter born in 1804.", supporting=False)
ELSEWHERE = paragraph("Tamm", "Not in the corpus.", supporting=True)


def row(qid: str, hops: int, *paragraphs: object, **more: object) -> dict[str, object]:
    return {
        "id": qid,
        "question": f"What of {qid}?",
        "question_decomposition": [{"id": hop} for hop in range(hops)],
        "paragraphs": list(paragraphs),
        **more,
    }


def write(folder: Path, rows: object, passages: object = PASSAGES) -> Path:
    (folder / "musique.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "musique_corpus.json").write_text(json.dumps(passages), encoding="utf-8")
    return folder


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    rows = [
        row("2hop__1", 2, PAINTER, RIVER, VILLAGE, RIVER, answerable=True),
        row("3hop__2", 3, VILLAGE, ELSEWHERE),
        row("2hop__3", 2, ELSEWHERE),
        row("4hop__4", 4, VILLAGE, answerable=False),
    ]
    return load_musique(write(tmp_path, rows))


def test_all_passages_make_one_corpus_and_equal_passages_share_a_key(dataset: Dataset) -> None:
    ((corpus, _),) = dataset.corpora
    assert corpus.name == "musique"
    assert corpus.items == (
        Item("p1", "Lindow\nA village on the river Orr."),
        Item("p2", "Orr\nA river that ends in the bay of Tamm."),
        Item("p3", "Lindow\nA painter born in 1804."),
        Item("p2", "Orr\nA river that ends in the bay of Tamm."),
    )


def test_gold_is_joined_on_title_and_text_and_the_category_is_the_hops(dataset: Dataset) -> None:
    assert dataset.questions == (
        Question("2hop__1", "What of 2hop__1?", ("p2", "p1"), "2"),
        Question("3hop__2", "What of 3hop__2?", ("p1",), "3"),
        Question("4hop__4", "What of 4hop__4?", (), "4", answerable=False),
    )
    assert dataset.ignored_evidence == 2
    assert dataset.unscored_questions == 1


@pytest.mark.parametrize(
    ("rows", "passages", "file"),
    [
        ([{"id": "x"}], PASSAGES, "musique.json"),
        ([row("x", 2, {"title": "Orr"})], PASSAGES, "musique.json"),
        ([], [{"title": "Orr"}], "musique_corpus.json"),
        ([], {"Orr": "A river."}, "musique_corpus.json"),
    ],
)
def test_another_form_is_refused_with_the_file_named(
    tmp_path: Path, rows: object, passages: object, file: str
) -> None:
    with pytest.raises(InputError, match="does not have the form of MuSiQue") as caught:
        load_musique(write(tmp_path, rows, passages))
    assert str(tmp_path / file) in str(caught.value)


def test_the_real_questions_all_find_their_passages(data: Path) -> None:
    folder = data / "musique"
    if not folder.is_dir():
        pytest.skip(f"missing: {folder}")
    dataset = load_musique(folder)
    ((corpus, questions),) = dataset.corpora
    assert len(corpus.items) == 1890
    assert Counter(question.category for question in questions) == {"2": 68, "3": 27, "4": 5}
    assert all(len(question.gold) == int(question.category) for question in questions)
    assert (dataset.ignored_evidence, dataset.unscored_questions) == (0, 0)
