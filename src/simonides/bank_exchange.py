"""The verbs of a bank that move much at once: loads, imports, exports, backups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.services.context import arguments
from simonides.services.importing import Exporting, Importing
from simonides.services.retaining import LOADED_AT_ONCE, Retaining

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import IO

    from numpy.typing import NDArray

    from simonides.records.receipt import Counts, Imported, Restored, Saved, Synced
    from simonides.services.context import BankContext


class BankExchange:
    """Brings in and writes out many memories. Part of ``Bank``."""

    _context: BankContext

    def load(
        self,
        items: Iterable[str | Mapping[str, Any]],
        vectors: NDArray[Any],
        *,
        tokens: Sequence[NDArray[Any]] | None = None,
        batch: int = LOADED_AT_ONCE,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Store very many memories that are embedded already, batch by batch.

        Each batch is one transaction. Names, relations and links are left to ``settle``; recall works
        meanwhile. If a load broke off, start it again: items that are there are not stored again. What
        ``retain`` would read from a text stays as the item states it: kind (semantic), salience, confidence
        and event time.

        Args:
            items: as for ``retain``.
            vectors: float, shape (items, dimension), of the store's embedder; may be mapped from a file.
            tokens: per item the vectors of its tokens less the embedder's mean, float, shape (tokens,
                dimension), as ``encode_both`` gives them; for late interaction.
            batch: items per transaction, from 1.
            workers: processes that check and analyse items beside this one, which stores; 1 = none. Items
                must then be picklable.
            progress: called after each batch with how many items, from the first on, survive a power cut.

        Returns:
            one id per item, in order.

        Raises:
            InputError: an item or a vector is wrong; the message names it by number. Its batch was not
                stored; those before it were.
            EmbedderMismatchError: the bank's vectors were made by another embedder.
            UnavailableError: the bank cannot be written.
        """
        return Retaining(self._context).load(**arguments(locals()))

    def import_items(self, items: Iterable[Mapping[str, Any]]) -> Imported:
        """Store items of an import that no earlier import stored; otherwise like ``retain``.

        Args:
            items: as for ``retain``; of a document (``document_id``) all items.

        Returns:
            ids of what was stored, and how many items an earlier import had stored. Those stay as they are,
            also if they were forgotten or ended since.

        Raises:
            the same as ``retain``; an InputError names the item by its position in *items*.
        """
        return Importing(self._context).import_items(items)

    def sync_documents(
        self, items: Iterable[Mapping[str, Any]], *, below: str | Sequence[str], keep: Collection[str] = ()
    ) -> Synced:
        """Follow documents that moved and end those that are gone, before *items* are imported.

        A paragraph that is now in another document keeps its memory: id, history and links. Memories of
        removed documents end now; ``history`` and recalls of earlier times still find them. Only what
        everyone in the bank may read, from a role no more trusted than document, is moved or ended.

        Args:
            items: as for ``import_items``: everything that the documents say now. None of them is stored.
            below: how the names (``document_id``) of the synced documents begin, one or more.
            keep: names of documents that exist, but whose text is not among *items*.

        Raises:
            the same as ``import_items``.
        """
        return Importing(self._context).sync_documents(items, below=below, keep=keep)

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        """Write everything in the bank without loss, as it is at one moment; only for the owner.

        Args:
            target: a path (written whole or not at all, readable by its owner only), or a binary file.

        Returns:
            how many of each kind the export holds.

        Raises:
            InputError: the path cannot be a file's.
            UnavailableError: it cannot be written; what was there before is still there.
        """
        return Exporting(self._context).export(target)

    def import_bank(
        self, path: str | os.PathLike[str], *, progress: Callable[[int, int], None] | None = None
    ) -> Restored:
        """Read an export: exactly into an empty bank, what is missing into any other; only for the owner.

        A memory whose id exists is left as it is, so a second import changes nothing, and an interrupted one
        can be repeated. Memories keep their ids, versions and recorded times.

        Args:
            path: of a file that ``export`` wrote.
            progress: called with (lines done, lines) after each batch.

        Raises:
            InputError: it is no export, of another version, or damaged; the message names the line.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was stored.
            UnavailableError: the file cannot be read.
        """
        return Importing(self._context).import_bank(path, progress=progress)

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        """Copy all rows to a new file, while others read and write; only for the owner.

        The copy is the bank at one moment. It holds no trained files and no key of the audit log.

        Args:
            target: path of a file that does not exist, or a binary file.

        Raises:
            InputError: the file exists, or its folder does not.
            UnavailableError: it cannot be written; nothing of it is left.
        """
        return Exporting(self._context).backup(target)

    def restore(self, path: str | os.PathLike[str]) -> Saved:
        """Replace everything in the bank by a backup, whole or not at all; only for the owner.

        The backup is verified first. What was retained since is gone, and what was forgotten since is back:
        forget it again. Every process that has the bank open continues with the restored one.

        Raises:
            InputError: there is no such file.
            DamagedError, NewerSchemaError: it cannot be used; the bank was left untouched.
            UnavailableError: the bank cannot be written.
        """
        return Importing(self._context).restore(path)
