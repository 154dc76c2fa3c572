from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import Dataset, Question, load_locomo
from simonides.retain.importing.memories import parse_session_date

if TYPE_CHECKING:
    from pathlib import Path


def turn(key: str, speaker: str, text: str, **more: object) -> dict[str, object]:
    return {"speaker": speaker, "dia_id": key, "text": text, **more}


def ask(question: str, category: int, *evidence: str) -> dict[str, object]:
    return {"question": question, "answer": "…", "evidence": list(evidence), "category": category}


def sample(**changes: object) -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Odile",
            "speaker_b": "Bram",
            # Session 10 stands before session 2, as a careless sort of the names would put it.
            "session_10_date_time": "12:05 am on 1 January, 2024",
            "session_10": [turn("D10:1", "Bram", "The kiln is mended.")],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                turn("D2:1", "Odile", "Look at my pots!", blip_caption="two blue pots", img_url=["…"]),
                turn("D2:2", "Bram", "Lovely.", blip_caption=""),
            ],
            "session_3_date_time": "9:00 am on 9 May, 2023",
            "session_4": [turn("D4:1", "Odile", "An undated word.")],
        },
        "qa": [
            ask("What did Odile make?", 1, "D2:1"),
            ask("Which turns?", 4, "D2:1; D2:2", "D10:1,D4:1", "D2:2 D2:1"),
            ask("Some wrong?", 2, "D", "D2:2", "D:10:1", "D"),
            ask("No evidence?", 3),
            ask("Only wrong?", 3, "D99:1"),
            {
                "question": "What did Bram sing?",
                "adversarial_answer": "…",
                "evidence": ["D2:1"],
                "category": 5,
            },
        ],
        "event_summary": {},
        **changes,
    }


def write(folder: Path, *samples: object) -> Path:
    file = folder / "locomo10.json"
    file.write_text(json.dumps(samples), encoding="utf-8")
    return file


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_locomo(write(tmp_path, sample(), sample(sample_id="conv-2")))


def test_a_conversation_is_a_corpus_and_a_turn_an_item_in_the_order_of_sessions(dataset: Dataset) -> None:
    assert [corpus.name for corpus, _ in dataset.corpora] == ["conv-1", "conv-2"]
    corpus, _ = dataset.corpora[0]
    assert [(item.key, item.text) for item in corpus.items] == [
        ("D2:1", "Odile: Look at my pots! [image: two blue pots]"),
        ("D2:2", "Bram: Lovely."),
        ("D4:1", "Odile: An undated word."),
        ("D10:1", "Bram: The kiln is mended."),
    ]


def test_the_date_of_the_session_is_the_event_time(dataset: Dataset) -> None:
    corpus, _ = dataset.corpora[0]
    assert [item.event_time for item in corpus.items] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        None,
        datetime(2024, 1, 1, 0, 5, tzinfo=UTC),
    ]


def test_turns_of_one_session_follow_one_another_under_its_name(dataset: Dataset) -> None:
    corpus, _ = dataset.corpora[0]
    assert [item.session for item in corpus.items] == ["session_2", "session_2", "session_4", "session_10"]


def test_evidence_is_split_and_what_matches_no_turn_is_ignored_and_counted(dataset: Dataset) -> None:
    _, questions = dataset.corpora[0]
    assert questions == (
        Question("conv-1-q1", "What did Odile make?", ("D2:1",), "1"),
        Question("conv-1-q2", "Which turns?", ("D2:1", "D2:2", "D10:1", "D4:1"), "4"),
        Question("conv-1-q3", "Some wrong?", ("D2:2",), "2"),
        Question("conv-1-q6", "What did Bram sing?", (), "5", answerable=False),
    )
    # Per conversation: "D" (named twice), "D:10:1" and "D99:1".
    assert dataset.ignored_evidence == 2 * 3
    assert dataset.unscored_questions == 2 * 2


def test_the_file_or_its_folder_may_be_named(tmp_path: Path) -> None:
    file = write(tmp_path, sample())
    assert load_locomo(tmp_path) == load_locomo(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:48 am on 1 February, 2023", datetime(2023, 2, 1, 0, 48, tzinfo=UTC)),
        ("12:00 pm on 29 February, 2024", datetime(2024, 2, 29, 12, 0, tzinfo=UTC)),
        (" 9:05 AM on 10 december 2022 ", datetime(2022, 12, 10, 9, 5, tzinfo=UTC)),
    ],
)
def test_session_dates(text: str, expected: datetime) -> None:
    assert parse_session_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "8 May, 2023",
        "13:56 pm on 8 May, 2023",
        "0:10 am on 8 May, 2023",
        "1:60 pm on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 Mai, 2023",
        "",
    ],
)
def test_a_session_date_that_is_none_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"conv-1\.session_2_date_time: ") as caught:
        parse_session_date(text, "conv-1.session_2_date_time")
    assert repr(text) in str(caught.value)


def test_a_wrong_date_in_the_file_is_placed(tmp_path: Path) -> None:
    broken = sample()
    broken["conversation"]["session_3"] = [turn("D3:1", "Bram", "Hm.")]
    broken["conversation"]["session_3_date_time"] = "yesterday"
    with pytest.raises(InputError, match=r"conv-1\.session_3_date_time: 'yesterday'"):
        load_locomo(write(tmp_path, broken))


@pytest.mark.parametrize(
    "content",
    [
        {"not": "a list"},
        [1],
        [{"sample_id": "conv-1"}],
        [sample(qa=[{"question": "Why?"}])],
        [sample(conversation={"session_1": [{"speaker": "Bram"}]})],
        [sample(conversation={"session_1_date_time": 5, "session_1": []})],
    ],
)
def test_another_form_is_refused_with_the_file_named(tmp_path: Path, content: object) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="does not have the form of LoCoMo") as caught:
        load_locomo(file)
    assert str(file) in str(caught.value)


def test_the_real_conversations_give_760_answerable_questions(data: Path) -> None:
    folder = data / "locomo"
    if not folder.is_dir():
        pytest.skip(f"missing: {folder}")
    dataset = load_locomo(folder)
    by_category = Counter(question.category for question in dataset.questions)
    assert [corpus.name for corpus, _ in dataset.corpora] == [
        "conv-26",
        "conv-30",
        "conv-41",
        "conv-42",
        "conv-43",
    ]
    assert sum(question.answerable for question in dataset.questions) == 760
    assert by_category == {"1": 142, "2": 156, "3": 44, "4": 418, "5": 237}
    assert sum(len(corpus.items) for corpus, _ in dataset.corpora) == 2760
    assert all(item.event_time for corpus, _ in dataset.corpora for item in corpus.items)
    assert dataset.ignored_evidence == 3
    assert dataset.unscored_questions == 2
    assert len({question.qid for question in dataset.questions}) == 997
