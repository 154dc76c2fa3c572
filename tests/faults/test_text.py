"""Public faults of query text and tokenising: any text may be asked, and what is there is found."""

from __future__ import annotations

import json
import math
import string
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError
from simonides.text.analyser import TextAnalyser, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall
    from simonides.testing.clock import FrozenClock


@pytest.fixture
def words(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    """An empty bank that recalls by words alone."""
    with simonides.open(tmp_path / "words", clock=clock, embedder=None) as store:
        yield store.bank("diary")


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def lexical_count(recall: Recall) -> int:
    """How many memories the lexical channel found; it must have run."""
    [line] = [stage for stage in recall.trace.stages if stage.technique == "lexical"]
    return line.count


@pytest.mark.fault("L1")
@pytest.mark.parametrize("mark", string.punctuation)
def test_punctuation_in_a_query_is_never_an_error_and_hides_nothing(words: Bank, mark: str) -> None:
    words.retain("Build 7 stopped at lint (see #4471, cc @dana)")

    alone = words.recall(mark)
    assert alone.no_match
    assert lexical_count(alone) == 0
    assert "lexical: the query has no terms" in alone.trace.degraded
    for query in (
        f"lint{mark}",
        f"{mark}lint",
        '"lint',
        f"{mark}lint{mark}",
        f"stopped {mark} lint",
        f"lint {mark}7",
    ):
        recall = words.recall(query)
        assert texts(recall) == ["Build 7 stopped at lint (see #4471, cc @dana)"], query
        assert lexical_count(recall) == 1


@pytest.mark.fault("L1")
@pytest.mark.parametrize(
    "query",
    [
        "lint AND", "lint OR NOT", "NOT lint", "lint*", "(lint", "lint)", "text:lint", "lint NEAR/3 stopped",
        "lint; DROP TABLE memories; --", "lint' OR '1'='1", "%lint%", "{lint}", "[lint]", "lint\\", "#4471", "@dana",
        "\u201clint\u201d", "lint\u00a0stopped", "\u200blint", "lint\n\n\tstopped", "LINT", "li\u00adnt",
    ],
)  # fmt: skip
def test_what_other_engines_take_for_syntax_is_text(words: Bank, query: str) -> None:
    words.retain("Build 7 stopped at lint (see #4471, cc @dana)")

    assert len(words.recall(query)) == 1
    assert words.stats()["versions"] == 1


INVOICE = "Invoice KX-20931 was paid on 2027-02-09"
LOOKALIKES = [f"Invoice KX-{20_932 + n} was paid on 2027-{1 + n % 12:02}-{10 + n % 18:02}" for n in range(50)]
OTHER_NOTES = [
    f"On day {n} the {thing} was lent to Tove." for n in range(17) for thing in ("lamp", "pump", "rake")
]
NAMES_OF_THE_INVOICE = ("KX-20931", "2027-02-09", "kx 20931", "kx-20931", "What became of invoice KX-20931?")


@pytest.mark.fault("L2")
@pytest.mark.parametrize("query", NAMES_OF_THE_INVOICE)
def test_dates_and_ticket_numbers_are_found_first_by_words(words: Bank, query: str) -> None:
    words.retain([*LOOKALIKES[:25], INVOICE, *LOOKALIKES[25:]])

    assert words.recall(query)[0].text == INVOICE


@pytest.mark.fault("L2")
@pytest.mark.parametrize("query", NAMES_OF_THE_INVOICE)
def test_the_lexical_channel_is_not_dropped_beside_the_dense_one(bank: Bank, query: str) -> None:
    bank.retain([*OTHER_NOTES, INVOICE])

    recall = bank.recall(query)

    assert recall[0].text == INVOICE
    assert recall[0].ranks["lexical"] == 1
    assert lexical_count(recall) > 0


@pytest.mark.fault("L2")
@pytest.mark.model
def test_with_the_default_embedder_exact_names_are_found_first(
    tmp_path: Path, default_embedder: Embedder
) -> None:
    with simonides.open(tmp_path, embedder=default_embedder) as store:
        store.bank("diary").retain([*OTHER_NOTES, INVOICE])
        for query in NAMES_OF_THE_INVOICE:
            best = store.bank("diary").recall(query)[0]
            assert best.text == INVOICE, query
            assert best.ranks["lexical"] == 1


IDENTIFIER = r"retryPolicyV2.apply_backoff raised EPIPE in C:\svc\relay\tx_queue.rs:118"
SCATTERED = (
    "We retry once, then the policy of the house applies.",
    "Apply the paint, then backoff a step.",
    "The queue at the tx office had 118 people.",
    "Version V2 of the relay is in C: as svc.",
    "The policy: never retry on a Sunday, 118 times no.",
)


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    "query",
    [
        "retryPolicyV2", "retry policy", "apply_backoff", "backoff", "tx_queue.rs", "tx_queue.rs:118",
        "RETRYPOLICYV2", "retryPolicyV2.apply_backoff", "apply backoff", "tx queue", "EPIPE", "epipe",
        r"C:\svc\relay\tx_queue.rs:118", r"svc\relay", "relay/tx_queue.rs",
    ],
)  # fmt: skip
def test_identifiers_are_found_whole_and_in_parts(words: Bank, query: str) -> None:
    words.retain([*SCATTERED, IDENTIFIER])

    assert IDENTIFIER in texts(words.recall(query))


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    "query", ["retryPolicyV2", "RETRYPOLICYV2", "apply_backoff", "tx_queue.rs", "tx_queue.rs:118", IDENTIFIER]
)
def test_the_exact_identifier_outranks_its_scattered_parts(words: Bank, query: str) -> None:
    words.retain([*SCATTERED, IDENTIFIER])

    recall = words.recall(query)

    assert recall[0].text == IDENTIFIER
    assert len(recall) == 1 or recall[0].channel_scores["lexical"] > recall[1].channel_scores["lexical"]


