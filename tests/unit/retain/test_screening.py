from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.retain.test_secrets import examples, made_up

import simonides
from simonides.errors import ConflictError, InputError
from simonides.records.kind import Kind
from simonides.retain.conversations import conversation_items
from simonides.retain.documents import document_items
from simonides.retain.items import read_items
from simonides.retain.screening import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

pytestmark = pytest.mark.fault("X6")

ONE, TWO = (examples(seed)["github_token"] for seed in (11, 12))
MASKED = "[REDACTED:github_token]"


@pytest.fixture
def opener(tmp_path: Path, stub_embedder: StubEmbedder, clock: FrozenClock) -> Callable[[str | None], Store]:
    def opened(policy: Any) -> Store:
        return simonides.open(tmp_path / "s", embedder=stub_embedder, clock=clock, environ={}, redact=policy)

    return opened


@pytest.fixture
def masking(opener: Callable[[str | None], Store]) -> Iterator[Bank]:
    with opener("mask") as store:
        yield store.bank()


def test_a_text_without_a_secret_passes_as_it_is() -> None:
    redactor = Redactor("mask")
    assert redactor.words(Kind.SEMANTIC, "kind") is Kind.SEMANTIC
    assert redactor.words(7, "text") == 7
    assert redactor.changes({"kind": Kind.CODE, "salience": 0.5}) == {"kind": Kind.CODE, "salience": 0.5}
    assert not redactor.found
    assert Redactor("off").words(ONE, "text") == ONE


def test_two_documents_named_by_tokens_stay_two(masking: Bank) -> None:
    first = masking.retain_document("The ferry is late.", document_id=ONE)
    masking.retain_document("The desk is closed.", document_id=TWO)
    assert masking.get_memory(first[0]).valid_to is None
    assert masking.retain_document("The ferry is late.", document_id=ONE) == first
    assert len({memory.document for memory in masking.list_memories()}) == 2


def test_two_sessions_named_by_tokens_stay_two(masking: Bank) -> None:
    for session in (ONE, TWO):
        masking.retain_conversation([{"text": f"It begins with {session[4:6]}."}], session=session)
    assert len({memory.session for memory in masking.list_memories()}) == 2


def test_two_statements_about_tokens_stay_two(masking: Bank) -> None:
    ids = [
        masking.retain(
            f"Key {number} is for the gate.",
            subject=token,
            relation="opens",
            object="gate",
            single_valued=True,
        )[0]
        for number, token in enumerate((ONE, TWO))
    ]
    assert all(masking.get_memory(memory).valid_to is None for memory in ids)


def test_a_key_that_is_a_token_does_its_work_and_is_stored_as_a_hash(
    opener: Callable[[str | None], Store], tmp_path: Path
) -> None:
    with opener("mask") as store:
        bank = store.bank()
        first = bank.retain("The ferry is late.", idempotency_key=ONE)
        assert bank.retain("The ferry is late.", idempotency_key=ONE) == first
        assert bank.retain("The desk is closed.", idempotency_key=TWO) != first
        with pytest.raises(ConflictError) as caught:
            bank.retain("Other words.", idempotency_key=ONE)
        assert ONE[:12] not in str(caught.value)
    # Whatever the policy is later, the key is known.
    with opener("off") as store:
        assert store.bank().retain("The ferry is late.", idempotency_key=ONE) == first
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and ONE.encode() in p.read_bytes()]


def test_a_key_from_before_redaction_is_known(opener: Callable[[str | None], Store]) -> None:
    with opener("off") as store:
        first = store.bank().retain("The ferry is late.", idempotency_key=ONE)
    with opener("mask") as store:
        assert store.bank().retain("The ferry is late.", idempotency_key=ONE) == first
    with opener("refuse") as store, pytest.raises(InputError, match="idempotency_key: holds a secret"):
        store.bank().retain("The ferry is late.", idempotency_key=ONE)


