"""MuSiQue: questions that need two to four passages joined.

Read in the form of the HippoRAG experiments: ``musique_corpus.json`` holds the passages,
``musique.json`` the questions. All passages make one corpus, an item is title and text on two lines, and
its key is ``p<n>``, the passage's place in the file from 1. A question's gold are its supporting
paragraphs, found in the corpus by title and text; its category is the number of hops.

Source: Trivedi et al. 2022, "MuSiQue: Multihop Questions via Single-hop Question Composition"; Gutiérrez
et al. 2024, "HippoRAG". Weakness: passages are encyclopaedic and undated, unlike an agent's memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.evaluation.dataset import Corpus, Dataset, Item, Question
from simonides.evaluation.source_file import read_json, wrong_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

QUESTIONS_FILE_NAME = "musique.json"
CORPUS_FILE_NAME = "musique_corpus.json"
ORIGIN = "https://github.com/OSU-NLP-Group/HippoRAG"


def load_musique(folder: Path) -> Dataset:
    """Read MuSiQue in HippoRAG's form.

    Args:
        folder: holds ``musique.json`` and ``musique_corpus.json``.

    Raises:
        InputError: a file is missing or of another form.
    """
    corpus_file = folder / CORPUS_FILE_NAME
    passages = read_json(corpus_file, ORIGIN)
    questions_file = folder / QUESTIONS_FILE_NAME
    rows = read_json(questions_file, ORIGIN)
    try:
        items, keys = _passages(passages)
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(corpus_file, "MuSiQue passages", error) from error
    try:
        questions, ignored, unscored = _questions(rows, keys)
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(questions_file, "MuSiQue questions", error) from error
    return Dataset(
        "musique",
        ((Corpus("musique", items), questions),),
        ignored_evidence=ignored,
        unscored_questions=unscored,
    )


def _passages(
    passages: Sequence[Mapping[str, str]],
) -> tuple[tuple[Item, ...], dict[tuple[str, str], str]]:
    """Items, and the key of each title and text; passages that are equal share the first one's key."""
    keys: dict[tuple[str, str], str] = {}
    items = []
    for number, passage in enumerate(passages, start=1):
        title, text = passage["title"], passage["text"]
        key = keys.setdefault((title, text), f"p{number}")
        items.append(Item(key, f"{title}\n{text}"))
    return tuple(items), keys


def _questions(
    rows: Sequence[Mapping[str, Any]], keys: Mapping[tuple[str, str], str]
) -> tuple[tuple[Question, ...], int, int]:
    """Questions that can be asked, supporting paragraphs not in the corpus, questions not scored."""
    questions = []
    ignored = unscored = 0
    for row in rows:
        qid, text, hops = row["id"], row["question"], str(len(row["question_decomposition"]))
        if not row.get("answerable", True):
            questions.append(Question(qid, text, (), hops, answerable=False))
            continue
        pairs = dict.fromkeys(
            (p["title"], p["paragraph_text"]) for p in row["paragraphs"] if p["is_supporting"]
        )
        gold = tuple(keys[pair] for pair in pairs if pair in keys)
        ignored += len(pairs) - len(gold)
        if gold:
            questions.append(Question(qid, text, gold, hops))
        else:
            unscored += 1
    return tuple(questions), ignored, unscored
