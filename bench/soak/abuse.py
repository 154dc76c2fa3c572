"""A token that may only read, against a running server: does the server stay up for everybody else?

    python bench/soak/abuse.py --date 2026-11-29 [--seconds 600] [--idle 1100] [--descriptors 128] [--seed 1]

Threads send generated requests with that token and without any: long and deeply nested bodies, the same large
page again and again, answers that nobody reads, heads and bodies that come byte by byte, connections that
send nothing, and bytes that are no HTTP. What must hold all the while: ``/health/live`` answers (p99 below
250 ms, each time over a new connection, from a process of its own), the server's memory stays below 400 MB
and its log below 1 MB; and when it is over, it works without a restart. ``--descriptors`` lets the server
have only so many files open.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import simonides
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Callable

RESULT = Path(__file__).parents[1] / "results" / "abuse.json"
LIVE_P99_MS = 250
MOST_MB = 400
MOST_LOG_BYTES = 1_000_000
BANKS = 12
LONG = 15_000_000
_WAIT = 30.0

_WATCH = """
import http.client, json, sys, threading, time
done, seconds, failed = threading.Event(), [], 0
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
while not done.wait(0.02):
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
    try:
        connection.request("GET", "/health/live")
        answer = connection.getresponse()
        answer.read()
        failed += answer.status != 200
    except OSError:
        failed += 1
    except http.client.HTTPException:
        failed += 1
    finally:
        connection.close()
    seconds.append(time.perf_counter() - begun)
print(json.dumps([seconds, failed]))
"""


@dataclass(slots=True)
class Seen:
    """What the callers and the sampler saw; appended to by threads."""

    answers: Counter[str] = field(default_factory=Counter)
    megabytes: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.answers[what] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--idle", type=int, default=1_100, help="connections that send nothing")
    parser.add_argument("--descriptors", type=int, help="that the server may have")
    parser.add_argument("--megabytes", type=int, default=32, help="of memories in the bank")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the callers whose names begin so")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    figures = {
        "date": options.date,
        "load_average_before": os.getloadavg()[0],
        **abuse(
            options.seconds,
            idle=options.idle,
            descriptors=options.descriptors,
            megabytes=options.megabytes,
            seed=options.seed,
            only=options.only,
        ),
        "load_average_after": os.getloadavg()[0],
    }
    print(json.dumps(figures, indent=2))
    options.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if holds(figures) and figures["live_p99_ms"] < LIVE_P99_MS else 1


def holds(found: dict[str, Any]) -> bool:
    """Whether all that does not depend on other work on the machine is as it must be."""
    small = found["most_megabytes"] < MOST_MB and found["log_bytes"] < MOST_LOG_BYTES
    return small and bool(found["recovered"]) and not found["ended"]


def abuse(
    seconds: float,
    *,
    idle: int,
    descriptors: int | None = None,
    megabytes: int = 32,
    seed: int = 1,
    only: str = "",
) -> dict[str, Any]:
    """Run it; what was seen."""
    # Each idle connection is a file of this process, too.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    seen = Seen()
    try:
        with TemporaryDirectory(prefix="simonides-abuse-") as folder:
            return _abuse(Path(folder), seen, seconds, idle, descriptors, megabytes, seed, only)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _abuse(
    folder: Path,
    seen: Seen,
    seconds: float,
    idle: int,
    descriptors: int | None,
    megabytes: int,
    seed: int,
    only: str,
) -> dict[str, Any]:
    store, log = folder / "store", folder / "log"
    token = _filled(store, megabytes)
    server, port = _started(store, log, descriptors)
    caller = _Caller(port, token, seen, seed)
    stop = threading.Event()
    try:
        threads = [threading.Thread(target=caller.repeat, args=(each,)) for each in caller.ways(only)]
        threads += [
            threading.Thread(target=caller.idle, args=(idle,)),
            threading.Thread(target=_sample, args=(server.pid, seen, stop)),
        ]
        watch = subprocess.Popen(
            [sys.executable, "-c", _WATCH, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        while time.monotonic() - begun < seconds and server.poll() is None:
            time.sleep(0.2)
        told, _ = watch.communicate()
        stop.set()
        caller.stop()
        for thread in threads:
            thread.join()
        ended = server.poll() is not None
        recovered = _recovers(caller)
        cpu = _cpu_while_quiet(server.pid)
    finally:
        server.terminate()
        status = server.wait(60)
        assert server.stdout
        server.stdout.close()
    live, failed = json.loads(told)
    live.sort()
    return {
        "seconds": seconds,
        "idle_connections": idle,
        "descriptors": descriptors,
        "megabytes_of_memories": megabytes,
        "answers": dict(sorted(seen.answers.items())),
        "live_asked": len(live),
        "live_failed": failed,
        "live_p50_ms": round(live[len(live) // 2] * 1_000, 1),
        "live_p99_ms": round(live[int(len(live) * 0.99)] * 1_000, 1),
        "live_most_ms": round(live[-1] * 1_000, 1),
        "first_megabytes": round(seen.megabytes[0], 1),
        "most_megabytes": round(max(seen.megabytes), 1),
        "log_bytes": log.stat().st_size,
        "ended": ended,
        "recovered": recovered,
        "cpu_share_afterwards": cpu,
        "exit_status": status,
    }


def _filled(folder: Path, megabytes: int) -> str:
    """A store with a bank of large memories and a few others; a token that may only read."""
    # Few words, so that it is stored soon.
    text = "Odalys counted the figs and the beams. " + "x" * 64_000
    with simonides.open(folder, embedder=None) as store:
        bank = store.bank()
        for start in range(0, megabytes * 16, 64):
            numbers = range(start, min(start + 64, megabytes * 16))
            bank.retain([f"Note {number}. {text}" for number in numbers], deduplicate=False)
        for number in range(BANKS):
            store.bank(f"other-{number}").retain(f"Note {number} about figs.")
    with TokenStore(folder) as tokens:
        return tokens.create(banks=["*"], verbs=["read"], now=0)


def _started(store: Path, log: Path, descriptors: int | None) -> tuple[subprocess.Popen[str], int]:
    limit = f"ulimit -n {descriptors} && " if descriptors else ""
    start = "from simonides.surfaces.cli.main import main; main()"
    process = subprocess.Popen(
        ["sh", "-c", f'{limit}exec "$@" 2>"$LOG"', "sh", sys.executable, "-c", start, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "SIMONIDES_EMBEDDER": "none",
            "SIMONIDES_STORE": str(store),
            "PYTHONUNBUFFERED": "1",
            "LOG": str(log),
        },
    )
    assert process.stdout
    printed = process.stdout.readline()
    found = re.match(r"http://[^:]+:(\d+)", printed)
    assert found, printed
    return process, int(found[1])


def _sample(process: int, seen: Seen, stop: threading.Event) -> None:
    """Memory of the server that is in use, five times a second."""
    while not stop.wait(0.2):
        with suppress(OSError):
            found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
            if found:
                seen.megabytes.append(int(found[1]) * 1_024 / 1e6)


def _cpu_while_quiet(process: int) -> float:
    """The share of a core that the server takes when nobody asks."""

    def spent() -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    time.sleep(2.0)
    before, begun = spent(), time.monotonic()
    time.sleep(3.0)
    return round((spent() - before) / (time.monotonic() - begun), 3)


def _recovers(caller: _Caller) -> bool:
    """Whether every bank answers within half a minute, without anybody's help."""
    until = time.monotonic() + _WAIT
    left = {"default", *(f"other-{number}" for number in range(BANKS))}
    while left and time.monotonic() < until:
        for bank in sorted(left):
            body = json.dumps({"query": "Who counted the figs?", "max_tokens": 100}).encode()
            if caller.ask(f"/v1/banks/{bank}/recall", body).startswith("200"):
                left.discard(bank)
        time.sleep(0.1)
    return not left