@pytest.mark.fault("L3")
def test_queries_and_memories_are_cut_by_one_function() -> None:
    analyser = TextAnalyser("none")

    for text in (
        IDENTIFIER,
        *SCATTERED,
        "来週の火曜に請求書batch_77を再送する 🟢",
        "Don't email dana@example.org re: C++!",
    ):
        assert analyser.query_terms(text) == analyser.terms(text) == tokenise(text)


@pytest.mark.fault("L4")
@pytest.mark.parametrize("query", ["kettle", "🟢", "!", "the"])
def test_banks_of_no_and_few_rows_answer(words: Bank, query: str) -> None:
    assert words.recall(query).no_match

    words.retain("🟢")
    assert texts(words.recall(query)) == (["🟢"] if query == "🟢" else [])
    words.retain("the kettle")
    recall = words.recall(query)
    assert len(recall) == (0 if query == "!" else 1)
    assert all(math.isfinite(hit.score) for hit in recall)


@pytest.mark.fault("L4")
def test_a_term_that_every_row_holds_still_ranks_by_frequency_and_length(words: Bank) -> None:
    words.retain(
        [
            "kettle",
            "kettle kettle kettle stove",
            "kettle stove stove stove",
            "kettle and a very long list of other things that stand in the kitchen of the house",
        ]
    )

    recall = words.recall("kettle")

    assert texts(recall) == [
        "kettle kettle kettle stove",
        "kettle",
        "kettle stove stove stove",
        "kettle and a very long list of other things that stand in the kitchen of the house",
    ]
    scores = [hit.channel_scores["lexical"] for hit in recall]
    assert scores == sorted(set(scores), reverse=True)
    assert all(math.isfinite(score) and score > 0 for score in scores)


@pytest.mark.fault("L4")
def test_a_bank_of_one_row_and_of_two_equal_rows_scores_above_zero(words: Bank) -> None:
    for _ in range(2):
        words.retain("the only kettle", deduplicate=False)
        scores = [hit.channel_scores["lexical"] for hit in words.recall("kettle")]
        assert len(set(scores)) == 1
        assert scores[0] > 0


