"""The audit log: one row for each transaction that changed something, in that same transaction.

    seal(n) = HMAC-SHA256(key, seal(n−1) · JSON of row n without its seal)

A row holds the time, the actor (a keyed hash of the principal), the numbers of the changes, and the running
hash of the change log after them; it holds no text, so forgetting leaves nothing here. A row that was edited,
deleted, moved or added without the key breaks the chain, and so does a rewritten change log. The chain cannot
show that its newest rows were cut off together with their changes: keep the head (``Head``) elsewhere and
verify against it. Whoever holds the key can write any chain.
Source: hash chains for tamper-evident logs (Schneier and Kelsey 1999, without key evolution).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import hash_at
from simonides.errors import DamagedError, InputError, UnavailableError
from simonides.files import disk_errors, publish, unavailable, write_file
from simonides.records.audit import FIRST_SEAL, NO_HEAD, AuditReport, Entry, Head, read_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import apsw

    from simonides.storage.reader import Meta

KEY_FILE = "audit.key"
"""Beside the bank's database, readable for its owner only; or hand a key in and keep it elsewhere."""

NEW_KEY_FILE = "audit.key.new"
"""The same, until the log's first row is committed."""

_PUT_BACK = (
    "put a copy of the right file back; where there is none, and recalls are not audited, move this one "
    "away, export the bank and import it into a new one"
)

SHORTEST_KEY = 16

_LAST_NUMBER = 2**63 - 1

START, RESTORE, GAP = "start", "restore", "gap"
"""Verbs: a log begins, perhaps with changes before it; a backup replaced the rows; changes nobody audited."""


@dataclass(frozen=True, slots=True)
class Chain:
    """What a look at one chain of sealed rows found."""

    entries: int
    head: Head
    problems: tuple[str, ...]


