"""Run an encoder on the CPU: texts to unit vectors and token vectors.

The token vectors of one model all lean the same way; less their mean, the signs of a token tell more. A mean
learned from a bank would let every row change the scores of all others, so it is a constant shipped with the
model, computed over the uncentred tokens of the router's example queries.

One text per run, never padded: int8 activations are scaled per tensor, so a padded batch would let neighbours
change a text's vector, and it is slower besides (measured: 220 texts a second alone, 178 in batches of 32,
one thread). Several texts run on several threads instead; onnxruntime releases the interpreter lock.

Cost: 1 to 3 ms for a question, about 6 ms for a chat turn (all-MiniLM-L6-v2, one thread).
"""

from __future__ import annotations

import logging
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, ModelDamagedError, ModelError
from simonides.models.bert_graph import INPUT
from simonides.models.cache import fingerprint, remedy
from simonides.models.onnx_runtime import TextTokens, cores, in_threads, open_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import ModelRecord


_FOLDER = "token_means"


def token_mean(model: str, dimension: int) -> NDArray[np.float32]:
    """Mean of a model's unit token vectors, float32, shape (dimension,); zeros for a model without one."""
    path = files("simonides.models").joinpath(_FOLDER, f"{model}.f32")
    if not path.is_file():
        return np.zeros(dimension, np.float32)
    mean = np.frombuffer(path.read_bytes(), "<f4").astype(np.float32)
    return mean if len(mean) == dimension else np.zeros(dimension, np.float32)


_log = logging.getLogger(__name__)

_OTHER_INPUTS = ("attention_mask", "token_type_ids")
_CHARACTERS_PER_TOKEN = 64
"""Only this many characters per allowed token are read; a token of prose has about 4. Bounds a 10 MB text."""

_AT_ONCE = 128
"""Texts whose tokens' vectors are held at once where only those of the texts are wanted."""