@pytest.mark.fault("L5")
@pytest.mark.parametrize(
    "query", ["請求書", "火曜", "batch_77", "🟢", "請求", "来週", "再送", "BATCH_77", "77"]
)
def test_unspaced_scripts_with_identifiers_and_emoji_inside_are_found(words: Bank, query: str) -> None:
    words.retain("来週の火曜に請求書batch_77を再送する 🟢")

    assert len(words.recall(query)) == 1


@pytest.mark.fault("L5")
@pytest.mark.parametrize("query", ["🔴", "明後日", "トマト", "lint"])
def test_what_is_not_there_is_not_found(words: Bank, query: str) -> None:
    words.retain("来週の火曜に請求書batch_77を再送する 🟢")

    assert words.recall(query).no_match


@pytest.mark.fault("L5")
@pytest.mark.parametrize(
    ("query", "wrong"), [("火曜", "水曜に会う。"), ("請求書", "納品書と請負"), ("batch_77", "batch 78")]
)
def test_a_neighbour_in_spelling_ranks_below_the_word_itself(words: Bank, query: str, wrong: str) -> None:
    words.retain([wrong, "来週の火曜に請求書batch_77を再送する 🟢"])

    assert words.recall(query)[0].text.startswith("来週")


SURROGATE: str = json.loads(r'"a \ud83d b"')


@pytest.mark.fault("L6")
@pytest.mark.parametrize(
    ("field", "item"),
    [
        ("text", {"text": SURROGATE}),
        ("tags[0]", {"text": "kettle", "tags": [SURROGATE]}),
        ("acl[0]", {"text": "kettle", "acl": [SURROGATE]}),
        ("project", {"text": "kettle", "project": SURROGATE}),
        ("path", {"text": "kettle", "path": SURROGATE}),
        ("source", {"text": "kettle", "source": SURROGATE}),
        ("context", {"text": "kettle", "context": SURROGATE}),
        ("relation", {"text": "kettle", "relation": SURROGATE}),
        ("kind", {"text": "kettle", "kind": SURROGATE}),
        ("event_time", {"text": "kettle", "event_time": SURROGATE}),
        ("metadata", {"text": "kettle", "metadata": {SURROGATE: 1}}),
        ("metadata", {"text": "kettle", "metadata": {"note": [SURROGATE]}}),
        ("items", {"text": "kettle", SURROGATE: 1}),
    ],
)
def test_half_a_character_in_an_item_is_refused_by_field(
    bank: Bank, field: str, item: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        bank.retain(item)

    assert caught.value.field.startswith(field)
    str(caught.value).encode()
    assert bank.stats()["versions"] == 0
    assert len(bank.retain("kettle")) == 1
    assert texts(bank.recall("kettle")) == ["kettle"]


@pytest.mark.fault("L6")
@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("query", {"query": SURROGATE}),
        ("tags[0]", {"tags": [SURROGATE]}),
        ("project", {"project": SURROGATE}),
        ("kinds", {"kinds": SURROGATE}),
        ("tags_match", {"tags_match": SURROGATE}),
        ("as_of", {"as_of": SURROGATE}),
        ("window", {"window": SURROGATE}),
        ("profile", {"profile": SURROGATE}),
        ("profile", {"profile": f"{SURROGATE}/x.toml"}),
    ],
)
def test_half_a_character_in_a_recall_is_refused_by_field(
    bank: Bank, field: str, arguments: dict[str, Any]
) -> None:
    bank.retain("kettle")

    with pytest.raises(InputError) as caught:
        bank.recall(**{"query": "kettle", **arguments})

    assert caught.value.field == field
    str(caught.value).encode()
    assert texts(bank.recall("kettle")) == ["kettle"]


@pytest.mark.fault("L6")
def test_half_a_character_in_an_id_is_refused_by_field(bank: Bank) -> None:
    bank.retain("kettle")

    with pytest.raises(InputError) as caught:
        bank.get_memory(SURROGATE)
    assert caught.value.field == "memory"
    with pytest.raises(InputError) as caught:
        bank.forget(["0" * 16, SURROGATE])
    assert caught.value.field == "ids[1]"
    assert texts(bank.recall("kettle")) == ["kettle"]
