"""What an operator sees of a recall: names, ids and numbers, and never a text."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from simonides.recall import observing

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.records.recall import Recall

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
    monkeypatch.setattr(observing, "SLOW_MS", 0.0)
    _recall(bank)
    [line] = [record for record in caplog.records if record.name == "simonides.recall"]
    assert line.levelno == logging.WARNING
    assert "slow: " in line.getMessage()
    assert {"stage", "milliseconds", "count"} <= set(line.__dict__["stages"][0])
    assert "canary" not in json.dumps(line.__dict__, default=str)


class _Span:
    def __init__(self, name: str, start: int, attributes: dict[str, Any]) -> None:
        self.name, self.start, self.stop, self.attributes = name, start, 0, attributes

    def end(self, end_time: int) -> None:
        self.stop = end_time

    def is_recording(self) -> bool:
        return True


class _Tracer:
    def __init__(self) -> None:
        self.spans: list[_Span] = []

    def start_span(self, name: str, *, start_time: int, attributes: Any, context: Any = None) -> _Span:
        assert (context is None) is (name == "recall")
        self.spans.append(_Span(name, start_time, attributes))
        return self.spans[-1]


def test_there_is_a_span_for_every_stage(bank: Bank) -> None:
    bank.retain(SECRET)
    answer = bank.recall(QUERY)
    tracer, end = _Tracer(), 10**18
    observing.trace_spans(tracer, "diary", answer, end)

    whole, *stages = tracer.spans
    assert (whole.name, whole.stop) == ("recall", end)
    assert [span.name for span in stages] == [f"recall.{stage.name}" for stage in answer.trace.stages]
    channels = [span for span in stages if span.attributes["shape"] == "channel"]
    assert len({span.start for span in channels}) == 1
    assert all(whole.start <= span.start <= span.stop for span in stages)
    later = [span for span in stages if span.attributes["shape"] == "fuser"]
    assert later[0].start >= max(span.stop for span in channels)
    assert "canary" not in json.dumps([span.attributes for span in tracer.spans])


class _Deaf(_Span):
    def is_recording(self) -> bool:
        return False


def test_where_nobody_listens_there_is_one_span_only(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = _recall(bank)
    tracer = _Tracer()
    monkeypatch.setattr(f"{__name__}._Span", _Deaf)
    observing.trace_spans(tracer, "diary", answer, 10**18)
    [whole] = tracer.spans
    assert (whole.name, whole.stop) == ("recall", 10**18)


def test_a_recall_in_this_process_has_its_spans_by_the_banks_clock(
    bank: Bank, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracer = _Tracer()
    monkeypatch.setattr(observing, "_tracer", lambda: tracer)
    answer = _recall(bank)
    assert [span.name for span in tracer.spans] == [
        "recall", *(f"recall.{stage.name}" for stage in answer.trace.stages)
    ]  # fmt: skip
    assert tracer.spans[0].start == int(clock().timestamp()) * 10**9


def test_without_the_package_nothing_happens(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "_tracer", lambda: None)
    observing.observe("diary", bank.recall(QUERY), ended_ns=0)