class Auditor:
    """Seals and checks with one key, of at least ``SHORTEST_KEY`` bytes.

    Args:
        handed_in: whether it lies nowhere, so that the log begins with the first change that it seals. A key
            beside the bank was made together with the log's first row.

    Raises:
        InputError: the key is too short.
    """

    def __init__(self, key: bytes, *, handed_in: bool = False) -> None:
        if len(key) < SHORTEST_KEY:
            raise InputError(
                "audit_key", f"must be at least {SHORTEST_KEY} bytes; use secrets.token_bytes(32)"
            )
        self._key = key
        self._handed_in = handed_in

    def hash_of(self, principal: str) -> str:
        """What stands for a principal in the log; empty for the owner."""
        if not principal:
            return ""
        return hmac.new(self._key, b"actor\0" + principal.encode(), hashlib.sha256).hexdigest()[:32]

    def append(
        self, connection: apsw.Connection, meta: Meta, principal: str, verb: str, now: int, *, began: int
    ) -> None:
        """Add a row about the changes of a transaction, inside it.

        Changes before it that no row tells of were made without the key, or their rows were cut: they get a
        row of their own, which stays a problem.

        Args:
            meta: as the transaction leaves it.
            principal: who writes; empty = the owner.
            verb: what was done.
            began: the last change before the transaction.

        Raises:
            DamagedError: the newest row has no number that another can follow.
        """
        row = connection.execute(
            "SELECT number, last, seal FROM audit ORDER BY number DESC LIMIT 1"
        ).fetchone()
        number, done, before = row or (0, 0, FIRST_SEAL)
        rows = [(self.hash_of(principal), verb, meta.sequence, meta.log_hash)]
        if done != began and (number or verb not in {START, RESTORE}):
            unsealed = START if not number and self._handed_in else GAP
            rows.insert(0, ("", unsealed, began, hash_at(connection, began)))
        for actor, what, last, log_hash in rows:
            number = next_number(number, "audit")
            fields = (number, now, actor, what, done + 1, last, log_hash)
            before, done = self.seal(before, fields), last
            connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*fields, before))

    def check_key(self, connection: apsw.Connection) -> None:
        """Raise ``UnavailableError`` where the log goes by another key.

        It goes by this one when the newest row is sealed by it, or, since that one may be damaged, the last
        restore: the rows before it came with a backup, perhaps by another key. Where there was none, the
        first row.
        """
        newest = connection.execute("SELECT max(number) FROM audit").get
        if newest is None or self._sealed(connection, newest):
            return
        turn = connection.execute(
            "SELECT coalesce(max(number), (SELECT min(number) FROM audit)) FROM audit WHERE verb = ?",
            (RESTORE,),
        ).get
        if not self._sealed(connection, turn):
            raise UnavailableError(
                "the audit key is not that of this bank's audit log, so nothing is written and "
                "nothing audited is returned; pass the right one, or restore audit.key. Where it is "
                "lost, and recalls are not audited, export the bank and import it into a new one; where it "
                "is the right one, the log was changed: see `audit verify`, and restore a backup"
            )

    def _sealed(self, connection: apsw.Connection, number: int) -> bool:
        """Whether the row is one that this key sealed."""
        try:
            *fields, seal = connection.execute("SELECT * FROM audit WHERE number = ?", (number,)).get
        except UnicodeDecodeError:
            return False  # damaged
        before = connection.execute(
            "SELECT seal FROM audit WHERE number < ? ORDER BY number DESC LIMIT 1", (number,)
        ).get
        before = FIRST_SEAL if before is None else before
        if not isinstance(seal, bytes) or not isinstance(before, bytes):
            return False
        return hmac.compare_digest(seal, self.seal(before, tuple(fields)))

    def verify(self, connection: apsw.Connection, meta: Meta, anchor: str | None = None) -> AuditReport:
        """Check the chain, what it says of the change log, and that it holds *anchor*, ``number:seal``."""
        rows = connection.execute("SELECT * FROM audit ORDER BY number")
        chain = check_chain(rows, self.seal, "audit", anchor)
        found = [*chain.problems, *_changes_problems(connection)]
        last = connection.execute("SELECT coalesce(max(last), 0) FROM audit").get
        if last != meta.sequence and (chain.entries or not self._handed_in):
            found.append(f"audit: tells of changes up to {last}, the bank holds {meta.sequence}")
        return AuditReport(chain.entries, chain.head, tuple(found))

    def salted(self, salt: str, what: str, text: str) -> str:
        """A keyed hash of a text, another for each *what* and each *salt*; empty for the empty text."""
        if not text:
            return ""
        body = f"{what}\0{salt}\0{text}".encode(errors="surrogatepass")
        return hmac.new(self._key, body, hashlib.sha256).hexdigest()[:32]

    def seal(self, before: bytes, fields: tuple[Any, ...], domain: bytes = b"") -> bytes:
        """The seal of a row that follows the one sealed by *before*; *domain* tells logs apart."""
        plain = [value.hex() if isinstance(value, bytes) else value for value in fields]
        body = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
        return hmac.new(self._key, domain + before + body, hashlib.sha256).digest()


def next_number(number: int, table: str) -> int:
    """What follows the newest row's number; ``DamagedError``: nothing can, so it was not written here."""
    if number >= _LAST_NUMBER:
        raise DamagedError(f"{table}: row {number} is not what was written; restore the bank from a backup")
    return number + 1


def check_chain(
    rows: Iterable[tuple[Any, ...]],
    sealed: Callable[[bytes, tuple[Any, ...]], bytes],
    name: str,
    anchor: str | None = None,
) -> Chain:
    """Check the seals of a whole log's *rows* (ascending, the number first and the seal last).

    Args:
        sealed: the seal that a row must have, from the seal before it and its other fields.
        name: of the log, for the problems.
        anchor: a head that was kept, ``number:seal``: it must be one of the rows. ``None`` = none.
    """
    kept = None if anchor is None else read_head(anchor)
    head, before, expected, found = NO_HEAD, FIRST_SEAL, 1, []
    for *fields, seal in rows:
        number = int(fields[0])
        if not isinstance(seal, bytes):
            head, problem = Head(number, ""), f"row {number} is not what was written"
            found.append(f"{name}: {problem}")
            continue
        if number != expected:
            found.append(f"{name}: row {expected} is missing")
        elif not hmac.compare_digest(seal, sealed(before, tuple(fields))):
            found.append(f"{name}: row {number} is not what was written, or follows another row")
        head, before, expected = Head(number, seal.hex()), seal, number + 1
        if kept and number == kept.number:
            if not hmac.compare_digest(head.seal, kept.seal):
                found.append(f"{name}: row {number} is not the one that was kept as the head")
            kept = None
    if kept and kept.number > 0:
        found.append(f"{name}: ends at row {head.number}, the head that was kept is row {kept.number}")
    return Chain(head.number, head, tuple(found))


