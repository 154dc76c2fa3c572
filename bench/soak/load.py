"""Eight clients with 200 mixed requests each against a real server whose encoder is slow.

    python bench/soak/load.py --date 2026-11-28 [--clients 8] [--requests 200] [--encoder-ms 50]

What must hold: ``/health/live`` answers at once all the while, every acknowledged write is there afterwards
and none is there twice, and no more jobs run or wait than the server's limits say. Once with an encoder that
waits, as one on another machine does, and once with one that computes in Python, which holds the interpreter.
Liveness is watched from a process of its own, so that the clients' work is not counted as the server's.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULT = Path(__file__).parents[1] / "results" / "load.json"
# Fewer places than clients, so that some are refused.
WORKERS, QUEUE = 4, 2
LIVE_P99_MS = 100
_JOBS = re.compile(r"^simonides_jobs (\S+)$", re.MULTILINE)
_SERVE = """
import sys, time
import simonides
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.connections import server_of
from simonides.surfaces.serving.limits import Limits
from simonides.surfaces.serving.listening import listen, share_fairly
from simonides.surfaces.serving.tokens import first_token
from simonides.testing.embedder import StubEmbedder

def slow():
    if not BURNS:
        time.sleep(DELAY)
        return
    end = time.thread_time() + DELAY
    while time.thread_time() < end:
        pass

class Slow(StubEmbedder):
    def encode(self, texts):
        slow()
        return StubEmbedder.encode(self, texts)
    def encode_query(self, text):
        slow()
        return StubEmbedder.encode_query(self, text)

DELAY, BURNS = float(sys.argv[2]), sys.argv[5] == "burns"
with simonides.open(sys.argv[1], embedder=Slow(dimension=32)) as store:
    store.bank("default").stats()
    token = first_token(store.folder, "default", 0)[0]
    listening = listen("127.0.0.1", 0, backlog=256)
    print(listening.getsockname()[1], token, flush=True)
    limits = Limits(workers=int(sys.argv[3]), queue=int(sys.argv[4]), per_token=1000)
    share_fairly()
    server_of(make_app(store, Settings(limits=limits)), limits).run(sockets=[listening])
"""


_WATCH = """
import http.client, json, sys, threading, time
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=120)
done, seconds = threading.Event(), []
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
while not done.wait(0.02):
    begun = time.perf_counter()
    connection.request("GET", "/health/live")
    answer = connection.getresponse()
    answer.read()
    seconds.append(time.perf_counter() - begun)
    assert answer.status == 200, answer.status
