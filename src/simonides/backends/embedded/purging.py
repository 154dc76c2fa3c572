"""Purge a bank: leave nothing of erased rows in any file (see ``forgetting``)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from simonides.backends.embedded import forgetting
from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.copies import alone
from simonides.backends.embedded.forgetting import cut_log
from simonides.backends.embedded.left_over import left_overs
from simonides.files import remove_if_dead
from simonides.records.receipt import COMPLETE, PENDING_COPIES, PENDING_INDEX, PENDING_JOBS, PENDING_READERS
from simonides.storage.folder import sweep_store

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.index_cache import IndexCache
    from simonides.backends.embedded.recall_jobs import RecallJobs


def purge(
    connections: Connections, cache: IndexCache, recall_jobs: RecallJobs
) -> tuple[str, tuple[str, ...]]:
    """Leave nothing of erased rows in any file.

    Args:
        connections: of the bank.
        cache: its index.
        recall_jobs: recalls that wait.

    Returns:
        ``complete``, or the first thing it still waits for; and the files that stay and may hold some of
        it, by their paths below the store's folder.
    """
    folder = connections.path.parent
    # Nobody writes what he read before until it is done; who comes then looks whether it was erased.
    with alone(folder, forgetting.PATIENCE_MILLISECONDS) as by_itself:
        copies: tuple[Path, ...] = ()
        swept = indexed = synced = False
        # The rows are gone by now. What the disk refuses here is still to do, and said so.
        with contextlib.suppress(OSError):
            copies = _sweep(folder)
            swept = by_itself and not copies
        with contextlib.suppress(OSError):
            indexed = cache.purge(alone=by_itself)
        cleared = recall_jobs.clear(forgetting.PATIENCE_MILLISECONDS)
        with contextlib.suppress(OSError):
            cache.files.sync_folder(folder)
            synced = True
        with translated(connections.path):
            cut = cut_log(connections.get())
    done = {
        PENDING_INDEX: indexed,
        PENDING_READERS: cut,
        PENDING_COPIES: swept and synced,
        PENDING_JOBS: cleared,
    }
    left = copies if indexed else (*copies, *cache.left())
    status = next((pending for pending, ready in done.items() if not ready), COMPLETE)
    return status, tuple(str(path.relative_to(folder.parent)) for path in left)


def _sweep(folder: Path) -> tuple[Path, ...]:
    """Remove files left by crashed processes beside the rows; those that stay."""
    for path in left_overs(folder):
        remove_if_dead(path)
    return (*left_overs(folder), *sweep_store(folder.parent))
