"""Numbers about the server for Prometheus; no text, no id, no name of a bank is among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.lifecycle.step import Step
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
        self._runs = Counter(
            "simonides_maintenance_runs",
            "Runs of maintenance by outcome: done, busy elsewhere, failed.",
            ("outcome",),
            registry=self._registry,
        )
        self._steps = Counter(
            "simonides_maintenance_steps", "Its steps by action.", ("action",), registry=self._registry
        )
        self._left = Counter(
            "simonides_maintenance_put_off",
            "Steps that were due at the end of a run and waited for the next.",
            registry=self._registry,
        )

    def count(self, operation: str, status: int, seconds: float | None = None) -> None:
        """One request; without *seconds*, one that was refused before any operation."""
        self._requests.labels(operation, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(operation).observe(seconds)

    def maintained(self, outcome: str, steps: Sequence[Step] = (), left: int = 0) -> None:
        """One run of maintenance; see ``serving.caretaking.Seen``."""
        self._runs.labels(outcome).inc()
        for step in steps:
            self._steps.labels(step.action).inc()
        self._left.inc(left)

    def page(self) -> bytes:
        """In the text format."""
        return generate_latest(self._registry)