class _Caller:
    def __init__(self, port: int, token: str, seen: Seen, seed: int) -> None:
        self._port = port
        self._token = token
        self._seen = seen
        self._random = random.Random(seed)
        self._bodies = _bodies()
        self._stop = threading.Event()

    def ways(self, only: str = "") -> list[Callable[[], None]]:
        """What is done again and again, each by a thread of its own."""
        ways = [
            *(self.long,) * 2,
            *(self.pages,) * 2,
            *(self.recalls,) * 2,
            *(self.unread,) * 12,
            *(self.slow,) * 4,
            *(self.broken,) * 2,
            *(self.mcp,) * 2,
        ]
        return [way for way in ways if way.__name__.startswith(only)]

    def stop(self) -> None:
        """Let what is being done come to its end soon."""
        self._stop.set()

    def repeat(self, way: Callable[[], None]) -> None:
        while not self._stop.wait(0.02):
            with suppress(OSError):
                way()

    def long(self) -> None:
        """A body of up to 15 MB that asks for nothing that there is."""
        body = self._random.choice(self._bodies)
        self._seen.count(f"long {self.ask('/v1/banks/default/recall', body)[:3]}")

    def pages(self) -> None:
        """The largest page, again and again."""
        self._seen.count(f"page {self.ask('/v1/banks/default/memories?limit=1000')[:3]}")

    def recalls(self) -> None:
        """A recall of much, in any of the banks."""
        bank = self._random.choice(["default", *(f"other-{number}" for number in range(BANKS))])
        asked: dict[str, Any] = {"query": "Who counted the figs and the beams?", "limit": 50}
        if self._random.random() < 0.2:
            asked |= {"max_tokens": None, "trace": True, "form": "json"}
        answer = self.ask(f"/v1/banks/{bank}/recall", json.dumps(asked).encode())
        self._seen.count(f"recall {answer[:3]}")

    def unread(self) -> None:
        """Large answers, several over one connection, that nobody reads until the server gives up."""
        with self._connected() as connection:
            head = self._head("GET", "/v1/banks/default/memories?limit=1000")
            connection.sendall(head * 4)
            begun = time.monotonic()
            # Nothing is read: only whether the other side has dropped the connection is looked at.
            while time.monotonic() - begun < _WAIT * 2 and not self._stop.wait(0.5):
                if _dropped(connection):
                    self._seen.count("unread, dropped")
                    return
            self._seen.count("unread, at the end")

    def slow(self) -> None:
        """A head, or a body, that comes byte by byte."""
        body = self._random.random() < 0.5
        whole = self._head("POST", "/v1/banks/default/recall", 100_000) + b" " * 100
        sent = whole if not body else whole[-100:]
        with self._connected() as connection:
            if body:
                connection.sendall(whole[:-100])
            for at in range(len(sent)):
                connection.send(sent[at : at + 1])
                if _dropped(connection):
                    self._seen.count("slow, dropped")
                    return
                if self._stop.wait(0.3):
                    return
        self._seen.count("slow, sent")

    def broken(self) -> None:
        """No HTTP, no token, headers twice, an upgrade."""
        head = self._head("GET", "/v1/banks/default/stats")
        wrong = self._random.choice(
            [
                os.urandom(200) + b"\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                head.replace(b"\r\n\r\n", b"\r\nAuthorization: Bearer x\r\n\r\n"),
                head.replace(b"\r\n\r\n", b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
                head.replace(b"\r\n\r\n", b"\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"),
            ]
        )
        self._seen.count(f"broken {self._exchange(wrong)[:3]}")

    def mcp(self) -> None:
        """A tool that answers with a large page."""
        name = self._random.choice(["list_memories", "recall"])
        arguments = {"limit": 1000, "max_tokens": 10_000_000, "bank": "default"}
        if name == "recall":
            arguments = {"query": "figs and beams", "max_tokens": 1_000_000, "bank": "default"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        call["params"] = {"name": name, "arguments": arguments}
        self._seen.count(f"mcp {self.ask('/mcp', json.dumps(call).encode())[:3]}")

    def idle(self, most: int) -> None:
        """Keep so many connections that send nothing."""
        held: list[socket.socket] = []
        while not self._stop.wait(0.1):
            for connection in [each for each in held if _dropped(each)]:
                held.remove(connection)
                connection.close()
                self._seen.count("idle, dropped")
            with suppress(OSError):
                held.extend(self._connected() for _ in range(min(50, most - len(held))))
        for connection in held:
            connection.close()

    def ask(self, path: str, body: bytes | None = None) -> str:
        """The status of an answer and what follows it, read whole."""
        method = "GET" if body is None else "POST"
        with suppress(OSError):
            return self._exchange(self._head(method, path, len(body or b"")) + (body or b""))
        return "cut"

    def _exchange(self, sent: bytes) -> str:
        with self._connected() as connection:
            # The server may answer, and close, before it has read all.
            with suppress(OSError):
                connection.sendall(sent)
            answer, rest = connection.recv(65_536), b"x"
            while rest:
                rest = connection.recv(262_144)
        return answer[9:200].decode("latin-1") or "none"

    def _head(self, method: str, path: str, length: int = 0) -> bytes:
        close = "Connection: close\r\n" if method == "POST" or "stats" in path else ""
        carried = f"Content-Type: application/json\r\nContent-Length: {length}\r\n" if length else ""
        accept = "Accept: application/json, text/event-stream\r\n"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._token}\r\n"
        if "limit=1000" in path:
            close = "Connection: close\r\n" if self._random.random() < 0.9 else ""
        return f"{head}{accept}{close}{carried}\r\n".encode()

    def _connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), timeout=30)


