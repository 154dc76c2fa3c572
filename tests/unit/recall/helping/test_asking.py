from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.options import ASYNC_TIER, HELPER_NAMES, HELPERS, check
from simonides.recall.helping.asking import (
    MOST_OUTPUT_TOKENS,
    MOST_QUERIES,
    HelperTexts,
    ask_helpers,
    read_helpers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Says:
    model = "says"

    def __init__(self, *said: str) -> None:
        self._said = list(said)
        self.asked: list[tuple[str, int]] = []

    def stream(self, messages: Sequence[Any], max_output_tokens: int) -> Iterator[str]:
        self.asked.append((messages[1]["content"], max_output_tokens))
        yield from self._said.pop(0)


def test_each_helper_is_one_call_with_the_query_alone() -> None:
    model = Says("Bees.", "Hives.", "a?\nb?")
    assert ask_helpers("Who keeps bees?", HELPER_NAMES, model) == HelperTexts(
        ("Bees.",), ("Hives.",), ("a?", "b?")
    )
    assert model.asked == [("Query: Who keeps bees?", MOST_OUTPUT_TOKENS)] * 3


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        ("1. Who tends bees?\n2) Whose hives?", ("Who tends bees?", "Whose hives?")),
        ("- Who tends bees?\n* Who tends BEES?\n\n", ("Who tends bees?",)),
        ('"Who tends bees?"\nwho keeps bees?', ("Who tends bees?",)),
        (
            "\n".join(f"wording {number}" for number in range(9)),
            tuple(f"wording {n}" for n in range(MOST_QUERIES)),
        ),
        ("2026 was warm?", ("2026 was warm?",)),
        ("<think>\nmuch\n</think>\nWhose hives?", ("Whose hives?",)),
    ],
)
def test_wordings_come_line_by_line_without_bullets(said: str, queries: tuple[str, ...]) -> None:
    assert ask_helpers("Who keeps bees?", ["multi_query"], Says(said)).multi_query == queries


def test_a_passage_is_one_line_of_bounded_length_that_a_query_may_hold() -> None:
    [passage] = ask_helpers("q", ["hyde"], Says("a\n\n b\0c\ud800 " + "long " * 1_000)).hyde
    assert passage.startswith("a b c long")
    assert len(passage) <= 2_000


def test_nothing_said_and_no_model_are_problems_of_their_helper() -> None:
    assert ask_helpers("q", ["hyde", "query2doc"], Says(" ", "Bees.")) == HelperTexts(
        hyde=(), query2doc=("Bees.",), problems=("hyde: the model said nothing of use",)
    )
    assert ask_helpers("q", ["hyde"], None).problems == ("hyde: no language model is set up",)


def test_texts_are_written_and_read() -> None:
    texts = HelperTexts(("a",), (), ("b", "c"), ("query2doc: gone",))
    assert HelperTexts.from_json(texts.to_json()) == texts
    assert texts.by_helper() == {"hyde": ("a",), "multi_query": ("b", "c")}


def test_helpers_are_read_in_one_order() -> None:
    assert read_helpers("default", None) is None
    assert read_helpers("default", ()) is None
    assert read_helpers("async", None) == ()
    assert read_helpers("async", "hyde") == ("hyde",)
    assert read_helpers("async", {"multi_query", "hyde"}) == ("hyde", "multi_query")
    with pytest.raises(InputError, match="helpers"):
        read_helpers("default", ["hyde"])
    with pytest.raises(UnknownNameError, match=r"helpers\[1\]"):
        check((ASYNC_TIER, HELPERS), {"tier": "async", "helpers": ["hyde", "rag"]})
