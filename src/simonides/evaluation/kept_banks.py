"""Banks of a data set's corpora that outlive one measurement, so that retaining is done once.

``FOLDER/<data set>-<digest>/`` holds a store and ``keys.json``, which says the dataset's key of each memory.
The digest is of what was retained:
texts, dates, sessions, order, window, embedder and version. Other corpora,
distractors or scrubbed names thus get banks of their own. ``keys.json`` is written last: banks without it
are of a run that was cut off, and refused. After a change to how memories are retained, delete the folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError
from simonides.evaluation.asking import DEPTH, ask_corpus, contexts_of, retain_corpus
from simonides.files import SHARED, disk_errors, write_file
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.dataset import Dataset
    from simonides.evaluation.report import QuestionResult
    from simonides.protocols import Embedder, SparseEncoder

_KEYS = "keys.json"
_STORE = "store"


@dataclass(frozen=True, slots=True)
class KeptBanks:
    """Retained corpora, ready to be asked.

    Attributes:
        folder: of the store.
        dataset: what was retained.
        keys: per corpus, the dataset's key of each memory's id.
        embedder: as for opening the store.
        embedder_name: ``None`` = there was none.
        sparse: as for opening the store.
        sparse_name: ``None`` = there was none.
    """

    folder: Path
    dataset: Dataset
    keys: Mapping[str, Mapping[str, str]]
    embedder: Embedder | Literal["auto"] | None
    embedder_name: str | None
    sparse: str | SparseEncoder | None = None
    sparse_name: str | None = None

    def ask(
        self,
        profile: str,
        *,
        dataset: Dataset | None = None,
        depth: int = DEPTH,
        cpu: Callable[[], float] | None = None,
        progress: Progress | None = None,
    ) -> tuple[QuestionResult, ...]:
        """Ask every question.

        Args:
            profile: name or path.
            dataset: the same corpora with other questions or gold; ``None`` = those retained.
            depth: hits per question, from 1.
            cpu: seconds of CPU of this process, to measure each recall with.
            progress: told after each question.
        """
        asked = dataset or self.dataset
        total = len(asked.questions)
        results: list[QuestionResult] = []
        with open_store(self.folder, embedder=self.embedder, sparse=self.sparse, zone=UTC) as store:
            for corpus, questions in asked.corpora:
                for result in ask_corpus(
                    store.bank(corpus.name),
                    questions,
                    self.keys[corpus.name],
                    profile=profile,
                    depth=depth,
                    cpu=cpu,
                ):
                    results.append(result)
                    if progress:
                        progress("recall", len(results), total)
        return tuple(results)


def keep_banks(
    dataset: Dataset,
    folder: Path,
    *,
    window: int,
    embedder: Embedder | Literal["auto"] | None = "auto",
    sparse: str | SparseEncoder | None = None,
    progress: Progress | None = None,
) -> KeptBanks:
    """The banks of *dataset* in *folder*, retained now unless they are there.

    Args:
        dataset: its corpora are retained without deduplication.
        folder: made when missing.
        window: how many turns before and after a turn of a conversation are its context, from 0.
        embedder: as for opening a store.
        sparse: as for opening a store.
        progress: told after each batch.

    Raises:
        InputError: the banks are incomplete, or were made with another embedder than is there now.
    """
    label = embedder if isinstance(embedder, str) else embedder.name if embedder else "none"
    if sparse is not None:
        label += f"+{sparse if isinstance(sparse, str) else sparse.name}"
    place = folder / f"{dataset.name}-{digest(dataset, window, label)}"
    file = place / _KEYS
    if not file.exists() and place.exists() and any(place.iterdir()):
        raise InputError(
            "keep_banks", f"{place} holds banks of a run that was cut off; delete that folder and try again"
        )
    with disk_errors(place, "made"):
        place.mkdir(parents=True, exist_ok=True)
    with open_store(place / _STORE, embedder=embedder, sparse=sparse, zone=UTC) as store:
        name = store.embedder.name if store.embedder else None
        sparse_name = store.sparse.name if store.sparse else None
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["embedder"] != name:
                raise InputError(
                    "keep_banks",
                    f"{place} was made with the embedder {kept['embedder']}, now it is {name}; "
                    "delete that folder, or measure with the same embedder",
                )
            return KeptBanks(place / _STORE, dataset, kept["keys"], embedder, name, sparse, sparse_name)
        total, done = sum(len(corpus.items) for corpus, _ in dataset.corpora), 0
        keys: dict[str, dict[str, str]] = {}
        for corpus, _ in dataset.corpora:
            mine: dict[str, str] = {}
            for part in retain_corpus(store.bank(corpus.name), corpus, window):
                mine |= part
                done += len(part)
                if progress:
                    progress("retain", done, total)
            keys[corpus.name] = mine
    write_file(file, json.dumps({"embedder": name, "keys": keys}), mode=SHARED)
    return KeptBanks(place / _STORE, dataset, keys, embedder, name, sparse, sparse_name)


def digest(dataset: Dataset, window: int, embedder: str) -> str:
    """12 hex digits of all that is retained and how."""
    said = hashlib.sha256(json.dumps([version("simonides"), window, embedder]).encode())
    for corpus, _ in dataset.corpora:
        said.update(json.dumps(["corpus", corpus.name]).encode())
        for item, context in zip(corpus.items, contexts_of(corpus, window), strict=True):
            moment = item.event_time.isoformat() if item.event_time else None
            said.update(json.dumps([item.key, item.text, moment, item.session, context]).encode())
    return said.hexdigest()[:12]
