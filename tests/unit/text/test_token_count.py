from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from simonides.protocols import TokenCounter


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("word", 1),
        ("words", 2),
        ("two words", 3),
        ("12345", 2),
        ("a1", 2),
        ("Hello, world!", 6),
        ("\n", 1),
        ("a\n\nb", 4),
        (" ", 1),
        (" a", 1),
        ("a ", 2),
        ("    a", 2),
        ("a     b", 3),
        ("請求書", 3),
        ("서울", 2),
        ("привет", 3),
        ("café", 2),
        ("🟢", 3),
        ("\ud83d", 3),
        ("—", 1),
        ("\r\n", 2),
        ("\x00", 1),
    ],
)
def test_count(text: str, tokens: int) -> None:
    counter: TokenCounter = ApproximateTokenCounter()
    assert counter.count(text) == tokens


def test_name() -> None:
    assert ApproximateTokenCounter().name == "approximate"