def _dropped(connection: socket.socket) -> bool:
    """Whether the other side has closed it."""
    try:
        connection.setblocking(False)
        # What was sent stays unread: a look takes none of it.
        return connection.recv(1, socket.MSG_PEEK) == b"" or _reset(connection)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        with suppress(OSError):
            connection.settimeout(30)


def _reset(connection: socket.socket) -> bool:
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0


def _bodies() -> list[bytes]:
    def query(inner: bytes) -> bytes:
        return b'{"query":' + inner + b"}"

    def repeated(part: bytes) -> bytes:
        return query(b"[" + part * (LONG // len(part)) + b"0]")

    few = itertools.islice(itertools.count(), 40_000)
    return [
        repeated(b"[],"),
        repeated(b'{"a":{}},'),
        repeated(b'"",'),
        repeated(b"0.1e-5,"),
        query(b"[" * LONG),
        query(b'"' + b"a" * LONG + b'"'),
        query(b'"' + b"\\n" * (LONG // 2) + b'"'),
        query(b'"' + b'\\"' * (LONG // 2)),
        query(b'"x","tags":["' + b'","'.join(b"%d" % each for each in few) + b'"]'),
        query(b"[" + b"[]," * 120_000 + b"0]"),
        query(b"1" * LONG),
        b"}" * LONG,
    ]


if __name__ == "__main__":
    sys.exit(main())
