"""What an operator sees of recalls: spans by stage, a line each, and slow ones with their trace.

Spans go to OpenTelemetry where its API is installed and a provider is set; without one they cost nothing. A
stage's span has the stage's own length; its start follows from the lengths before it, and channels start
together. Lines go to the logger ``simonides.recall``: at INFO one a recall, at WARNING one that took
``SLOW_MS`` or longer. Neither a query nor the text of a memory is among them, nor in a span: only names, ids
and numbers, as fields of the record (``extra``), so that a formatter may write them as JSON.
"""

from __future__ import annotations

import importlib
import logging
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simonides.records.explanation import StageTrace, Trace
    from simonides.records.recall import Recall

SLOW_MS = 1_000.0
_log = logging.getLogger("simonides.recall")
_MILLION = 1_000_000


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
    tracer = _tracer()
    if tracer is not None:
        trace_spans(tracer, bank, answer, ended_ns)


def trace_spans(tracer: Any, bank: str, answer: Recall, ended_ns: int) -> None:
    """One span for the recall, and one below it for each stage that ran.

    Args:
        tracer: of OpenTelemetry.
        bank: name of the bank.
        answer: of the recall.
        ended_ns: when it ended, nanoseconds since 1970.
    """
    spans = importlib.import_module("opentelemetry.trace")
    trace = answer.trace
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


@cache
def _tracer() -> Any:
    try:
        return importlib.import_module("opentelemetry.trace").get_tracer("simonides")
    except ImportError:
        return None
