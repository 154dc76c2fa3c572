"""An agent loop in plain Python: recall before each answer, retain what the user says.

    python examples/agent_loop.py

The model is a stand-in that quotes what it was given, so that this runs anywhere; put yours in its place.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import simonides

if TYPE_CHECKING:
    from simonides.bank import Bank

MESSAGES = (
    "Please remember that the greenhouse key hangs behind the blue door.",
    "I prefer short answers.",
    "Where does the greenhouse key hang?",
    "What is the capital of Atlantis?",
)


def model(context: str, message: str) -> str:
    """Stands for a language model: it says what its context says."""
    if not message.endswith("?"):
        return "Noted."
    return context or "I do not know."


def turn(bank: Bank, number: int, message: str) -> str:
    """One message and its answer."""
    recalled = bank.recall(message, limit=1, max_tokens=200)
    answer = model("" if recalled.no_match else recalled.context, message)
    if not message.endswith("?"):
        # The key makes a turn that is tried again the same turn.
        bank.retain(message, session="greenhouse", speaker="user", idempotency_key=f"greenhouse-{number}")
    return answer


def main() -> None:
    """Hold the conversation and print it."""
    # `with` removes the folder again; a real agent names one that stays.
    with TemporaryDirectory() as folder, simonides.open(folder, embedder=None) as store:
        bank = store.bank("agent")
        for number, message in enumerate(MESSAGES):
            print("user: ", message)
            print("agent:", turn(bank, number, message))
        print("kept: ", bank.stats()["memories"])


if __name__ == "__main__":
    main()
