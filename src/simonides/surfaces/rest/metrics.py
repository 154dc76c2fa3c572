"""Numbers about the server for Prometheus; no text, no id, no name of a bank is among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from simonides.surfaces.serving.dispatching import Dispatcher

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The metrics of one app, in a registry of its own."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "simonides_requests",
            "Requests by operation and status.",
            ("operation", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "simonides_request_seconds",
            "Time of requests by operation.",
            ("operation",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        for name, help_, read in (
            ("simonides_jobs", "Jobs that run or wait.", lambda: dispatcher.taken),
            ("simonides_open_banks", "Banks that are open.", lambda: len(dispatcher.banks)),
        ):
            Gauge(name, help_, registry=self._registry).set_function(read)

    def count(self, operation: str, status: int, seconds: float | None = None) -> None:
        """One request; without *seconds*, one that was refused at the door."""
        self._requests.labels(operation, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(operation).observe(seconds)

    def page(self) -> bytes:
        """In the text format."""
        return generate_latest(self._registry)
