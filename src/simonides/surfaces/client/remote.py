"""A store behind `simonides serve`: the methods of ``Store`` and ``Bank``, over HTTP.

    with simonides.connect("http://127.0.0.1:8765", token=token) as store:
        bank = store.bank("assistant")
        bank.retain("Odalys moved the weekly review to Thursday.")
        print(bank.recall("When is the review?").context)

Parameters are those of ``Bank``; the server refuses by name what it does not know. Requests that may be
repeated without harm are repeated once when the connection breaks; retaining is not, unless it has an
idempotency key. Nothing is pickled and nothing is executed.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar
from urllib.parse import quote

from simonides.deprecations import BANK_METHODS, STORE_METHODS, answers_old_names
from simonides.errors import ConflictError, InputError, MissingExtraError, UnavailableError
from simonides.files import disk_errors, new_file
from simonides.forking import Origin
from simonides.http_clients import http_client
from simonides.models.server import is_address
from simonides.recall.helping.request import read_wait
from simonides.records.explanation import WhyNot
from simonides.records.hygiene import shown
from simonides.records.keyed_record import KeyedRecord
from simonides.records.receipt import Counts
from simonides.records.time_to_live import TtlDefaults
from simonides.retain.messages import plain
from simonides.surfaces.client import records
from simonides.surfaces.client.problems import error_of
from simonides.surfaces.operations.table import OPERATIONS
from simonides.surfaces.rest.paths import place_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import IO

    import httpx

    from simonides.bank import Bank  # noqa: TC004 its methods are named for type checkers alone
    from simonides.records.audit import Entry
    from simonides.records.memory import Memory
    from simonides.records.recall import RecallJob, Reflection
    from simonides.records.receipt import Restored, Saved

P = ParamSpec("P")
T = TypeVar("T")

_LINES = "application/x-ndjson"
_MOST_ENTRIES = 100_000
_MOST_READS = 20
# Between two looks at a job, in seconds.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_NULL_MEANS = frozenset({"max_tokens"})
"""Parameters for which ``None`` is a value and not "not given"."""


def connect(url: str, *, token: str, timeout: float = 60.0) -> RemoteStore:
    """A store that a server serves.

    Args:
        url: address of the server, such as ``http://127.0.0.1:8765``.
        token: as `simonides token create` prints it.
        timeout: seconds for one request.

    Raises:
        InputError: the address or the token cannot be one, or the environment names a proxy or certificates
            that cannot be used.
        MissingExtraError: the package ``httpx`` is not installed, or one that the environment's proxy needs.
    """
    if not is_address(url):
        raise InputError("url", f"{shown(url)} is no address; give one such as http://127.0.0.1:8765")
    if not token.isascii() or not token.isprintable() or not token.strip():
        raise InputError("token", "is not a token; `simonides token create` prints one")
    try:
        http = importlib.import_module("httpx")
    except ImportError as error:
        raise MissingExtraError(
            "a store elsewhere needs the package httpx; install it with: pip install 'simonides[client]'"
        ) from error
    try:
        address = http.URL(url.rstrip("/"))
    except http.InvalidURL as error:
        raise InputError(
            "url", f"{shown(url)} is no address; give one such as http://127.0.0.1:8765"
        ) from error
    headers = {"Authorization": f"Bearer {token.strip()}"}
    return RemoteStore(http_client(http.Client, url, base_url=address, headers=headers, timeout=timeout))


@answers_old_names(STORE_METHODS)
class RemoteStore:
    """Banks of a server; made by ``connect``. A context manager; usable from several threads."""

    def __init__(self, http: httpx.Client) -> None:
        self._wire = _Wire(http)

    def bank(self, name: str = "default") -> RemoteBank:
        """A bank by name; whether it is there the first call tells."""
        return RemoteBank(name, self._wire)

    def list_banks(self) -> list[str]:
        """Names of the banks that the token may use, sorted."""
        return list(self._wire.call("list_banks", None, {})["banks"])

    def create_bank(self, name: str, *, zone: str | None = None) -> RemoteBank:
        """A bank that is made when it is missing, with *zone* as its own, see ``Bank.set_zone``."""
        self._wire.call("create_bank", None, {"name": name} if zone is None else {"name": name, "zone": zone})
        return self.bank(name)

    def delete_bank(self, name: str) -> None:
        """Erase a bank with all that it holds, for good; see ``Store.delete_bank``."""
        self._wire.call("delete_bank", None, {"name": name, "confirm": name})

    def close(self) -> None:
        """Close the connections; may be called again."""
        if self._wire.origin.here:
            self._wire.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Remote(Generic[P, T]):
    """A method that does the operation of its name, with the parameters of the method of ``Bank``.

    Args:
        like: that method; asked by type checkers alone, since a client loads no engine.
        read: makes the record that it gives of the answer.
        fixed: sent with every call.
    """

    def __init__(
        self,
        like: Callable[[], Callable[Concatenate[Bank, P], T]],  # noqa: ARG002 see above
        read: Callable[[Any], T],
        **fixed: Any,
    ) -> None:
        self._read = read
        self._fixed = fixed

    def __set_name__(self, owner: type, name: str) -> None:
        plain = Parameter.POSITIONAL_OR_KEYWORD
        taken = sorted(OPERATIONS[name].parameters, key=lambda each: not each.required)
        defaults = {each.name: Parameter.empty if each.required else each.default for each in taken}
        named = [Parameter(each, plain, default=default) for each, default in defaults.items()]
        # The server refuses by name what it does not know.
        signature = Signature([*named, Parameter("options", Parameter.VAR_KEYWORD)])

        def call(bank: RemoteBank, *given: Any, **options: Any) -> Any:
            values = signature.bind(*given, **options).arguments
            values |= {**values.pop("options", {}), **self._fixed}
            if "ids" in values:
                ids = values["ids"]
                values["ids"] = [ids] if isinstance(ids, str) else list(ids)
            # About no memories nothing is asked.
            return 0 if values.get("ids") == [] else self._read(bank._call(name, **values))  # noqa: SLF001 see below

        call.__name__, call.__doc__ = name, f"See ``Bank.{name}``."
        setattr(owner, name, call)

    if TYPE_CHECKING:

        def __get__(self, bank: RemoteBank, owner: type) -> Callable[P, T]: ...


def _number(name: str) -> Callable[[Any], int]:
    return lambda answer: int(answer[name])


def _each(name: str, read: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    return lambda answer: [read(each) for each in answer[name]]


def _record(found: Mapping[str, Any] | None) -> KeyedRecord | None:
    return None if found is None else KeyedRecord.from_dict(found)


def _ids(answer: Any) -> list[str]:
    return list(answer["ids"])


def _memory(answer: Any) -> Memory:
    return records.memory_of(answer["memory"])


@answers_old_names(BANK_METHODS)
class RemoteBank:
    """A bank of a server: every method takes what that of ``Bank`` takes, and gives the same record."""

    def __init__(self, name: str, wire: _Wire) -> None:
        self.name = name
        self._wire = wire

    def _call(self, operation: str, **values: Any) -> Any:
        return self._wire.call(operation, self.name, values)

    def retain(self, items: Any, **options: Any) -> list[str]:
        """See ``Bank.retain``; of no items nothing is asked."""
        items = plain(items)
        given = items if isinstance(items, str | Mapping) else list(items)
        if not given and isinstance(given, list):
            return []
        return list(self._call("retain", items=given, **options)["ids"])

    retain_document = _Remote[..., list[str]](lambda: Bank.retain_document, _ids)
    retain_conversation = _Remote[..., list[str]](lambda: Bank.retain_conversation, _ids)
    recall = _Remote(lambda: Bank.recall, records.recall_of, trace=True)

    def get_job(self, job: str, *, wait_seconds: float = 0.0) -> RecallJob:
        """See ``Bank.get_job``; while it waits, the server is asked again and again."""
        until = time.monotonic() + read_wait(wait_seconds)
        pause = _SHORTEST_PAUSE
        while True:
            found = records.job_of(self._call("get_job", job=job, trace=True))
            left = until - time.monotonic()
            if found.done or left <= 0:
                return found
            time.sleep(min(pause, left))
            pause = min(pause * 2, _LONGEST_PAUSE)

    def reflect(
        self, query: str, *, on_text: Callable[[str], object] | None = None, **options: Any
    ) -> Reflection:
        """See ``Bank.reflect``; the server's language model answers."""
        if on_text is None:
            return records.reflection_of(self._call("reflect", query=query, **options), query)
        for line in self._wire.lines("reflect", self.name, {"query": query, **options}):
            if "text" in line:
                on_text(line["text"])
            elif "reflection" in line:
                return records.reflection_of(line["reflection"], query)
            elif "problem" in line:
                raise UnavailableError(str(line["problem"].get("detail", "the answer broke off")))
        raise UnavailableError("the answer broke off; try again")

    why_not = _Remote[..., WhyNot](lambda: Bank.why_not, records.why_not_of)
    get_memory = _Remote(lambda: Bank.get_memory, _memory)

    def list_memories(self, *, after: str | None = None, **options: Any) -> list[Memory]:
        """See ``Bank.list_memories``; a page that the server ends early, for its bytes, is continued."""
        limit = options.pop("limit", None)
        page = self._call("list_memories", cursor=after, limit=limit, **options)
        found = page["memories"]
        while limit is not None and page["next"] is not None and len(found) < limit:
            page = self._call("list_memories", cursor=page["next"], limit=limit - len(found), **options)
            found += page["memories"]
        return [records.memory_of(each) for each in found]

    facets = _Remote(lambda: Bank.facets, dict)
    update_memory = _Remote(lambda: Bank.update_memory, _memory)
    invalidate = _Remote(lambda: Bank.invalidate, lambda _: None)
    forget = _Remote(lambda: Bank.forget, _number("forgotten"))

    def list_records(
        self,
        space: str,
        path: Sequence[str] = (),
        *,
        exact: bool = False,
        newest: int | None = None,
        refresh: bool = False,
    ) -> list[KeyedRecord]:
        """See ``Bank.list_records``; more than one page is read anew when its end has changed meanwhile."""
        for _ in range(_MOST_READS):
            try:
                asked = {"space": space, "path": list(path), "exact": exact, "newest": newest}
                return list(self._records(**asked, refresh=refresh))
            except ConflictError:
                continue
        raise UnavailableError(
            f"the records of {space} changed {_MOST_READS} times while they were read; retry"
        )

    def _records(self, **asked: Any) -> Iterator[KeyedRecord]:
        cursor: str | None = None
        while True:
            page = self._call("list_records", cursor=cursor, **asked)
            yield from map(KeyedRecord.from_dict, page["records"])
            cursor = page["next"]
            if cursor is None:
                return

    def put_records(
        self, space: str, records: Iterable[Mapping[str, Any]], *, append: bool = False
    ) -> list[str]:
        """See ``Bank.put_records``; of no records nothing is asked."""
        given = list(records)
        return (
            list(self._call("put_records", space=space, records=given, append=append)["ids"]) if given else []
        )

    move_records = _Remote(lambda: Bank.move_records, _number("moved"))
    # Not repeated when the connection breaks: the record may be erased already.
    pop_record = _Remote(lambda: Bank.pop_record, lambda answer: _record(answer["record"]))
    forget_records = _Remote(lambda: Bank.forget_records, _number("forgotten"))
    used = _Remote(lambda: Bank.used, _number("recorded"))
    history = _Remote(lambda: Bank.history, _each("versions", records.memory_of))
    source = _Remote(lambda: Bank.source, lambda answer: records.source_of(answer["source"]))
    diff = _Remote(lambda: Bank.diff, records.diff_of)
    entities = _Remote(lambda: Bank.entities, _each("entities", records.entity_of))
    get_entity = _Remote(lambda: Bank.get_entity, records.entity_details_of)
    add_alias = _Remote(lambda: Bank.add_alias, lambda _: None)
    remove_alias = _Remote(lambda: Bank.remove_alias, lambda _: None)
    merge_entities = _Remote(lambda: Bank.merge_entities, _number("merge"))
    undo_merge = _Remote(lambda: Bank.undo_merge, lambda _: None)
    settle = _Remote(lambda: Bank.settle, _number("compared"))
    brief = _Remote(lambda: Bank.brief, records.brief_of)

    def pin(self, memory: str, *, pinned: bool = True, always: bool = False) -> None:
        """See ``Bank.pin``."""
        if always and not pinned:
            raise InputError("always", "is of a pin; leave it out to unpin")
        self._call("pin", memory=memory, always=always) if pinned else self._call("unpin", memory=memory)

    unpin = _Remote(lambda: Bank.unpin, lambda _: None)

    def set_zone(self, name: str | None) -> None:
        """See ``Bank.set_zone``; needs a token that may make banks."""
        self._wire.call("create_bank", None, {"name": self.name, "zone": "none" if name is None else name})

    def set_ttl(
        self, ttl: float | timedelta | str | None, *, kind: str | None = None, on_expiry: str = "archive"
    ) -> TtlDefaults:
        """See ``Bank.set_ttl``."""
        wanted = "none" if ttl is None else ttl
        told = self._call("set_ttl", ttl=wanted, kind=kind, on_expiry=on_expiry)
        return TtlDefaults.from_json(json.dumps(told), "the answer")

    # No progress is told, and *profile* is a name.
    maintain = _Remote(lambda: Bank.maintain, records.maintenance_of)
    activity = _Remote(lambda: Bank.activity, records.activity_of)
    review = _Remote(lambda: Bank.review, records.review_of)
    moves = _Remote(lambda: Bank.moves, _each("moves", records.move_of))
    undo_move = _Remote(lambda: Bank.undo_move, lambda _: None)
    archive = _Remote(lambda: Bank.archive, _number("archived"))
    quarantine = _Remote(lambda: Bank.quarantine, _number("quarantined"))
    release = _Remote(lambda: Bank.release, _number("released"))

    def audit_entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """See ``Bank.audit_entries``; a server gives 100,000 rows at most."""
        wanted = _MOST_ENTRIES if most is None else most
        found = self._call("audit_entries", most=wanted, recalls=recalls)
        return [records.entry_of(each) for each in found["entries"]]

    audit_verify = _Remote(lambda: Bank.audit_verify, records.audit_of)
    stats = _Remote(lambda: Bank.stats, dict)
    verify = _Remote(lambda: Bank.verify, records.report_of)

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        """See ``Bank.export``."""
        if isinstance(target, str | os.PathLike):
            with new_file(Path(target)) as file:
                return self.export(file)
        header = b""
        for part in self._wire.parts("export", self.name):
            if b"\n" not in header:
                header += part
            target.write(part)
        return Counts(**json.loads(header.partition(b"\n")[0])["counts"])

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        """See ``Bank.backup``."""
        if isinstance(target, str | os.PathLike):
            with new_file(Path(target), replace=False) as file:
                return replace(self.backup(file), path=str(target))
        with self._wire.streamed("backup", self.name, {}) as response:
            for part in response.iter_bytes():
                target.write(part)
            return records.saved_of(response.headers)

    def import_bank(self, path: str | os.PathLike[str]) -> Restored:
        """See ``Bank.import_bank``."""
        with disk_errors(path, "read"), Path(path).open("rb") as file:
            return records.restored_of(self._wire.upload("import_bank", self.name, file))