print(json.dumps(seconds))
"""


@dataclass(slots=True)
class Seen:
    """What the clients and the two watchers saw; appended to by threads."""

    written: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    live_seconds: list[float] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=200, help="of each client")
    parser.add_argument("--encoder-ms", type=float, default=50.0)
    options = parser.parse_args()
    asked = (options.clients, options.requests, options.encoder_ms)
    figures = {
        "date": options.date,
        "load_average": os.getloadavg()[0],
        "waiting_encoder": load(*asked),
        "computing_encoder": load(*asked, burns=True),
    }
    print(json.dumps(figures, indent=2))
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if _right(figures["waiting_encoder"]) and _right(figures["computing_encoder"]) else 1


def _right(found: dict[str, Any]) -> bool:
    nothing_lost = not found["faults"] and found["lost"] == 0 == found["twice"]
    return nothing_lost and found["live_p99_ms"] < LIVE_P99_MS and found["most_jobs"] <= WORKERS + QUEUE


def load(clients: int, requests: int, encoder_ms: float, *, burns: bool = False) -> dict[str, Any]:
    """Run it; times are of the clock on the wall. *burns* = the encoder computes and does not wait."""
    seen = Seen()
    with TemporaryDirectory(prefix="simonides-load-") as folder:
        numbers = [str(encoder_ms / 1_000), str(WORKERS), str(QUEUE), "burns" if burns else "waits"]
        command = [sys.executable, "-c", _SERVE, folder, *numbers]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            port, token = server.stdout.readline().split()
            caller = _Caller(int(port), token, seen)
            try:
                _drive(caller, clients, requests)
                held = caller.all_ids()
            finally:
                server.terminate()
    live = sorted(seen.live_seconds)
    count = Counter(held)
    return {
        "clients": clients,
        "requests_each": requests,
        "encoder_ms": encoder_ms,
        "workers": WORKERS,
        "queue": QUEUE,
        "answers": {str(status): number for status, number in sorted(seen.statuses.items())},
        "written": len(seen.written),
        "lost": sum(1 for memory in seen.written if memory not in count),
        "twice": len(held) - len(set(seen.written)),
        "most_jobs": max(seen.jobs),
        "live_asked": len(live),
        "live_p50_ms": round(live[len(live) // 2] * 1_000, 1),
        "live_p99_ms": round(live[int(len(live) * 0.99)] * 1_000, 1),
        "faults": seen.faults,
    }


def _drive(caller: _Caller, clients: int, requests: int) -> None:
    working = [threading.Thread(target=caller.mixed, args=(each, requests)) for each in range(clients)]
    done = threading.Event()
    watching = threading.Thread(target=caller.watch_jobs, args=(done,))
    with caller.watched_live():
        for thread in (*working, watching):
            thread.start()
        for thread in working:
            thread.join()
    done.set()
    watching.join()


class _Caller:
    def __init__(self, port: int, token: str, seen: Seen) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._seen = seen
        self._lock = threading.Lock()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)

    def mixed(self, client: int, requests: int) -> None:
        """Writes and three sorts of reads in turn; a refusal is tried again with the same key."""
        connection = self._connect()
        memory = ""
        for turn in range(requests):
            kind = turn % 4
            if kind in {0, 2}:
                text = f"Client {client} wrote note {turn} about figs and beams."
                key = f"{client}-{turn}"
                body = {"items": [text], "deduplicate": False, "idempotency_key": key}
                answer = self._ask(connection, "POST", "/memories", body)
                if answer:
                    memory = answer["ids"][0]
                    with self._lock:
                        self._seen.written.append(memory)
            elif kind == 1:
                self._ask(connection, "POST", "/recall", {"query": f"Who wrote note {turn}?"})
            else:
                self._ask(connection, "GET", f"/memories/{memory}", None)
        connection.close()

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Any
    ) -> dict[str, Any] | None:
        raw = None if body is None else json.dumps(body)
        for _ in range(1_000):
            connection.request(method, f"/v1/banks/default{path}", raw, self._headers)
            answer = connection.getresponse()
            read = answer.read()
            with self._lock:
                self._seen.statuses[answer.status] += 1
            if answer.status == http.HTTPStatus.OK:
                return dict(json.loads(read))
            if answer.status not in {429, 503} or "Retry-After" not in answer.headers:
                break
            time.sleep(float(answer.headers["Retry-After"]) / 20)
        with self._lock:
            self._seen.faults.append(f"{method} {path}: {answer.status} {read[:200]!r}")
        return None

    @contextmanager
    def watched_live(self) -> Iterator[None]:
        """One request at a time, fifty a second, by a process of its own."""
        command = [sys.executable, "-c", _WATCH, str(self._port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watch:
            yield
            told, _ = watch.communicate()
        self._seen.live_seconds += json.loads(told or "[]")
        if watch.returncode:
            self._seen.faults.append(f"/health/live: the watcher ended with {watch.returncode}")

    def watch_jobs(self, done: threading.Event) -> None:
        """How many jobs run or wait, as the server counts them."""
        connection = self._connect()
        while not done.wait(0.1):
            connection.request("GET", "/metrics", headers=self._headers)
            found = _JOBS.search(connection.getresponse().read().decode())
            assert found
            self._seen.jobs.append(int(float(found[1])))
        connection.close()

    def all_ids(self) -> list[str]:
        """Every memory that is there."""
        connection = self._connect()
        ids: list[str] = []
        cursor = ""
        while True:
            connection.request("GET", f"/v1/banks/default/memories?limit=1000{cursor}", headers=self._headers)
            page = json.loads(connection.getresponse().read())
            ids += [memory["id"] for memory in page["memories"]]
            if page["next"] is None:
                connection.close()
                return ids
            cursor = f"&cursor={page['next']}"


if __name__ == "__main__":
    sys.exit(main())
