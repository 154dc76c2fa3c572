"""The invented conversations of ``bench/chats`` and the questions about them; its README tells the format."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from simonides.evaluation.asking import NOW
from simonides.evaluation.datasets import Corpus, Item, Question

CHATS = Path(__file__).parent / "chats"
REGISTERS = {
    "letters": ("harbour", "orchard", "pottery"),
    "messages": ("flatshare", "pitch"),
    "work": ("foundry", "planner", "telescope"),
}
"""By bank: conversations of ``bench/chats``."""


def read_chat(name: str) -> tuple[Corpus, tuple[Question, ...]]:
    """A conversation, each turn with its speaker in front, and the questions about it."""
    items: list[Item] = []
    session, turn, at = 0, 0, NOW
    for line in _lines(CHATS / f"{name}.chat"):
        if begun := re.fullmatch(r"## (\d+) \| (.+)", line):
            session, turn, at = int(begun[1]), 0, datetime.fromisoformat(begun[2]).replace(tzinfo=UTC)
        else:
            turn += 1
            items.append(Item(f"{name}:{session}:{turn}", line, at, f"{name}_{session}"))
    questions = []
    for number, line in enumerate(_lines(CHATS / f"{name}.questions"), 1):
        kind, turns, text, _ = (part.strip() for part in line.split(" | "))
        gold = () if turns == "-" else tuple(f"{name}:{each.strip()}" for each in turns.split(","))
        questions.append(Question(f"{name}-q{number}", text, gold, kind, bool(gold)))
    return Corpus(name, tuple(items)), tuple(questions)


def read_register(register: str) -> tuple[Corpus, tuple[Question, ...]]:
    """The conversations of a register as one corpus, in the order of time, and all their questions."""
    chats = [read_chat(name) for name in REGISTERS[register]]
    items = sorted(
        (item for corpus, _ in chats for item in corpus.items), key=lambda item: item.event_time or NOW
    )
    return Corpus(register, tuple(items)), tuple(each for _, questions in chats for each in questions)


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]
