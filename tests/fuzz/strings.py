"""Hostile text: pieces that parsers trip over, put together and mutated by chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    import random

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 4_000

PIECES = (
    "gauge", "KX-20931", "retryPolicyV2", "tx_queue.rs:118", "C:\\svc\\relay", "it's", "O'Hara", "caf\u00e9", "e\u0301",
    "AND", "OR", "NOT", "NEAR/3", "*", "fu*", '"', '"a b"', "(", ")", "((", "tag:", "kind:code", 'entity:"A b"', "a:b:c", "-", "--", "^2",
    "2027-02-09", "last Friday", "in March", "Q3 2026", "tomorrow", "31", "29 Feb", "'90s", "10:00", "3pm", "2024-W53", "0000-00-00", "9999-12-31",
    "\x00", "\t", "\r\n", "\n\n", "\x1b[31m", "\x7f", "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\ufffe", "\ud83d", "\udc80", "\U0001f7e2", "\U000e0041",
    "\u8acb\u6c42\u66f8", "\u706b\u66dc", "\uac00\ub098", "\u0e01\u0e32\u0e23", "\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u017fpin", "\u0130", "A\u030a", "\u1e9e", "\u0301" * 40,
    "{", "}", "[", "]", "[[", "{}", '{"text":', '"text"', "null", "NaN", "1e999", "-0", "true", "\\u", "\\ud800", "\\", "\\\\", ",", ":", "=", "#", "---", "```", "<!--", "%00", "../", "$(x)", "';--", "stage", "order", "extends", '"""',
    "x" * 200, " " * 60, "(" * 50, "[" * 300, "0" * 80, "a-" * 60, "@" * 40,
)  # fmt: skip

TEXTS = st.one_of(
    st.text(st.characters(), max_size=200),  # lone surrogates and NUL included
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
)


def seeds(name: str) -> list[str]:
    """The kept strings of a target, and those of all."""
    files = sorted((*CORPUS.glob(f"{name}-*"), *CORPUS.glob("any-*")))
    return [file.read_bytes().decode("utf-8", "surrogatepass") for file in files]


def mutated(chance: random.Random, kept: list[str]) -> str:
    """A string: pieces put together, or a kept one with a few edits."""
    if not kept or chance.random() < 0.4:
        glue = chance.choice(("", " ", "\n"))
        return glue.join(chance.choices(PIECES, k=chance.randint(0, 14)))[:LONGEST]
    text = chance.choice(kept)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        how = chance.randint(0, 4)
        if how == 0:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif how == 1:
            text = text[:at] + text[min(to, at + 20) :]
        elif how == 2:
            text = text[:to] + text[at:to] + text[to:]
        elif how == 3:
            text = (
                text[:at]
                + chr(chance.choice((chance.randint(0, 0x7F), chance.randint(0, 0x10FFFF))))
                + text[at + 1 :]
            )
        else:
            text = text[:at] + chance.choice(kept)[: chance.randint(0, 200)] + text[at:]
    return text[:LONGEST]
