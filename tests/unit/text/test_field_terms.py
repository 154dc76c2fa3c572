from __future__ import annotations

from simonides.records.interval import parse_time
from simonides.text.analyser import TextAnalyser
from simonides.text.dates import field_terms

PLAIN = TextAnalyser("none")
DAY = parse_time("2023-05-08", "when")


def test_terms_are_counted_by_field_and_empty_fields_are_left_out() -> None:
    counted = field_terms({"text": "to be or not to be", "context": "", "relation": " . "}, None, PLAIN)
    assert counted == {"text": {"to": 2, "be": 2, "or": 1, "not": 1}}


def test_the_date_is_context() -> None:
    assert field_terms({"text": "figs", "context": ""}, DAY, PLAIN)["context"] == {
        "8": 1,
        "may": 1,
        "2023": 1,
    }
    assert field_terms({"text": "figs", "context": "Garden"}, DAY, PLAIN)["context"] == {
        "garden": 1,
        "8": 1,
        "may": 1,
        "2023": 1,
    }


def test_a_context_that_holds_the_date_gets_it_once() -> None:
    counted = field_terms({"text": "figs", "context": "Garden\n8 May 2023"}, DAY, PLAIN)
    assert set(counted["context"].values()) == {1}