@pytest.mark.parametrize("policy", ["mask", "refuse"])
def test_names_of_readers_principals_banks_and_aliases_are_refused(
    opener: Callable[[str | None], Store], policy: str
) -> None:
    with opener(policy) as store:
        bank = store.bank()
        bank.retain("Odalys Fennimark leads the office.")
        calls: dict[str, Callable[[], object]] = {
            "acl": lambda: bank.retain("words", acl=[ONE]),
            "items[0].acl": lambda: bank.retain([{"text": "words", "acl": [ONE]}]),
            "principal": lambda: store.bank(principal=ONE),
            "bank": lambda: store.bank(ONE),
            "name": lambda: bank.add_alias(bank.entities()[0].number, ONE),
        }
        for place, call in calls.items():
            with pytest.raises(InputError) as caught:
                call()
            assert str(caught.value) == (
                f"{place}: holds a secret (github_token), and a name cannot be masked; choose another name"
            )


def test_a_key_that_is_cut_by_paragraphs_leaves_no_part_of_it(masking: Bank, tmp_path: Path) -> None:
    body = "\n".join(made_up(64, seed=line) for line in range(400))
    pem = f"-----BEGIN RSA PRIVATE {'KEY'}-----\nProc-Type: 4,ENCRYPTED\n\n{body}\n-----END RSA PRIVATE {'KEY'}-----"
    text = f"# Keys\n\nBefore.\n\n{pem}\n\nAfter."
    # As retain_document does it, and as a program does that cuts the text itself.
    masking.retain_document(text, document_id="one")
    ids = masking.retain(document_items(text, document_id="two"))
    texts = [masking.get_memory(memory).text for memory in ids]
    assert texts[-1] == "After."
    assert {line for each in texts for line in each.splitlines() if "REDACTED" in line} == {
        "[REDACTED:private_key]"
    }
    for memory in ids:
        source = masking.source(memory)
        assert source.text[source.start : source.stop] == masking.get_memory(memory).text
    line = body.splitlines()[200][:20].encode()
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and line in p.read_bytes()]


def test_a_neighbour_cut_inside_a_token_leaves_no_part_of_it() -> None:
    long = f"{'word ' * 197}{ONE} and more"
    items = conversation_items([{"text": long}, {"text": "Yes."}], session="s")
    assert ONE[:10] in items[1]["context"]
    drafts = Redactor("mask").drafts(read_items(items, {}))
    assert ONE[4:10] not in drafts[1].context
    assert MASKED in drafts[0].text


def test_an_export_with_a_secret_is_not_imported(
    opener: Callable[[str | None], Store], tmp_path: Path
) -> None:
    with opener("off") as store:
        store.bank("from").retain(["The ferry is late.", f"The key is {ONE}."])
        store.bank("from").export(tmp_path / "export")
    with opener("mask") as store:
        bank = store.bank("to")
        with pytest.raises(InputError, match=r"line \d+ of .* holds a secret \(github_token\)") as caught:
            bank.import_bank(tmp_path / "export")
        assert ONE not in str(caught.value)
        assert bank.stats()["memories"] == 0
        store.bank("from").forget([memory.id for memory in store.bank("from").list_memories()][1:])
    with opener("off") as store:
        assert store.bank("again").import_bank(tmp_path / "export").added.memories == 2


def test_a_question_is_masked_where_it_waits_for_a_better_answer(
    opener: Callable[[str | None], Store], tmp_path: Path
) -> None:
    with opener("mask") as store:
        bank = store.bank()
        bank.retain("Odalys Fennimark leads the office.")
        answer = bank.recall(f"Who leads the office of {ONE}?", tier="async", entity_hints=[ONE])
        assert answer.job
        assert bank.get_job(answer.job, wait_seconds=60).recall is not None
    with opener("refuse") as store:
        plain = store.bank().recall(f"Who leads the office of {TWO}?", tier="async")
        assert plain.hits
        assert plain.job == ""
        assert "async: query: holds a secret (github_token)" in plain.trace.degraded[-1]
    for token in (ONE, TWO):
        assert not [p for p in tmp_path.rglob("*") if p.is_file() and token.encode() in p.read_bytes()]


def test_a_load_by_several_processes_masks_and_hides(masking: Bank, tmp_path: Path) -> None:
    items: list[Any] = [
        {"text": f"The key is {ONE}."},
        {"text": "words", "kind": f"kind of {'x' * 30} {TWO}"},
    ]
    vectors = np.ones((2, 32), np.float32)
    with pytest.raises(InputError) as caught:
        masking.load(items, vectors, workers=2)
    assert TWO[:10] not in str(caught.value)
    [memory] = masking.load(items[:1], vectors[:1])
    assert masking.get_memory(memory).text == f"The key is {MASKED}."