def _changes_problems(connection: apsw.Connection) -> Iterator[str]:
    """Where rows of the audit log tell of other changes than the change log."""
    next_change = 1
    rows = connection.execute("SELECT number, verb, first, last, log_hash FROM audit ORDER BY number")
    for number, verb, first, last, log_hash in rows:
        if not isinstance(last, int):
            yield f"audit: row {number} is not what was written"
            continue
        if first != next_change or hash_at(connection, last) != log_hash:
            yield f"audit: the change log up to {last} is not the one of row {number}"
        if verb == GAP:
            yield f"audit: no row told of the changes {first} to {last} when row {number} was written"
        next_change = last + 1


def read_entries(connection: apsw.Connection, most: int | None = None) -> list[Entry]:
    """Rows of the log, newest first; *most* of them, ``None`` = all."""
    rows = connection.execute(
        "SELECT number, at, actor, verb, first, last, seal FROM audit ORDER BY number DESC LIMIT ?",
        (-1 if most is None else most,),
    )
    return [
        Entry(int(number), int(at), str(actor), str(verb), int(first), int(last), bytes(seal).hex())
        for number, at, actor, verb, first, last, seal in rows
    ]


def has_entries(connection: apsw.Connection) -> bool:
    """Whether the log of changes was begun."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM audit)").get)


def make_key(folder: Path) -> bytes:
    """A new key, durable in ``NEW_KEY_FILE`` until ``adopt_key``; the usable one in ``KEY_FILE``, if any.

    Called in the transaction that begins the log. If the process ends before its commit, the bank is not
    audited, and the next call replaces the key. ``UnavailableError``: the file cannot be made.
    """
    with contextlib.suppress(DamagedError):
        found = _read_key(folder / KEY_FILE)
        if found is not None:
            # One that a broken-off call left would replace it.
            (folder / NEW_KEY_FILE).unlink(missing_ok=True)
            return found
    key = secrets.token_bytes(32)
    write_file(folder / NEW_KEY_FILE, key.hex())
    return key


def adopt_key(folder: Path) -> None:
    """Make the key in ``NEW_KEY_FILE``, if any, the bank's, once the log that it begins is committed.

    ``UnavailableError``: that cannot be done now; ``find_key`` does it later.
    """
    with disk_errors(folder / KEY_FILE), contextlib.suppress(FileNotFoundError):
        publish(folder / NEW_KEY_FILE, folder / KEY_FILE, replace=True)


def find_key(folder: Path, goes_by: Callable[[bytes | None], bool]) -> bytes | None:
    """The bank's key; ``None`` when there is none.

    A file that holds none counts as missing while nothing was sealed with it: an older version left one when
    the disk was full. *goes_by*: whether the bank's log has rows, and goes by this key where one is given.

    Raises:
        DamagedError: the file holds no key, and the log was begun.
        UnavailableError: it cannot be read.
    """
    damage = None
    try:
        key = _read_key(folder / KEY_FILE)
    except DamagedError as error:
        key, damage = None, error
    if key is not None:
        return key
    with contextlib.suppress(DamagedError):
        key = _read_key(folder / NEW_KEY_FILE)
    if key is not None and goes_by(key):
        # Whoever began the log was ended before the key got its name.
        adopt_key(folder)
        return key
    if damage is not None and goes_by(None):
        raise damage
    return None


def _read_key(path: Path) -> bytes | None:
    try:
        text = path.read_text(encoding="ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DamagedError(f"{path}: holds no key ({error}); {_PUT_BACK}") from error
    except OSError as error:
        raise unavailable(error, path, "read") from error
    if len(key) < SHORTEST_KEY:
        raise DamagedError(
            f"{path}: holds {len(key)} bytes of a key, which has at least {SHORTEST_KEY}; {_PUT_BACK}"
        )
    return key
