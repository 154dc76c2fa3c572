"""What an operator sees of a bank: spans of operations, recalls and stages, a log line each recall.

Spans go to OpenTelemetry where a provider is set; otherwise they cost nothing. Every call of a public method
of a bank is a span, ``bank.retain`` for example, with the error's class where it fails. A recall has one more
span below it, and each of its stages one below that: a stage's span has the stage's own length, its start
follows from the lengths before it, and channels start together. Lines go to the logger ``simonides.recall``:
at INFO one a recall, at WARNING, with its stages, one that took ``SLOW_MS`` or longer. Neither a query nor
the text of a memory is among them, nor the message of an error, which may quote one: only names, ids and
numbers, in a line as fields of the record (``extra``), so that a formatter may write them as JSON.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simonides.records.explanation import StageTrace, Trace
    from simonides.records.recall import Recall

SLOW_MS = 1_000.0
_log = logging.getLogger("simonides.recall")
_MILLION = 1_000_000
_NAME = "simonides"


@contextmanager
def operation(bank: str, verb: str) -> Iterator[Callable[[object], None]]:
    """A span around one call of a public method of a bank; costs nothing without OpenTelemetry.

    Args:
        bank: its name.
        verb: name of the method.

    Yields:
        a function that notes in the span how many ids an answer holds.
    """
    spans = _api()
    if spans is None:
        yield lambda _: None
        return
    # What OpenTelemetry records of an exception by itself has its message and the lines around it.
    with spans.get_tracer(_NAME).start_as_current_span(
        f"bank.{verb}",
        attributes={"bank": bank},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:

        def note(answer: object) -> None:
            if isinstance(answer, list | tuple):
                span.set_attribute("count", len(answer))
            elif isinstance(answer, int):
                span.set_attribute("count", int(answer))

        try:
            yield note
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(spans.StatusCode.ERROR)
            raise


def observe(bank: str, answer: Recall, *, ended_ns: int) -> None:
    """Tell of a recall that has just ended.

    Args:
        bank: its name.
        answer: of the recall.
        ended_ns: nanoseconds since 1970.
    """
    trace = answer.trace
    slow = trace.milliseconds >= SLOW_MS
    if slow or _log.isEnabledFor(logging.INFO):
        told = _told(bank, answer)
        if slow:
            told["stages"] = [_stage(stage) for stage in trace.stages]
        _log.log(
            logging.WARNING if slow else logging.INFO,
            "recall %s in bank %s: %d hits, %.1f ms%s",
            answer.id,
            bank,
            len(answer.hits),
            trace.milliseconds,
            f", slow: {_slowest(trace)}" if slow else "",
            extra=told,
        )
    spans = _api()
    if spans is not None:
        _trace_stages(spans, bank, answer, ended_ns)


def _trace_stages(spans: Any, bank: str, answer: Recall, ended_ns: int) -> None:
    """One span for the recall, and one below it for each stage that ran."""
    tracer, trace = spans.get_tracer(_NAME), answer.trace
    at = ended_ns - int(trace.milliseconds * _MILLION)
    whole = tracer.start_span("recall", start_time=at, attributes=_told(bank, answer))
    if not whole.is_recording():
        whole.end(end_time=ended_ns)
        return
    below = spans.set_span_in_context(whole)
    together = 0
    for number, stage in enumerate(trace.stages):
        length = int(stage.milliseconds * _MILLION)
        span = tracer.start_span(
            f"recall.{stage.name}", context=below, start_time=at, attributes=_stage(stage)
        )
        span.end(end_time=at + length)
        following = trace.stages[number + 1].shape if number + 1 < len(trace.stages) else ""
        if stage.shape == following == "channel":
            together = max(together, length)
            continue
        at += max(together, length)
        together = 0
    whole.end(end_time=ended_ns)


def _told(bank: str, answer: Recall) -> dict[str, Any]:
    trace = answer.trace
    return {
        "bank": bank,
        "recall_id": answer.id,
        "profile": trace.profile,
        "hits": len(answer.hits),
        "no_match": answer.no_match,
        "eligible": trace.eligible,
        "milliseconds": round(trace.milliseconds, 3),
        "degraded": len(trace.degraded),
    }


def _stage(stage: StageTrace) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "shape": stage.shape,
        "technique": stage.technique,
        "milliseconds": round(stage.milliseconds, 3),
        "count": stage.count,
    }


def _slowest(trace: Trace) -> str:
    stages = sorted(trace.stages, key=lambda stage: (-stage.milliseconds, stage.name))[:3]
    return ", ".join(f"{stage.name} {stage.milliseconds:.0f} ms" for stage in stages)


def _api() -> Any:
    """OpenTelemetry's module of spans; nothing where nobody has imported it, and so set no provider."""
    return sys.modules.get("opentelemetry.trace")
