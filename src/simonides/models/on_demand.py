"""Models of a store, loaded when they are first needed, once; and the checks of what names them.

A model that cannot be had is no error where none was named: recall goes on by words, or by the fused order.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from simonides.errors import InputError, ModelError
from simonides.models.catalogue import CATALOGUE, DEFAULT_EMBEDDER, find_record, find_reranker
from simonides.models.fetch import silent
from simonides.models.onnx_encoder import checked_dimension
from simonides.models.resolve import load_embedder, load_reranker, load_sparse, sparse_choice
from simonides.records.hygiene import shown
from simonides.records.model_identity import ModelIdentity

if TYPE_CHECKING:
    from simonides.models.fetch import Progress
    from simonides.protocols import Embedder, Reranker, SparseEncoder

_log = logging.getLogger("simonides")

_NO_MODEL = "no embedding model, so recall uses keyword search only: %s"
_ANY = ModelIdentity()


def check_parts(*, tokens: object, expander: object, **others: object) -> None:
    """That what was handed in can do what it is for; a name stands for a catalogued one."""
    if tokens is None:
        raise InputError("tokens", "is None; leave it out for the default")
    methods = {
        "clock": "__call__",
        "embedder": "encode",
        "sparse": "encode",
        "tokens": "count",
        "reranker": "score",
        "heavy_reranker": "score",
        "judge": "judge",
        "answerer": "stream",
    }
    for field, given in {**others, "tokens": tokens}.items():
        named = isinstance(given, str) and field not in {"clock", "judge", "answerer"}
        if given is not None and not named and not callable(getattr(given, methods[field], None)):
            raise InputError(
                field, f"{shown(given)} has no method {methods[field]}; leave it out for the default"
            )
        if field in {"embedder", "sparse"} and given is not None and not named:
            _check_fingerprint(field, getattr(given, "fingerprint", None))
    if expander is not None and expander != "rules" and not callable(getattr(expander, "expand", None)):
        raise InputError("expander", f"{shown(expander)} is neither 'rules' nor has it a method expand")


def _check_fingerprint(field: str, fingerprint: object) -> None:
    if not isinstance(fingerprint, str) or not fingerprint.strip():
        raise InputError(
            field,
            f"has the fingerprint {shown(fingerprint)}; give a text that no other model has, by which a bank "
            "knows whose vectors it holds",
        )


def check_models(
    embedder: object, dimension: int | None, rerankers: tuple[object, ...], sparse: object
) -> None:
    """Whether the catalogue has what is named; loads nothing."""
    if isinstance(embedder, str) and embedder.strip() and embedder != "auto":
        find_record(embedder)
    for reranker in rerankers:
        if isinstance(reranker, str):
            find_reranker(reranker)
    if isinstance(sparse, str):
        sparse_choice(sparse)
    if dimension is not None:
        if not isinstance(embedder, str):
            raise InputError(
                "dimension", "is for catalogued embedders only; name one, or cut vectors yourself"
            )
        checked_dimension(find_record(DEFAULT_EMBEDDER if embedder == "auto" else embedder), dimension)


class EmbedderSource:
    """Loads the embedder at first use, once; a model that cannot be had leaves recall by words."""

    def __init__(
        self, wanted: str | Embedder | None, progress: Progress | None, dimension: int | None
    ) -> None:
        if isinstance(wanted, str) and not wanted.strip():
            raise InputError("embedder", "is blank; give a model's name, 'auto' or None")
        self._wanted = wanted
        self._dimension = dimension
        self._progress = progress or silent
        self._lock = threading.Lock()
        self._loaded: tuple[Embedder | None, str] | None = None
        # Others than the one that was asked for, by fingerprint: those that banks have gone over to.
        self._others: dict[str, tuple[Embedder | None, str]] = {}
        # Fingerprints that the catalogue's model of the name does not have.
        self._strangers: set[str] = set()

    def __call__(self, model: ModelIdentity = _ANY) -> tuple[Embedder | None, str]:
        """The embedder for a bank whose vectors are of *model*, or ``None`` and why.

        With ``"auto"`` that is *model* wherever it is catalogued; where it cannot be had, another one.
        """
        with self._lock:
            if self._wanted is None or not model.fingerprint:
                return self._default()
            others = self._others.get(model.fingerprint)
            if others is None and self._wanted == "auto" and model.name != DEFAULT_EMBEDDER:
                others = self._catalogued(model, offline=None)
            return others or self._default()

    def cached(self, model: ModelIdentity) -> Embedder | None:
        """The embedder with exactly this identity, if it can be loaded without fetching it."""
        with self._lock:
            found = self._others.get(model.fingerprint) or self._catalogued(model, offline=True)
            return found[0] if found else None

    def adopt(self, model: str | Embedder, dimension: int | None) -> Embedder:
        """Register the embedder that a bank migrates to; see ``Bank.reembed``."""
        check_parts(tokens="approximate", expander=None, embedder=model)
        check_models(model, dimension, (), None)
        if isinstance(model, str):
            name = DEFAULT_EMBEDDER if model == "auto" else model
            embedder: Embedder = load_embedder(name, progress=self._progress, dimension=dimension)
        else:
            embedder = model
        with self._lock:
            self._others[embedder.fingerprint] = embedder, ""
        return embedder

    def _catalogued(
        self, model: ModelIdentity, *, offline: bool | None
    ) -> tuple[Embedder | None, str] | None:
        """A bank's embedder by its name; ``None`` where the catalogue's one makes other vectors."""
        known = model.name in {record.name for record in CATALOGUE}
        if not known or model.fingerprint in self._strangers:
            return None
        cut = None if find_record(model.name).dimension == model.dimension else model.dimension
        try:
            found = load_embedder(model.name, progress=self._progress, offline=offline, dimension=cut)
        except (ModelError, InputError) as error:
            if offline:
                return None
            _log.warning(_NO_MODEL, error)
            self._others[model.fingerprint] = None, str(error)
            return self._others[model.fingerprint]
        if found.fingerprint != model.fingerprint:
            self._strangers.add(model.fingerprint)
            return None
        self._others[model.fingerprint] = found, ""
        return self._others[model.fingerprint]

    def _default(self) -> tuple[Embedder | None, str]:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    @property
    def problem(self) -> str:
        """Why there is none, as far as it was tried; loads nothing."""
        loaded = self._loaded
        return loaded[1] if loaded else ""

    def _load(self) -> tuple[Embedder | None, str]:
        if self._wanted is None:
            return None, ""
        if not isinstance(self._wanted, str):
            return self._wanted, ""
        name = DEFAULT_EMBEDDER if self._wanted == "auto" else self._wanted
        try:
            return load_embedder(name, progress=self._progress, dimension=self._dimension), ""
        except ModelError as error:
            if self._wanted != "auto":
                raise
            _log.warning(_NO_MODEL, error)
            return None, str(error)


class RerankerSource:
    """Loads the reranker when a profile first asks for it, once; without it the fused order stands."""

    def __init__(self, wanted: str | Reranker | None, progress: Progress | None) -> None:
        self._wanted = wanted
        self._progress = progress or silent
        self._lock = threading.Lock()
        self._loaded: tuple[Reranker | None, str] | None = None

    def get(self) -> tuple[Reranker | None, str]:
        """The reranker, or ``None`` and why (empty where none was asked for)."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> tuple[Reranker | None, str]:
        if not isinstance(self._wanted, str):
            return self._wanted, ""
        try:
            return load_reranker(self._wanted, progress=self._progress), ""
        except ModelError as error:
            _log.warning("no reranker, the fused order stands: %s", error)
            return None, str(error)


class SparseSource:
    """Loads the sparse encoder at first use, once."""

    def __init__(self, wanted: str | SparseEncoder | None, progress: Progress | None) -> None:
        self._wanted = wanted
        self._progress = progress or silent
        self._lock = threading.Lock()

    def get(self) -> tuple[SparseEncoder | None, str]:
        """The encoder, or ``None``, and why there is none though one was asked for.

        ``ModelError`` if it was named.
        """
        with self._lock:
            if isinstance(self._wanted, str):
                self._wanted = load_sparse(self._wanted, progress=self._progress)
            return self._wanted, ""
