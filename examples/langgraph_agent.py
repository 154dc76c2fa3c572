"""A LangGraph agent with long-term memory: a graph whose store is a bank, in two threads of conversation.

    pip install 'simonides[langgraph]' langgraph
    python examples/langgraph_agent.py

One node recalls what the store knows about a message, one answers, one keeps what the user states. The
model is a stand-in that quotes what it was given, so that this runs anywhere; put yours in its place. What
the first conversation kept, the second one knows, since the store outlives both.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import simonides
from simonides.integrations.langgraph import BankStore

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

NOTES = ("users", "odalys", "notes")


class State(TypedDict, total=False):
    """What the nodes hand on."""

    message: str
    known: list[str]
    answer: str


def recall(state: State, *, store: BaseStore) -> dict[str, Any]:
    """What the store knows about the message."""
    found = store.search(NOTES, query=state["message"], limit=1)
    # What the query does not find stands behind, without a score.
    return {"known": [str(item.value["text"]) for item in found if item.score is not None]}


def answer(state: State) -> dict[str, Any]:
    """Stands for a language model: it says what it was given."""
    if not state["message"].endswith("?"):
        return {"answer": "Noted."}
    return {"answer": " ".join(state["known"]) or "I do not know."}


def keep(state: State, *, store: BaseStore) -> None:
    """Keep what the user states, under a key of its own."""
    if not state["message"].endswith("?"):
        number = len(store.search(NOTES, limit=100))
        store.put(NOTES, f"note-{number}", {"text": state["message"]}, index=["text"])


def graph(store: BaseStore) -> Any:
    """The agent."""
    builder = StateGraph(State)
    for name, node in (("recall", recall), ("reply", answer), ("keep", keep)):
        builder.add_node(name, node)
    for before, after in ((START, "recall"), ("recall", "reply"), ("reply", "keep"), ("keep", END)):
        builder.add_edge(before, after)
    return builder.compile(store=store, checkpointer=InMemorySaver())


def main() -> None:
    """Two conversations of one user."""
    with TemporaryDirectory() as folder, simonides.open(folder, embedder=None) as store:
        agent = graph(BankStore(store.bank("agent")))
        for thread, message in (
            ("monday", "The greenhouse key hangs behind the blue door."),
            ("monday", "The figs get water twice a week."),
            ("friday", "Where does the greenhouse key hang?"),
            ("friday", "How tall is the lighthouse of Atlantis?"),
        ):
            done = agent.invoke({"message": message}, {"configurable": {"thread_id": thread}})
            print(f"{thread}: {message}\n     -> {done['answer']}")
        print("kept:", store.bank("agent").stats()["current"])


if __name__ == "__main__":
    main()
