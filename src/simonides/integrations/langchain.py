"""A LangChain retriever over a bank.

    retriever = BankRetriever(bank=store.bank("notes"), options={"limit": 5})
    documents = retriever.invoke("When is the review?")

A document is a memory: its text, and id, relevance, score, source, trust and the caller's metadata beside it.
Where it is only possible that any answers there are two at most, with ``possibly`` true in their metadata;
where nothing answers there is none. Standing memories come first, with ``standing`` true; the option
``standing`` false leaves them out. Needs the extra ``langchain``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from simonides.integrations.keyed import check_bank, question_of
from simonides.records.recall import STANDING

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun

    from simonides.records.recall import Hit


class BankRetriever(BaseRetriever):
    """A ``BaseRetriever``.

    Attributes:
        bank: of this process, or of a server.
        options: of ``Bank.recall``.
    """

    bank: Any
    options: dict[str, Any] = Field(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Refuse what is no bank."""
        super().model_post_init(context)
        check_bank(self.bank)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 the base hands it in
    ) -> list[Document]:
        question = question_of(query)
        if not question:
            return []
        found = self.bank.recall(question, **{"standing": True, **self.options})
        return [_document(hit, possibly=found.doubtful) for hit in (*found.standing, *found.told)]


def _document(hit: Hit, *, possibly: bool) -> Document:
    memory = hit.memory
    told = {
        **memory.metadata,
        "id": memory.id,
        "kind": memory.kind.value,
        "relevance": hit.relevance,
        "possibly": possibly and hit.scored_by != STANDING,
        "standing": hit.scored_by == STANDING,
        "earlier": hit.earlier,
        "score": hit.score,
        "source": memory.source or memory.document,
        "trust": memory.trust,
    }
    return Document(page_content=memory.text, metadata=told, id=memory.id)
