from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("langchain_core")

from simonides.integrations.langchain import BankRetriever

if TYPE_CHECKING:
    from simonides.bank import Bank


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_documents_are_what_recall_finds(bank: Bank) -> None:
    memory = bank.retain("Odalys Brenn lives in Norrhav.", source="notes.md", metadata={"page": 3})[0]
    bank.retain("Figs need water.")
    retriever = BankRetriever(bank=bank, options={"profile": "lexical", "limit": 1})

    [document] = retriever.invoke("Where does Odalys Brenn live?")
    assert (document.id, document.page_content) == (memory, "Odalys Brenn lives in Norrhav.")
    assert document.metadata["source"] == "notes.md"
    assert document.metadata["page"] == 3
    assert document.metadata["trust"] == 1.0
    assert asyncio.run(retriever.ainvoke("Where does Odalys Brenn live?")) == [document]
    assert retriever.invoke("zzz") == []


@pytest.mark.fault("N11")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_standing_memories_come_first(bank: Bank) -> None:
    rule, fact = bank.retain(["Never release on a Friday.", "Odalys Brenn lives in Norrhav."])
    bank.pin(rule, always=True)
    documents = BankRetriever(bank=bank, options={"profile": "lexical"}).invoke("Odalys Brenn")
    assert [(each.id, each.metadata["standing"]) for each in documents] == [(rule, True), (fact, False)]
    off = BankRetriever(bank=bank, options={"profile": "lexical", "standing": False})
    assert [each.id for each in off.invoke("Odalys Brenn")] == [fact]


@pytest.mark.fault("N40")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_whatever_is_asked_is_answered(bank: Bank) -> None:
    bank.retain("Odalys Brenn lives in Norrhav.")
    retriever = BankRetriever(bank=bank, options={"profile": "lexical"})
    assert [retriever.invoke(text) for text in ("", " ", "\0", "\u200b")] == [[]] * 4
    for text in ("Odalys\0 Brenn", "Odalys Brenn \ud83d", "figs " * 20_000 + "Odalys Brenn"):
        assert [each.page_content for each in retriever.invoke(text)] == ["Odalys Brenn lives in Norrhav."]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_no_bank_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="bank: expected a bank, got str"):
        BankRetriever(bank="notes")