class _Wire:
    """Requests to one server."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self.origin = Origin(str(http.base_url), "connect again in the child process")

    @property
    def http(self) -> httpx.Client:
        """The client; its connections are the parent's in a forked child, which is refused."""
        self.origin.check()
        return self._http

    def call(self, name: str, bank: str | None, values: Mapping[str, Any]) -> Any:
        """One operation, to its answer."""
        return self._json(self._send(name, bank, values))

    def lines(self, name: str, bank: str, values: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        """One operation whose answer comes as lines."""
        with self.streamed(name, bank, values) as response:
            for line in response.iter_lines():
                if line:
                    yield self._parsed(line)

    def parts(self, name: str, bank: str) -> Iterable[bytes]:
        """One operation whose answer is a file."""
        with self.streamed(name, bank, {}) as response:
            yield from response.iter_bytes()

    def upload(self, name: str, bank: str, file: IO[bytes]) -> Any:
        """One operation whose body is a file."""
        method, path, _ = _placed(name, bank, {})
        headers = {"Content-Type": _LINES}
        return self._json(self._sent(method, path, content=file, headers=headers))

    def _send(self, name: str, bank: str | None, values: Mapping[str, Any]) -> httpx.Response:
        method, path, rest = _placed(name, bank, values)
        carried: dict[str, Any] = {"params": _query(rest)} if method == "GET" else {"json": rest}
        again = OPERATIONS[name].idempotent or "idempotency_key" in rest
        return self._sent(method, path, again=again, **carried)

    def _sent(self, method: str, path: str, *, again: bool = False, **carried: Any) -> httpx.Response:
        errors = importlib.import_module("httpx")
        with self.told():
            try:
                response: httpx.Response = self.http.request(method, path, **carried)
            except errors.TransportError as error:
                if not again or isinstance(error, errors.TimeoutException):
                    raise
                response = self.http.request(method, path, **carried)
        if response.status_code >= 400:
            raise error_of(response)
        return response

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turn the errors of the connection into one of this package."""
        errors = importlib.import_module("httpx")
        try:
            yield
        except (errors.HTTPError, errors.StreamError) as error:
            raise UnavailableError(
                f"{self.http.base_url}: no answer ({type(error).__name__}); check that the server runs"
            ) from error

    def streamed(
        self, name: str, bank: str, values: Mapping[str, Any]
    ) -> AbstractContextManager[httpx.Response]:
        """A response that is read while it comes, as a context manager."""
        method, path, rest = _placed(name, bank, values)
        carried: dict[str, Any] = {} if method == "GET" else {"json": rest}
        return self._streamed(method, path, carried)

    @contextmanager
    def _streamed(self, method: str, path: str, carried: Mapping[str, Any]) -> Iterator[httpx.Response]:
        with self.told(), self.http.stream(method, path, headers={"Accept": _LINES}, **carried) as response:
            if response.status_code >= 400:
                response.read()
                raise error_of(response)
            yield response

    def _json(self, response: httpx.Response) -> Any:
        return self._parsed(response.text)

    def _parsed(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(
                f"{self.http.base_url}: the answer is no JSON; check that simonides serves this address"
            ) from error


def _placed(name: str, bank: str | None, values: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Method, path, and what is left for query or body."""
    place = place_of(name)
    rest = {key: _plain(value) for key, value in values.items() if value is not None or key in _NULL_MEANS}
    path = place.path
    named = {"bank": bank, **rest}
    for key in [key for key in named if f"{{{key}}}" in path]:
        value = named[key]
        if not isinstance(value, str) or not value:
            raise InputError(key, f"expected a text that is not empty, got {shown(value)}")
        path = path.replace(f"{{{key}}}", quote(value, safe=""))
        rest.pop(key, None)
    return place.method, path, rest


def _query(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a query string: switches in JSON's spelling, an empty list without a value, no ``None``."""
    return {
        name: str(value).lower() if isinstance(value, bool) else "" if value == [] else value
        for name, value in values.items()
        if value is not None
    }


def _plain(value: Any) -> Any:
    """The same in JSON's own types."""
    if isinstance(value, datetime):
        try:
            return (value if value.tzinfo else value.astimezone()).isoformat()
        except (OverflowError, ValueError):
            raise InputError("time", f"{value} has no time in UTC; give an aware datetime") from None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tzinfo | timedelta):
        return str(value) if isinstance(value, tzinfo) else value.total_seconds()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | Iterator):
        items = [_plain(item) for item in value]
        return sorted(items) if isinstance(value, set | frozenset) else items
    dumped = plain(value)
    return value if dumped is value else _plain(dumped)
