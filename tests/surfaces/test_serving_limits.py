"""What callers cannot do to a server: with repeated headers, large JSON, connections, slow reading and its log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import resource
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from simonides.errors import InputError, UnavailableError
from simonides.surfaces.operations import calls
from simonides.surfaces.rest import problems
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.guard import ONCE
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving import json_reader, listening
from simonides.surfaces.serving.connections import server_of
from simonides.surfaces.serving.json_reader import MAX_DEPTH, MAX_VALUES, count_values, parse_json
from simonides.surfaces.serving.limits import Limits
from simonides.surfaces.serving.log_rate import OFTEN, PERIOD_SECONDS, LogRate
from simonides.surfaces.serving.open_banks import OpenBanks
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.store import Store
    from simonides.surfaces.serving.bodies import Bodies

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GOOD = "http://127.0.0.1:8765"


def token_of(store: Store) -> str:
    with TokenStore(store.folder) as tokens:
        return tokens.create(banks=["*"], now=0)


def asked(
    store: Store, method: str, path: str, headers: list[tuple[str, str]], body: bytes = b""
) -> httpx.Response:
    """One request with these headers, as they are."""

    async def ask() -> httpx.Response:
        app = make_app(store)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=GOOD) as client,
        ):
            own = [("Authorization", f"Bearer {token_of(store)}"), ("Content-Type", "application/json")]
            return await client.request(method, path, headers=[*own, *headers], content=body)

    return asyncio.run(ask())


class TestHeaders:
    pytestmark = pytest.mark.fault("N65")

    RETAIN = b'{"items":["Figs are sweet."]}'
    CALL = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "retain", "arguments": {"items": "Figs are sweet.", "bank": "mine"}},
        }
    ).encode()
    ACCEPT = ("Accept", "application/json, text/event-stream")

    @pytest.mark.parametrize("order", [(GOOD, "https://evil.example"), ("https://evil.example", GOOD)])
    @pytest.mark.parametrize(
        ("path", "body"), [("/v1/banks/mine/memories", RETAIN), ("/mcp", CALL)], ids=["rest", "mcp"]
    )
    def test_every_origin_must_be_allowed(
        self, store: Store, order: tuple[str, str], path: str, body: bytes
    ) -> None:
        bank = store.bank("mine")
        answer = asked(store, "POST", path, [("Origin", each) for each in order] + [self.ACCEPT], body)
        assert answer.status_code == 403
        assert bank.stats()["current"] == 0

    @pytest.mark.parametrize("name", sorted(ONCE - {"host", "transfer-encoding", "content-length"}))
    @pytest.mark.parametrize("path", ["/v1/banks/mine/memories", "/mcp"])
    def test_a_header_that_decides_something_is_stated_once(self, store: Store, name: str, path: str) -> None:
        bank = store.bank("mine")
        value = {"origin": GOOD, "idempotency-key": "k"}.get(name, "text/plain")
        twice = [(name, value)] * (1 if name in {"authorization", "content-type"} else 2)
        answer = asked(store, "POST", path, [*twice, self.ACCEPT], self.RETAIN)
        assert answer.status_code == 400
        assert name in answer.json()["detail"]
        assert bank.stats()["current"] == 0

    def test_two_hosts_are_refused(self, store: Store) -> None:
        answer = asked(store, "GET", "/version", [("Host", "127.0.0.1"), ("Host", "127.0.0.1")])
        assert answer.status_code == 421

    def test_mcp_takes_no_key_twice(self, store: Store) -> None:
        bank = store.bank("mine")
        twice = self.CALL.replace(b'"bank": "mine"', b'"bank": "other", "bank": "mine"')
        assert twice != self.CALL
        answer = asked(store, "POST", "/mcp", [self.ACCEPT], twice)
        assert answer.status_code == 400
        assert "twice" in answer.json()["detail"]
        assert bank.stats()["current"] == 0
        assert asked(store, "POST", "/mcp", [self.ACCEPT], self.CALL).status_code == 200
        assert bank.stats()["current"] == 1


class TestJson:
    pytestmark = pytest.mark.fault("N66")

    @pytest.mark.parametrize(
        "body",
        [
            b"[" + b"[]," * MAX_VALUES + b"0]",
            b"[" + b'{"a":{}},' * MAX_VALUES + b"0]",
            b"[" + b"0," * MAX_VALUES + b"0]",
            b'""' * (4 * MAX_VALUES),
            b"}" * (4 * MAX_VALUES),
            b"[" * (MAX_DEPTH + 1),
            b'{"a":' * (MAX_DEPTH + 1),
            b'["' + b'\\"' * 1_000 + b'",' + b"[" * (MAX_DEPTH + 1),
        ],
        ids=["lists", "objects", "numbers", "strings", "closing", "deep", "deep objects", "behind a string"],
    )
    def test_what_holds_too_much_is_refused_before_anything_is_built(
        self, body: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was built"))
        with pytest.raises(InputError, match=r"values|nested"):
            parse_json(body)

    @pytest.mark.parametrize(
        "value",
        [
            {"a": [1, 2.5, None, True, "b,[{\\"]},
            ["x" * 200_000 + "\\" * 5 + '"[,]{}'],
            {"nested": json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))},
            "é\ud800",
            [{"text": "note", "tags": ["a", "b"], "metadata": {"k": n}} for n in range(1_000)],
        ],
    )
    def test_what_is_small_enough_is_read(self, value: object) -> None:
        body = json.dumps(value).encode()
        assert parse_json(body) == value
        assert count_values(body) <= body.count(b",") + body.count(b"[") + body.count(b"{") + 1

    @pytest.mark.parametrize(
        "body", [b"", b'"', b'"\\', b'["\\"', b"\xff", "{}".encode("utf-16"), b'"' + b"x" * 99_999]
    )
    def test_what_is_no_json_is_refused(self, body: bytes) -> None:
        with pytest.raises(InputError, match="is not valid JSON"):
            parse_json(body)

    def test_counting_holds_the_interpreter_for_short_times(self) -> None:
        """Each match is short: a thread that waits for the interpreter gets it between two of them."""
        longest = 0
        for body in (
            b'{"q":"' + b"a" * 3_000_000 + b'"}',
            b'{"q":"' + b"\\n" * 1_500_000 + b'"}',
            b"1" * 3_000_000,
        ):
            at = 0
            while at < len(body):
                found = json_reader._TOKEN.match(body, at) or json_reader._LONG_STRING.match(body, at)
                assert found
                end = max(found.end(), at + 1)
                longest, at = max(longest, end - at), end
        assert longest <= 65_536 + 2


class TestAnswers:
    pytestmark = pytest.mark.fault("N86")

    def test_a_page_ends_by_its_bytes_and_is_continued(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(calls, "PAGE_BYTES", 100_000)
        bank = store.bank("mine")
        ids = bank.retain([f"Note {n} " + "x" * 30_000 for n in range(10)], deduplicate=False)
        found: list[str] = []
        cursor, pages = "", 0
        while True:
            answer = asked(store, "GET", f"/v1/banks/mine/memories?limit=1000{cursor}", [])
            assert len(answer.content) < 150_000
            page = answer.json()
            found += [each["id"] for each in page["memories"]]
            pages += 1
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        assert found == sorted(ids)
        assert pages == 3

    @pytest.mark.parametrize("count", [8, 16, 17])
    def test_a_bank_reads_no_more_than_its_bytes(self, store: Store, count: int) -> None:
        bank = store.bank("mine")
        bank.retain([f"Note {n} " + "x" * 1_000 for n in range(count)], deduplicate=False)
        assert len(bank.list_memories(max_bytes=1)) == 1
        assert len(bank.list_memories(max_bytes=2_500)) == 3
        assert len(bank.list_memories(max_bytes=10**9)) == count

    def test_an_answer_that_is_too_long_names_what_makes_it_shorter(self, store: Store) -> None:
        bank = store.bank("mine")
        (memory,) = bank.retain("x" * 10_000)

        async def ask() -> list[httpx.Response]:
            app = make_app(store, Settings(limits=Limits(answer_bytes=5_000)))
            headers = {"Authorization": f"Bearer {token_of(store)}"}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url=GOOD, headers=headers) as client:
                found = [await client.get(f"/v1/banks/mine/memories/{memory}")]
                found.append(await client.get(f"/v1/banks/mine/memories/{memory}?max_tokens=100"))
            app.state.dispatcher.close()
            return found

        long, short = asyncio.run(ask())
        assert (long.status_code, long.json()["field"]) == (422, "max_tokens")
        assert short.status_code == 200

    @pytest.mark.parametrize("path", ["/v1/banks/mine/memories", "/v1/banks/mine/export"])
    def test_an_answer_counts_until_it_is_sent_and_comes_in_parts(self, store: Store, path: str) -> None:
        bank = store.bank("mine")
        bank.retain("x" * 300_000)
        app = make_app(store)
        bodies: Bodies = app.state.dispatcher.bodies
        seen: list[tuple[int, int, int]] = []
        headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token_of(store)}".encode())]
        scope = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": headers, "scheme": "http", "http_version": "1.1", "root_path": "",
        }  # fmt: skip

        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not messages:
                await asyncio.Event().wait()
            return messages.pop()

        async def send(message: Any) -> None:
            seen.append((len(message.get("body", b"")), bodies.count, bodies.held))

        async def ask() -> None:
            await app(scope, receive, send)

        asyncio.run(ask())
        app.state.dispatcher.close()
        assert sum(size for size, _, _ in seen) > 300_000
        assert max(size for size, _, _ in seen) <= 64 * 1024
        assert {count for _, count, _ in seen[:-1]} == {1}
        if "export" not in path:
            assert min(held for _, _, held in seen) > 300_000
        assert (bodies.count, bodies.held) == (0, 0)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.contextmanager
def running(store: Store, limits: Limits) -> Iterator[int]:
    """A server with these limits; its port."""
    with listening.listen("127.0.0.1", 0, backlog=64) as socket_:
        server = _Server(server_of(make_app(store, Settings(limits=limits)), limits).config)
        thread = threading.Thread(target=server.run, args=([socket_],))
        thread.start()
        try:
            yield socket_.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(60)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def live(port: int) -> bytes:
    """The first line of the answer of ``/health/live``."""
    with connected(port) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return connection.recv(65_536).partition(b"\r\n")[0]


def ended(connection: socket.socket) -> bool:
    """Whether the server closes it within half a minute."""
    try:
        while connection.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


class TestConnections:
    pytestmark = pytest.mark.fault("N87")

    def test_idle_connections_keep_nobody_out(self, store: Store) -> None:
        with running(store, Limits(connections=8)) as port:
            held = [connected(port) for _ in range(30)]
            assert live(port) == b"HTTP/1.1 200 OK"
            # The oldest have been dropped, so that there are never more.
            assert all(ended(each) for each in held[:20])
            for each in held:
                each.close()

    @pytest.mark.parametrize("sent", [b"", b"GET /health/live HTTP/1.1\r\nHost:", b"GET"])
    def test_a_head_must_come_in_time(self, store: Store, sent: bytes) -> None:
        with running(store, Limits(head_seconds=0.5)) as port, connected(port) as connection:
            connection.sendall(sent)
            assert ended(connection)

    def test_a_body_that_nobody_reads_must_end_in_time(self, store: Store) -> None:
        """Refused for want of a token; its bytes keep the connection open no longer than it takes."""
        with running(store, Limits(head_seconds=0.5, idle_seconds=1)) as port, connected(port) as connection:
            head = (
                b"POST /v1/banks/mine/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"
            )
            connection.sendall(head)
            with contextlib.suppress(OSError):
                for _ in range(600):
                    connection.sendall(b"x")
                    time.sleep(0.05)
                pytest.fail("it was kept open")

    @pytest.mark.fault("N86")
    def test_a_caller_that_does_not_read_is_dropped(self, store: Store) -> None:
        store.bank("mine").retain(["x" * 500_000 + str(n) for n in range(6)], deduplicate=False)
        limits = Limits(write_seconds=0.5, per_token=1)
        with running(store, limits) as port:
            token = token_of(store)
            head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                connection.settimeout(30)
                connection.connect(("127.0.0.1", port))
                connection.sendall(f"GET /v1/banks/mine/memories?limit=1000 {head}".encode())
                # The only place of the token is free again although nothing was read.
                until = time.monotonic() + 60
                statuses = set()
                while "200" not in statuses and time.monotonic() < until:
                    with connected(port) as other:
                        other.sendall(f"GET /v1/banks/mine/stats {head}".encode())
                        statuses.add(other.recv(65_536)[9:12].decode())
                    time.sleep(0.1)
                assert "200" in statuses
                assert ended(connection)

    def test_a_caller_that_reads_slowly_gets_all(self, store: Store) -> None:
        store.bank("mine").retain(["x" * 200_000 + str(n) for n in range(3)], deduplicate=False)
        with running(store, Limits(write_seconds=30)) as port:
            token = token_of(store)
            with connected(port) as connection:
                head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
                connection.sendall(f"GET /v1/banks/mine/memories?limit=1000 {head}".encode())
                answer = b""
                while part := connection.recv(8_192):
                    answer += part
                    time.sleep(0.001)
        assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["memories"]) == 3

    def test_without_descriptors_the_queue_is_emptied_and_the_loop_sleeps(self) -> None:
        with listening.listen("127.0.0.1", 0, backlog=16) as accepting:
            accepting.setblocking(False)
            callers = [connected(accepting.getsockname()[1]) for _ in range(3)]
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            used = max(map(int, os.listdir("/proc/self/fd"))) + 1  # noqa: PTH208 names alone
            filler = []
            resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
            try:
                while not listening.out_of_descriptors():
                    filler.append(os.open(os.devnull, os.O_RDONLY))
                for _ in range(4):
                    with pytest.raises(BlockingIOError):
                        accepting.accept()
            finally:
                for handle in filler:
                    os.close(handle)
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            # Each of them was told, rather than kept waiting.
            assert all(ended(each) for each in callers)
            with connected(accepting.getsockname()[1]):
                accepting.setblocking(True)
                accepting.accept()[0].close()
            for each in callers:
                each.close()

    def test_idle_banks_are_closed_when_descriptors_run_out(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a", "b", "c"):
            store.bank(name).stats()
        banks = OpenBanks(store, 64)
        for name in ("a", "b"):
            with banks.use(name, None) as bank:
                bank.stats()
        failures = iter([UnavailableError("too many open files")])
        real = store.bank

        def failing(name: str, **named: Any) -> Any:
            for error in failures:
                raise error
            return real(name, **named)

        monkeypatch.setattr(store, "bank", failing)
        monkeypatch.setattr("simonides.surfaces.serving.open_banks.out_of_descriptors", lambda: True)
        with banks.use("c", None) as bank:
            assert bank.stats()["current"] == 0
            assert len(banks) == 1

    def test_fewer_descriptors_mean_fewer_connections_and_banks(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "descriptors", lambda: 128)
        assert listening.most_connections(Limits()) == 32
        assert 1 <= listening.most_banks(Limits()) <= (128 - 32 - 32) // 15
        monkeypatch.setattr(listening, "descriptors", lambda: 1 << 20)
        assert (listening.most_connections(Limits()), listening.most_banks(Limits())) == (512, 64)


class TestLog:
    pytestmark = pytest.mark.fault("N87")

    def test_the_same_line_is_written_a_few_times_and_then_counted(self) -> None:
        now = 0.0
        rate = LogRate(lambda: now)

        def logged(text: str, *words: object) -> str | None:
            record = logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, text, words, None)
            return record.getMessage() if rate.filter(record) else None

        lines = [logged("Invalid HTTP request received.") for _ in range(1_000)]
        assert sum(line is not None for line in lines) == OFTEN
        # Others are not the same, and what tells them apart is their first word.
        assert logged("a request failed: %s: %s", "OSError", "one") == "a request failed: OSError: one"
        assert logged("a request failed: %s: %s", "ModelError", "two") == "a request failed: ModelError: two"
        now = PERIOD_SECONDS
        assert logged("Invalid HTTP request received.") == (
            "Invalid HTTP request received. (repeated 995 times meanwhile)"
        )
        assert logged("Invalid HTTP request received.") == "Invalid HTTP request received."

    def test_lines_that_all_differ_are_not_remembered_for_ever(self) -> None:
        rate = LogRate(lambda: 0.0)
        for number in range(10_000):
            rate.filter(logging.LogRecord("x", logging.ERROR, "", 0, f"{number}", (), None))
        assert len(rate._seen) <= 256

    @pytest.mark.fault("N71")
    def test_an_error_of_the_tree_is_logged_in_one_line(self, caplog: pytest.LogCaptureFixture) -> None:
        error = UnavailableError("/store/bank: the folder is read-only; make it writable")
        assert problems.problem_of(error).status_code == 503
        (record,) = caplog.records
        assert record.exc_info is None
        assert "read-only" in record.getMessage()
        caplog.clear()
        problems.problem_of(RuntimeError("a fault of the program"))
        assert caplog.records[0].exc_info