class OnnxEmbedder:
    """An embedder of the catalogue (``protocols.Embedder``). Thread-safe.

    A text that is blank, of which the tokenizer keeps nothing, or of which the model knows no token gets a
    zero row; a text on which the model fails gets a row of NaN, and the others their vectors. What is folded
    is said in ``onnx_runtime.TextTokens``. The fingerprint does not tell of that: no vector of a text
    whose tokens the model knows depends on it, but for full-width forms and ligatures.
    """

    def __init__(
        self,
        record: ModelRecord,
        built: BuiltModel,
        *,
        threads_per_text: int = 1,
        workers: int | None = None,
        dimension: int | None = None,
    ) -> None:
        """Load the model.

        Args:
            threads_per_text: threads of one run; more than 1 helps only long texts on an idle machine.
            workers: how many texts run at once; None means one per available core.
            dimension: vectors are cut to so many numbers and scaled to length 1 again (Kusupati et al.,
                Matryoshka Representation Learning, 2022), only as the record allows; None = not cut.

        Raises:
            InputError: *dimension* is none that the model was trained for.
            ModelDamagedError: the files have the right sums, but cannot be loaded.
            ModelError: onnxruntime or tokenizers cannot be imported.
        """
        for field, value in (("threads_per_text", threads_per_text), ("workers", workers)):
            if value is not None and value < 1:
                raise InputError(field, f"{value} is below 1")
        cut = checked_dimension(record, dimension)
        self._record = record
        self._cut = cut
        self._fingerprint = fingerprint(record, built.manifest, cut)
        self._workers = workers or cores()
        self._session, self._tokenizer = open_model(record, built, threads_per_text)
        self._check_graph()
        # The shipped means are those of whole vectors.
        self._token_mean = (
            token_mean(record.name, record.dimension) if cut is None else np.zeros(cut, np.float32)
        )
        self._tokens = TextTokens(self._tokenizer)
        self._overhead = {
            prefix: len(self._tokenizer.encode(prefix).ids)
            for prefix in (record.query_prefix, record.text_prefix)
        }

    def _check_graph(self) -> None:
        """The graph takes what is known here and gives vectors of the model's length."""
        inputs = self._session.get_inputs()
        self._inputs = tuple(value.name for value in inputs)
        self._batched = len(inputs) > 1 or len(inputs[0].shape) != 1
        unknown = {*self._inputs} - {INPUT, *_OTHER_INPUTS}
        output = self._session.get_outputs()[0]
        # A ready file may leave sizes open; then the first run tells.
        found = output.shape[-1] if output.shape else None
        if unknown or (isinstance(found, int) and found != self._record.dimension):
            told = f"wants {', '.join(sorted(unknown))}" if unknown else f"makes vectors of {found} numbers"
            raise ModelDamagedError(
                f"model {self._record.name} {told}, the catalogue says {self._record.dimension}, and {INPUT} "
                f"as input; {remedy(self._record)}"
            )

    @property
    def name(self) -> str:
        """As in the catalogue."""
        return self._record.name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._record.dimension if self._cut is None else self._cut

    @property
    def fingerprint(self) -> str:
        """Name and digest of weights, tokenizer, recipe, pooling, prefixes and token limit."""
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of memories: float32, shape (len(texts), dimension), each of length 1, or zero, or NaN.

        Equal texts are computed once; a text's vector never depends on the others.
        """
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        distinct = list(dict.fromkeys(texts))
        # In parts, because the vectors of all tokens would take a thousand times the room of the texts.
        rows: dict[str, NDArray[np.float32]] = {}
        for first in range(0, len(distinct), _AT_ONCE):
            part = distinct[first : first + _AT_ONCE]
            rows |= zip(part, self.encode_both(part)[0], strict=True)
        return np.array([rows[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Vectors as ``encode`` gives them, and per text those of its tokens, from the same pass.

        The latter are unit vectors less the model's mean token, float32, shape (tokens, dimension), the
        special ones left out; no rows for a text without a vector.
        """
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        distinct = list(dict.fromkeys(texts))
        prefix = self._record.text_prefix
        attempt = partial(self._attempt, prefix)
        outcomes = in_threads(attempt, distinct, self._workers, "simonides-embed")
        failures = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        if failures:
            _log.warning(
                "%s: no vector for %d of %d texts: %s", self.name, len(failures), len(distinct), failures[0]
            )
        rows = dict(zip(distinct, outcomes, strict=True))
        vectors = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        tokens = [np.empty((0, self.dimension), np.float32)] * len(texts)
        for place, text in enumerate(texts):
            outcome = rows[text]
            if not isinstance(outcome, Exception):
                vectors[place], found = outcome
                tokens[place] = found - self._token_mean
        return vectors, tokens

    def knows(self, word: str) -> bool:
        """Whether *word*, in lower case, is one entry of the model's vocabulary."""
        return self._tokenizer.token_to_id(word) is not None

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query: float32, shape (dimension,); of length 1, or zero, or NaN."""
        return self.encode_query_both(text)[0]

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vector of a query, and the unit vectors of those of its tokens that the model knows.

        Shapes (dimension,) and (tokens, dimension). Unknown tokens would match each other.
        """
        outcome = self._attempt(self._record.query_prefix, text, known=True)
        if isinstance(outcome, Exception):
            _log.warning("%s: no vector for the query: %s", self.name, outcome)
            return np.full(self.dimension, np.nan, np.float32), np.empty((0, self.dimension), np.float32)
        return outcome

    def _attempt(
        self, prefix: str, text: str, *, known: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]] | Exception:
        try:
            return self._read(prefix, text, known=known)
        except Exception as error:  # noqa: BLE001 - one text must not cost the others
            return error

    def _read(
        self, prefix: str, text: str, *, known: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The unit vectors of a text and of each of its tokens, or only of those that are *known*."""
        zero = np.zeros(self.dimension, np.float32), np.empty((0, self.dimension), np.float32)
        kept = text[: self._record.max_tokens * _CHARACTERS_PER_TOKEN]
        if not kept.strip():
            return zero
        ids = self._tokens.ids(prefix + kept)
        # The first and the last are the model's own marks; a prefix is no word of the text either.
        own = slice(self._overhead[prefix] - 1, -1)
        if len(ids) <= self._overhead[prefix] or self._tokens.says_nothing(ids[own]):
            return zero
        tokens = self._token_vectors(np.array(ids, dtype=np.int64))
        pooled = self._shortened(tokens[0] if self._record.pooling == "cls" else tokens.mean(axis=0))
        tokens = self._shortened(tokens)
        length = float(np.linalg.norm(pooled))
        if not np.isfinite(length):
            raise ModelError("the model's output is not finite")
        if not length:
            return zero
        words = tokens[own][self._tokens.known(ids[own])] if known else tokens[own]
        lengths: NDArray[np.float32] = np.linalg.norm(words, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vector: NDArray[np.float32] = pooled / np.float32(length)
        units: NDArray[np.float32] = words / lengths
        return vector, units

    def _token_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of one text's tokens, shape (tokens, whole dimension)."""
        if not self._batched:
            (tokens,) = self._session.run(None, {INPUT: ids})
        else:
            # A ready file wants a batch: one text, nothing of it hidden, all of one segment.
            rows = {INPUT: ids[None], "attention_mask": np.ones_like(ids)[None]}
            rows["token_type_ids"] = np.zeros_like(ids)[None]
            first = self._session.get_outputs()[0].name
            (tokens,) = self._session.run([first], {name: rows[name] for name in self._inputs})[0]
        if tokens.shape != (len(ids), self._record.dimension):
            raise ModelError(
                f"the model gave numbers of shape {tokens.shape} for {len(ids)} tokens; the file's first "
                f"output must be the vectors of tokens, {self._record.dimension} numbers each"
            )
        found: NDArray[np.float32] = tokens
        return found

    def _shortened(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The first numbers of each vector, when vectors are cut."""
        if self._cut is None:
            return vectors
        if self._record.centred_cut:
            vectors = vectors - vectors.mean(axis=-1, keepdims=True)
        return vectors[..., : self._cut]


def checked_dimension(record: ModelRecord, dimension: int | None) -> int | None:
    """To how many numbers vectors are cut.

    ``None`` = they are not. ``InputError``: the record allows no cut.
    """
    if dimension is None or dimension == record.dimension:
        return None
    if dimension not in record.matryoshka:
        allowed = ", ".join(str(each) for each in (record.dimension, *record.matryoshka))
        raise InputError("dimension", f"{dimension!r} is not one that {record.name} has; valid: {allowed}")
    return dimension
