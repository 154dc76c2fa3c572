"""What the scale bench stores: texts made up by a seed, and vectors like those of real sentences.

Texts for measuring speed at any size: words by Zipf's law, names, identifiers and dates; seeded.

    p(word of rank r) ∝ 1 / (r + 2.7)     over English stop-words, common words, then invented ones
    p(name of rank r) ∝ 1 / r^0.9         so the graph of who is mentioned where has a power-law tail

Rows come in blocks of their own seed, so any block can be made alone and a larger bank begins as a smaller
one does. They measure cost, never quality: the words of a sentence have nothing to do with each other.
Source: Zipf, Human Behavior and the Principle of Least Effort (1949), with Mandelbrot's shift.

Vectors in any number, grown from some real ones, and the exact twin of a search among them.

    v = unit( (1 − t) · b + t · n + r · (m − o) + ε )

b is a real vector, n, m and o are near neighbours of it (so m − o is a difference as it occurs around b),
t ∈ [0.1, 0.6], and ε is white noise. Grown vectors lie where real ones lie and are as hard to tell apart:
``bench scale`` prints how well a plain 1-bit scan with 1,000 rescored does, which on a million vectors of a
real sentence encoder is near .85; data that is easier than that would flatter every approximate search.

The real vectors are sentences of the public datasets, encoded once and kept.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.evaluation.datasets import DATASETS, load_dataset
from simonides.files import SHARED, new_file
from simonides.protocols import TokenEmbedder
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.protocols import Embedder


BLOCK = 8_192
"""Rows that share a seed."""

FIRST = datetime(2021, 1, 1, tzinfo=UTC)
DAYS = 1_500
"""When the memories happened: spread evenly over so many days, in the order of rows."""

_WORDS = 120_000
_SHIFT = 2.7
_NAME_EXPONENT = 0.9
_FEWEST_WORDS, _MOST_WORDS = 8, 34
_ONSETS = ("b", "br", "d", "f", "gr", "h", "k", "l", "m", "n", "p", "qu", "r", "s", "st", "t", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "", "n", "r", "l", "s", "th", "m")
_PROJECTS = 60
_KINDS = ("semantic", "episodic", "procedural", "decision", "code")
_KIND_SHARES = (0.70, 0.20, 0.05, 0.03, 0.02)
TAGS = {"half": 0.5, "twentieth": 0.05, "two-hundredth": 0.005}
"""Tags that filtered queries ask for, and the share of the memories that bear each."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Neighbouring rows.

    Attributes:
        first: number of the first.
        items: for ``Bank.load``.
        names: numbers of the names in each row's text, int64, shape (rows, 2); −1 = none.
        tagged: which of ``TAGS`` each row bears, bool, shape (rows, tags).
    """

    first: int
    items: list[dict[str, Any]]
    names: NDArray[np.int64]
    tagged: NDArray[np.bool_]


@dataclass(frozen=True)
class TextMaker:
    """Makes the texts of a bank.

    Attributes:
        count: memories of the whole bank.
        seed: of everything.
    """

    count: int
    seed: int

    @property
    def name_count(self) -> int:
        """How many people and things there are to be mentioned."""
        return max(50, self.count * 3 // 10)

    @property
    def words(self) -> list[str]:
        """The vocabulary, most frequent first."""
        return _vocabulary(self.seed)

    @cached_property
    def people(self) -> list[str]:
        """Names of those who are mentioned, most mentioned first; no two alike."""
        source = np.random.default_rng([self.seed, 2])
        firsts = [word.capitalize() for word in _syllables(source, 2_000)]
        lasts = [word.capitalize() for word in _syllables(source, 20_000)]
        named: dict[str, None] = {}
        while len(named) < self.name_count:
            picked = zip(
                source.choice(firsts, self.name_count), source.choice(lasts, self.name_count), strict=True
            )
            named |= dict.fromkeys(f"{first} {last}" for first, last in picked)
        return list(named)[: self.name_count]

    @cached_property
    def _word_shares(self) -> NDArray[np.float64]:
        return _cumulated(1.0 / (np.arange(1, _WORDS + 1, dtype=np.float64) + _SHIFT))

    @cached_property
    def _name_shares(self) -> NDArray[np.float64]:
        return _cumulated(np.arange(1, self.name_count + 1, dtype=np.float64) ** -_NAME_EXPONENT)

    def happened(self, row: int) -> datetime:
        """When row *row* happened, which is also when it was recorded."""
        return FIRST + timedelta(days=DAYS * row / self.count)

    def block(self, number: int) -> TextBlock:
        """Block *number*, from 0; the last one may be short."""
        first = number * BLOCK
        rows = min(BLOCK, self.count - first)
        source = np.random.default_rng([self.seed, 3, number])
        lengths = source.integers(_FEWEST_WORDS, _MOST_WORDS + 1, rows)
        drawn = np.searchsorted(self._word_shares, source.random(int(lengths.sum())))
        stops = np.cumsum(lengths)
        names = np.searchsorted(self._name_shares, source.random((rows, 2)))
        names[source.random((rows, 2)) < (0.25, 0.6)] = -1
        extras = source.random(rows)
        numbers = source.integers(0, 100_000, rows)
        kinds = source.choice(len(_KINDS), rows, p=_KIND_SHARES)
        projects = source.integers(0, _PROJECTS, rows)
        tagged = source.random((rows, len(TAGS))) < list(TAGS.values())
        items = []
        vocabulary = self.words
        for row in range(rows):
            words = [vocabulary[word] for word in drawn[stops[row] - lengths[row] : stops[row]]]
            for place, name in enumerate(names[row]):
                if name >= 0:
                    words.insert(1 + place * len(words) // 2, self.people[name])
            moment = self.happened(first + row)
            words += _extra(float(extras[row]), int(numbers[row]), moment)
            text = " ".join(words)
            items.append(
                {
                    "text": f"{text[0].upper()}{text[1:]}.",
                    "kind": _KINDS[kinds[row]],
                    "event_time": moment,
                    "recorded_at": moment,
                    "project": f"project-{projects[row]}",
                    "tags": [tag for tag, bears in zip(TAGS, tagged[row], strict=True) if bears],
                    "deduplicate": False,
                }
            )
        return TextBlock(first, items, names, tagged)

    @property
    def blocks(self) -> int:
        return -(-self.count // BLOCK)


@lru_cache(maxsize=2)
def _vocabulary(seed: int) -> list[str]:
    """Not to be changed."""
    known = files("simonides.retain.extraction").joinpath("lists/common_words.txt").read_text("utf-8")
    common = [word for word in known.lower().split() if word.isalpha() and word.isascii()]
    stop = sorted(word for word in stopwords("english") if word.isalpha())
    listed = dict.fromkeys([*stop, *common])
    source = np.random.default_rng([seed, 1])
    while len(listed) < _WORDS:
        listed |= dict.fromkeys(_syllables(source, _WORDS))
    return list(listed)[:_WORDS]


def _extra(share: float, number: int, moment: datetime) -> list[str]:
    """An identifier, a path or a date, for some of the rows."""
    if share < 0.15:
        return ["see", f"TG-{number}"]
    if share < 0.25:
        return ["in", f"src/module_{number % 500}/part_{number % 37}.py"]
    if share < 0.40:
        return ["on", moment.strftime("%Y-%m-%d")]
    return []


def _syllables(source: np.random.Generator, count: int) -> list[str]:
    """Invented words of two to four syllables."""
    parts = source.integers(2, 5, count)
    onsets, vowels, codas = (source.choice(letters, (count, 4)) for letters in (_ONSETS, _VOWELS, _CODAS))
    return [
        "".join(
            f"{onsets[i, j]}{vowels[i, j]}{codas[i, j] if j + 1 == parts[i] else ''}" for j in range(parts[i])
        )
        for i in range(count)
    ]


def _cumulated(weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    whole: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    whole[-1] = 1.0
    return whole


HELD_OUT = 600
"""Real vectors that nothing is grown from: the queries."""

NEIGHBOURS = 24
# Of a million rows a plain 1-bit scan with 1,000 (2,000; 8,192) rescored keeps .846 (.923; .985) of the best.
_RESIDUAL = 0.9
_NOISE = 0.9
_STEP = 1_024


@dataclass(frozen=True)
class VectorMaker:
    """Grows the vectors of a bank.

    Attributes:
        real: unit vectors of an encoder, float32, shape (real ones, dimension); the last ``HELD_OUT`` are
            kept for queries.
        seed: of everything.
    """

    real: NDArray[np.float32]
    seed: int

    @property
    def queries(self) -> NDArray[np.float32]:
        """Held-out real vectors."""
        return self.real[-HELD_OUT:]

    @cached_property
    def _bases(self) -> NDArray[np.float32]:
        return self.real[:-HELD_OUT]

    @cached_property
    def _near(self) -> NDArray[np.int64]:
        """The nearest others of each base, int64, shape (bases, NEIGHBOURS)."""
        found = np.empty((len(self._bases), NEIGHBOURS), np.int64)
        for start in range(0, len(self._bases), _STEP):
            cosines = self._bases[start : start + _STEP] @ self._bases.T
            cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -2.0
            found[start : start + _STEP] = np.argpartition(-cosines, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        return found

    def block(self, number: int, rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors of block *number*, and the base that each was grown from."""
        source = np.random.default_rng([self.seed, 4, number])
        bases = source.integers(0, len(self._bases), rows)
        near = self._near[bases[:, None], source.integers(0, NEIGHBOURS, (rows, 3))]
        share = source.uniform(0.1, 0.6, (rows, 1)).astype(np.float32)
        noise = source.standard_normal((rows, self.real.shape[1]), np.float32)
        grown = (1 - share) * self._bases[bases] + share * self._bases[near[:, 0]]
        grown += _RESIDUAL * (self._bases[near[:, 1]] - self._bases[near[:, 2]])
        grown += noise * np.float32(_NOISE / np.sqrt(self.real.shape[1]))
        return grown / np.linalg.norm(grown, axis=1, keepdims=True), bases

    def blocks(self, count: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All vectors of a bank of *count*: first row and vectors of each block."""
        for number in range(-(-count // BLOCK)):
            first = number * BLOCK
            yield first, self.block(number, min(BLOCK, count - first))[0]


def exact_nearest(
    queries: NDArray[np.float32],
    eligible: Iterable[NDArray[np.bool_]],
    blocks: Iterable[tuple[int, NDArray[np.float32]]],
    depth: int,
) -> list[NDArray[np.int64]]:
    """The *depth* eligible rows of highest cosine for each query, in float32: what a search is held against.

    Args:
        queries: unit vectors, shape (queries, dimension).
        eligible: per query, bool, shape (rows,).
        blocks: first row and unit vectors of neighbouring rows, ascending.
        depth: rows at most.

    Returns:
        per query, rows, best first.
    """
    masks = np.stack(list(eligible))
    rows = np.empty((len(queries), 0), np.int64)
    cosines = np.empty((len(queries), 0), np.float32)
    for first, vectors in blocks:
        stop = first + len(vectors)
        found = np.where(masks[:, first:stop], queries @ vectors.T, -np.inf)
        numbers = np.broadcast_to(np.arange(first, stop), found.shape)
        rows, cosines = np.hstack([rows, numbers]), np.hstack([cosines, found])
        if rows.shape[1] > depth:
            best = np.argpartition(-cosines, depth - 1, axis=1)[:, :depth]
            rows, cosines = np.take_along_axis(rows, best, 1), np.take_along_axis(cosines, best, 1)
    order = np.lexsort((rows, -cosines), axis=1)
    rows, cosines = np.take_along_axis(rows, order, 1), np.take_along_axis(cosines, order, 1)
    return [mine[np.isfinite(scores)] for mine, scores in zip(rows, cosines, strict=True)]


def plain_scan_recall(
    queries: NDArray[np.float32], exact: list[NDArray[np.int64]], signs: NDArray[np.uint8], rescored: int
) -> float:
    """Share of the exact rows that are among the *rescored* nearest by Hamming distance of signs alone.

    Args:
        queries: unit vectors, shape (queries, dimension).
        exact: from ``exact_nearest`` over all rows.
        signs: packed signs of all rows, shape (rows, dimension / 8).
        rescored: how many survive the scan.
    """
    words = signs.view(np.uint64)
    kept = []
    for query, wanted in zip(queries, exact, strict=True):
        mine = np.packbits(query > 0).view(np.uint64)
        distances = np.bitwise_count(words ^ mine).sum(axis=1, dtype=np.int64)
        # Whatever else lies at the distance of the last one counts as found.
        last = np.partition(distances, min(rescored, len(distances)) - 1)[min(rescored, len(distances)) - 1]
        kept.append(float((distances[wanted] <= last).mean()))
    return float(np.mean(kept))


SENTENCES = 12_000
"""Texts that are encoded; where the data sets have fewer sentences, invented texts make up the number."""

_MOST_TOKENS = 24
_AT_ONCE = 200
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SHORTEST = 20


@dataclass(frozen=True, slots=True)
class RealVectors:
    """What an encoder made of real texts.

    Attributes:
        name, fingerprint: of the encoder.
        vectors: unit, float32, shape (texts, dimension).
        tokens: vectors of tokens less the encoder's mean, float16, shape (all tokens, dimension); no rows
            for an encoder that offers none.
        offsets: text t has the tokens from offsets[t] up to offsets[t + 1].
        invented: how many of the texts are invented.
    """

    name: str
    fingerprint: str
    vectors: NDArray[np.float32]
    tokens: NDArray[np.float16]
    offsets: NDArray[np.int64]
    invented: int

    def tokens_of(self, text: int) -> NDArray[np.float32]:
        """Token vectors of one text."""
        part = self.tokens[self.offsets[text] : self.offsets[text + 1]]
        return np.asarray(part, np.float32)


def real_vectors(
    folder: Path,
    data: Path | None,
    embedder: Embedder,
    *,
    seed: int,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> RealVectors:
    """Encode, or read what was encoded before.

    Args:
        folder: where it is kept.
        data: folder of the data sets; ``None`` = invented texts alone.
        embedder: the encoder.
        seed: of the invented texts, and of the order.
        progress: told ("encode", done, all).
    """
    sentences = _sentences(data)
    invented = max(0, SENTENCES - len(sentences))
    maker = TextMaker(max(1, invented), seed + 1)
    made = [item["text"] for number in range(maker.blocks) for item in maker.block(number).items]
    texts = [*sentences, *made][:SENTENCES]
    np.random.default_rng([seed, 5]).shuffle(texts)
    said = hashlib.sha256("\n".join([embedder.fingerprint, *texts]).encode()).hexdigest()[:12]
    path = folder / f"real-{said}.npz"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = _encoded(embedder, texts, progress)
        with new_file(path, mode=SHARED) as file:
            np.savez(file, **arrays)
    with np.load(path, allow_pickle=False) as kept:
        return RealVectors(
            embedder.name,
            embedder.fingerprint,
            kept["vectors"],
            kept["tokens"],
            kept["offsets"],
            min(invented, SENTENCES),
        )


def _sentences(data: Path | None) -> list[str]:
    if data is None:
        return []
    texts = [
        item.text
        for name in DATASETS
        for corpus, _ in load_dataset(name, data).corpora
        for item in corpus.items
    ]
    pieces = (piece.strip() for text in texts for piece in _SENTENCE.split(text))
    return list(dict.fromkeys(piece for piece in pieces if len(piece) >= _SHORTEST))


def _encoded(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[str, int, int | None], None] | None
) -> dict[str, NDArray[Any]]:
    vectors: list[NDArray[np.float32]] = []
    tokens: list[NDArray[np.float16]] = []
    for first in range(0, len(texts), _AT_ONCE):
        part = texts[first : first + _AT_ONCE]
        if isinstance(embedder, TokenEmbedder):
            rows, found = embedder.encode_both(part)
            tokens += [each[:_MOST_TOKENS].astype(np.float16) for each in found]
        else:
            rows = embedder.encode(part)
            tokens += [np.empty((0, embedder.dimension), np.float16)] * len(part)
        vectors.append(np.asarray(rows, np.float32))
        if progress:
            progress("encode", first + len(part), len(texts))
    joined = np.concatenate(vectors)
    norms = np.linalg.norm(joined, axis=1)
    sound = np.isfinite(norms) & (norms > 0)
    kept = [each for each, fits in zip(tokens, sound, strict=True) if fits]
    return {
        "vectors": joined[sound] / norms[sound, None],
        "tokens": np.concatenate(kept),
        "offsets": np.concatenate([np.zeros(1, np.int64), np.cumsum([len(each) for each in kept])]),
    }
