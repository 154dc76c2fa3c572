from __future__ import annotations

import dataclasses
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError, ModelDamagedError, ModelError
from simonides.models.bert_graph import INPUT
from simonides.models.onnx_encoder import OnnxEmbedder
from simonides.models.onnx_runtime import import_runtime, open_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import ModelRecord
    from simonides.protocols import Embedder

TEXTS = ("ada rows", "the boat", "ada rows the boat home", "home", "unheard rows")


@pytest.fixture
def embedder(record: ModelRecord, built: BuiltModel) -> OnnxEmbedder:
    return OnnxEmbedder(record, built, workers=1)


class Session:
    """Passes runs on to a real session, counts them, and answers as told for some token ids."""

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self.real = embedder._session
        self.seen: list[list[int]] = []
        self.answers: dict[int, NDArray[np.float32] | Exception] = {}
        embedder._session = self

    def run(self, names: None, feed: dict[str, NDArray[np.int64]]) -> Any:
        ids = feed[INPUT].tolist()
        self.seen.append(ids)
        for token, answer in self.answers.items():
            if token in ids:
                if isinstance(answer, Exception):
                    raise answer
                return [answer]
        return self.real.run(names, feed)


def token_vectors(built: BuiltModel, ids: list[int]) -> NDArray[np.float32]:
    runtime, _ = import_runtime()
    (vectors,) = open_session(runtime, built.onnx, 1).run(None, {INPUT: np.array(ids, dtype=np.int64)})
    return np.asarray(vectors, dtype=np.float32)


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / np.linalg.norm(vector)


def test_it_is_an_embedder(embedder: OnnxEmbedder) -> None:
    as_protocol: Embedder = embedder

    assert as_protocol.name == "tiny-bert"
    assert as_protocol.dimension == 8
    assert as_protocol.fingerprint.startswith("tiny-bert:")


def test_vectors_are_float32_of_length_one_in_the_order_of_the_texts(embedder: OnnxEmbedder) -> None:
    vectors = embedder.encode(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (5, 8)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_array_equal(vector, embedder.encode_query(text))


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.encode([]).shape == (0, 8)


def test_mean_and_cls_pooling(record: ModelRecord, built: BuiltModel) -> None:
    tokens = token_vectors(built, [2, 4, 5, 3])  # [CLS] ada rows [SEP]

    mean = OnnxEmbedder(record, built).encode_query("ada rows")
    first = OnnxEmbedder(dataclasses.replace(record, pooling="cls"), built).encode_query("ada rows")

    np.testing.assert_allclose(mean, unit(tokens.mean(axis=0)), atol=1e-6)
    np.testing.assert_allclose(first, unit(tokens[0]), atol=1e-6)


def test_prefixes_go_before_queries_and_before_memories(record: ModelRecord, built: BuiltModel) -> None:
    plain = OnnxEmbedder(record, built)
    prefixed = OnnxEmbedder(dataclasses.replace(record, query_prefix="query ", text_prefix="text "), built)

    np.testing.assert_array_equal(prefixed.encode_query("boat"), plain.encode_query("query boat"))
    np.testing.assert_array_equal(prefixed.encode(["boat"]), plain.encode(["text boat"]))


def test_a_vector_never_depends_on_its_neighbours(embedder: OnnxEmbedder) -> None:
    together = embedder.encode(TEXTS)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    backwards = embedder.encode(TEXTS[::-1])[::-1]

    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, backwards)


def test_the_tokenizer_neither_pads_nor_cuts_before_the_models_limit(embedder: OnnxEmbedder) -> None:
    session = Session(embedder)

    embedder.encode(["ada", "ada rows the boat home", "ada rows the boat home ada rows the boat"])

    # The packaged file would pad to 12 and cut to 4; the record allows 8.
    assert session.seen == [[2, 4, 3], [2, 4, 5, 6, 7, 8, 3], [2, 4, 5, 6, 7, 8, 4, 3]]


