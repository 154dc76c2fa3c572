"""What an operator sees of a bank: names, ids and numbers, and never a text."""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections import Counter
from typing import TYPE_CHECKING

import opentelemetry.trace
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from simonides.errors import SimonidesError
from simonides.recall import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.sdk.trace import ReadableSpan

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.testing.clock import FrozenClock

SECRET = "Zephyrine Quillmoor keeps the canary in Tarn Hollow"
QUERY = "Where does Zephyrine keep the canary?"


def _recall(bank: Bank) -> Recall:
    bank.retain(SECRET)
    return bank.recall(QUERY)


@pytest.mark.fault("F5")
def test_a_recall_is_one_line_without_text(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        answer = _recall(bank)
    [line] = [record for record in caplog.records if record.name == "simonides.recall"]
    assert line.levelno == logging.INFO
    assert line.__dict__["recall_id"] == answer.id
    assert line.__dict__["bank"] == "diary"
    whole = json.dumps(line.__dict__, default=str) + line.getMessage()
    for word in ("Zephyrine", "canary", "Tarn"):
        assert word not in whole


def test_a_slow_recall_is_a_warning_with_its_stages(
    bank: Bank, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "SLOW_MS", 0.0)
    _recall(bank)
    [line] = [record for record in caplog.records if record.name == "simonides.recall"]
    assert line.levelno == logging.WARNING
    assert "slow: " in line.getMessage()
    assert {"stage", "milliseconds", "count"} <= set(line.__dict__["stages"][0])
    assert "canary" not in json.dumps(line.__dict__, default=str)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What the SDK of OpenTelemetry exports."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(opentelemetry.trace, "_TRACER_PROVIDER", provider)
    return exporter


def _finished(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    """In the order of starting, the outermost first; what was exported is forgotten."""
    found = exporter.get_finished_spans()
    exporter.clear()
    return sorted(found, key=lambda span: (span.parent is not None, span.start_time or 0))


def _without_text(found: Iterable[ReadableSpan]) -> None:
    whole = "".join(span.to_json() for span in found)
    for word in ("Zephyrine", "canary", "Tarn", "Traceback"):
        assert word not in whole


def test_every_operation_is_a_span(bank: Bank, spans: InMemorySpanExporter) -> None:
    [memory] = bank.retain(SECRET)
    bank.update_memory(memory, tags=["birds"])
    bank.update_memory(memory, text=f"{SECRET}.")
    bank.pin(memory, always=True)
    assert bank.forget(memory) == 1
    found = _finished(spans)
    _without_text(found)
    told = [(span.name, dict(span.attributes or {})) for span in found if span.parent is None]
    bare = {"bank": "diary"}
    assert told == [
        ("bank.retain", {**bare, "count": 1}),
        ("bank.update_memory", bare),
        ("bank.update_memory", bare),
        ("bank.pin", bare),
        ("bank.forget", {**bare, "count": 1}),
    ]
    assert all(span.status.status_code is StatusCode.UNSET for span in found)
    assert all((span.start_time or 0) < (span.end_time or 0) for span in found)


def test_every_public_method_of_a_bank_makes_a_span(bank: Bank, spans: InMemorySpanExporter) -> None:
    methods = [name for name, each in vars(type(bank)).items() if inspect.isfunction(each) and name[0] != "_"]
    assert {"retain_conversation", "reflect", "export", "maintain", "verify"} <= set(methods)
    for name in methods:
        with pytest.raises(TypeError):
            getattr(bank, name)(no_such_argument=SECRET)
        [span] = _finished(spans)
        assert span.name == f"bank.{name}"
        _without_text([span])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda bank: bank.retain(SECRET, kind=SECRET), "UnknownNameError"),
        (lambda bank: bank.retain(SECRET, tags=[1]), "InputError"),
        (lambda bank: bank.update_memory(SECRET, tags=["birds"]), "NotFoundError"),
        (lambda bank: bank.recall(QUERY, profile=SECRET), "UnknownNameError"),
        (lambda bank: bank.history(SECRET), "NotFoundError"),
    ],
)
def test_a_call_that_fails_says_so_and_quotes_nothing(
    bank: Bank, spans: InMemorySpanExporter, call: Callable[[Bank], object], error: str
) -> None:
    with pytest.raises(SimonidesError) as caught:
        call(bank)
    assert type(caught.value).__name__ == error
    [span, *below] = _finished(spans)
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == error
    assert not span.events
    _without_text([span, *below])


def test_there_is_a_span_for_every_stage(bank: Bank, clock: FrozenClock, spans: InMemorySpanExporter) -> None:
    bank.retain(SECRET)
    spans.clear()
    answer = bank.recall(QUERY)
    found = _finished(spans)
    _without_text(found)
    [call] = [span for span in found if span.name == "bank.recall"]
    [whole] = [span for span in found if span.name == "recall"]
    stages = [span for span in found if span not in (call, whole)]
    assert call.parent is None
    assert whole.parent == call.context
    assert all(span.parent == whole.context for span in stages)
    assert (whole.attributes or {})["recall_id"] == answer.id
    assert (whole.attributes or {})["hits"] == len(answer.hits) == 1
    # By the bank's clock, which stands here.
    assert whole.start_time == int(clock().timestamp()) * 10**9
    assert Counter(span.name for span in stages) == Counter(
        f"recall.{stage.name}" for stage in answer.trace.stages
    )
    channels = [span for span in stages if (span.attributes or {})["shape"] == "channel"]
    assert len({span.start_time for span in channels}) == 1
    [fused] = [span for span in stages if (span.attributes or {})["shape"] == "fuser"]
    assert (fused.start_time or 0) >= max(span.end_time or 0 for span in channels)


def test_a_recall_of_another_operation_stands_below_it(bank: Bank, spans: InMemorySpanExporter) -> None:
    bank.retain(SECRET)
    spans.clear()
    bank.brief(QUERY)
    found = {span.name: span for span in _finished(spans)}
    assert found["bank.brief"].parent is None
    assert found["bank.recall"].parent == found["bank.brief"].context
    assert found["recall"].parent == found["bank.recall"].context


def test_without_a_provider_nothing_is_recorded(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sys.modules["opentelemetry.trace"], None):
        monkeypatch.setitem(sys.modules, "opentelemetry.trace", module)
        assert _recall(bank).hits