def test_equal_texts_are_computed_once(embedder: OnnxEmbedder) -> None:
    session = Session(embedder)

    vectors = embedder.encode(["home", "boat", "home"])

    assert len(session.seen) == 2
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_many_texts_hold_the_vectors_of_few_tokens_at_once(
    embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{'ada ' * (1 + number % 3)}{number}" for number in range(200)]
    texts += texts[:100]
    whole = embedder.encode_both(texts)[0]
    asked: list[int] = []
    both = embedder.encode_both

    def counted(part: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        asked.append(len(part))
        return both(part)

    monkeypatch.setattr(embedder, "encode_both", counted)
    np.testing.assert_array_equal(embedder.encode(texts), whole)
    assert asked == [128, 72]


@pytest.mark.fault("V1")
def test_a_text_on_which_the_model_fails_gets_nan_and_the_others_their_vectors(
    embedder: OnnxEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    expected = embedder.encode(["home", "the boat"])
    session = Session(embedder)
    session.answers = {
        4: RuntimeError("bad alloc"),
        5: np.full((3, 8), np.inf, dtype=np.float32),
        9: np.zeros((3, 8), dtype=np.float32),
    }

    with caplog.at_level(logging.WARNING, "simonides"):
        vectors = embedder.encode(["home", "ada", "rows", "query", "the boat"])

    np.testing.assert_array_equal(vectors[[0, 4]], expected)
    assert np.isnan(vectors[[1, 2]]).all()
    assert (vectors[3] == 0).all()
    assert [record.getMessage() for record in caplog.records] == [
        "tiny-bert: no vector for 2 of 5 texts: bad alloc"
    ]
    assert np.isnan(embedder.encode_query("ada")).all()


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "\ud800", "\ufffd\0"])
def test_a_text_of_which_nothing_is_left_gets_zeros(
    record: ModelRecord, built: BuiltModel, text: str
) -> None:
    for prefix in ("", "query "):
        embedder = OnnxEmbedder(dataclasses.replace(record, query_prefix=prefix, text_prefix=prefix), built)

        assert (embedder.encode([text, "home"]) != 0).any(axis=1).tolist() == [False, True]
        assert (embedder.encode_query(text) == 0).all()


@pytest.mark.parametrize("text", ["ada\0 rows", "ada \ud800rows", "ada rows\udfff", "\ufeffada rows"])
def test_odd_characters_do_not_spoil_a_text(embedder: OnnxEmbedder, text: str) -> None:
    np.testing.assert_array_equal(embedder.encode([text])[0], embedder.encode_query("ada rows"))


def test_only_the_start_of_a_huge_text_is_read(embedder: OnnxEmbedder) -> None:
    huge = "ada " * 2_500_000

    np.testing.assert_array_equal(embedder.encode_query(huge), embedder.encode_query("ada " * 20))


def test_workers_and_callers_on_other_threads_change_nothing(record: ModelRecord, built: BuiltModel) -> None:
    texts = [f"{a} {b}" for a in TEXTS for b in TEXTS]
    expected = OnnxEmbedder(record, built, workers=1).encode(texts)
    shared = OnnxEmbedder(record, built, workers=4)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: shared.encode(texts), range(8)))

    for answer in answers:
        np.testing.assert_array_equal(answer, expected)


def test_one_string_is_not_a_list_of_texts(embedder: OnnxEmbedder) -> None:
    with pytest.raises(InputError, match="texts: is one string"):
        embedder.encode("home")


@pytest.mark.parametrize("option", ["threads_per_text", "workers"])
def test_thread_counts_start_at_one(record: ModelRecord, built: BuiltModel, option: str) -> None:
    with pytest.raises(InputError, match=f"{option}: 0 is below 1"):
        OnnxEmbedder(record, built, **{option: 0})


@pytest.mark.parametrize("broken", [{"onnx": b"not a graph"}, {"tokenizer": b"{}"}, {"tokenizer": b"\xff"}])
def test_files_that_cannot_be_loaded_are_damaged(
    record: ModelRecord, built: BuiltModel, broken: dict[str, Any]
) -> None:
    with pytest.raises(
        ModelDamagedError, match=r"tiny-bert cannot be loaded \(.*run `simonides models pull tiny-bert`"
    ):
        OnnxEmbedder(record, dataclasses.replace(built, **broken))


def test_a_model_of_another_dimension_is_damaged(record: ModelRecord, built: BuiltModel) -> None:
    with pytest.raises(ModelDamagedError, match="makes vectors of 8 numbers, the catalogue says 384"):
        OnnxEmbedder(dataclasses.replace(record, dimension=384), built)


def test_a_missing_runtime_is_a_model_error(
    record: ModelRecord, built: BuiltModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(ModelError, match="reinstall simonides, or open the store with embedder=None"):
        OnnxEmbedder(record, built)


@pytest.mark.fault("N5")
@pytest.mark.parametrize(
    "text", ["unheard", "unheard words", "unheard, words!", "우주선", "\U0001f642", "q" * 200]
)
def test_a_text_of_unknown_tokens_alone_has_no_vector(embedder: OnnxEmbedder, text: str) -> None:
    vectors, tokens = embedder.encode_both([text, "ada rows"])

    assert not vectors[0].any()
    assert len(tokens[0]) == 0
    assert not embedder.encode_query(text).any()
    np.testing.assert_array_equal(vectors[1], embedder.encode(["ada rows"])[0])


@pytest.mark.fault("N5")
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("ａｄａ rows", "ada rows"),
        ("ＡＤＡ ｒｏｗｓ", "ada rows"),
        ("ⓐⓓⓐ rows", "ada rows"),
        ("\U0001d4ea\U0001d4ed\U0001d4ea rows", "ada rows"),
        ("ada\u3000ｒｏｗｓ", "ada rows"),
    ],
)
def test_other_forms_of_letters_give_the_vector_of_the_plain_ones(
    embedder: OnnxEmbedder, written: str, plain: str
) -> None:
    np.testing.assert_array_equal(embedder.encode([written]), embedder.encode([plain]))
    np.testing.assert_array_equal(embedder.encode_query(written), embedder.encode_query(plain))


@pytest.mark.fault("N5")
def test_unknown_words_beside_known_ones_are_read_as_they_are(embedder: OnnxEmbedder) -> None:
    session = Session(embedder)

    embedder.encode(["ada unheard… rows"])

    # Ids by WORDS: a mark, ada, what is not known twice, rows, a mark.
    assert session.seen == [[2, 4, 1, 1, 5, 3]]


@pytest.mark.fault("N5")
def test_an_unknown_token_of_a_query_is_compared_with_nothing(embedder: OnnxEmbedder) -> None:
    _, asked = embedder.encode_query_both("ada unheard rows")
    _, (stored,) = embedder.encode_both(["ada unheard rows"])

    assert (len(asked), len(stored)) == (2, 3)
