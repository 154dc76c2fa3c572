from __future__ import annotations

import pytest

from simonides.text.normalise import name_terms


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("retryPolicyV2", ["retrypolicyv2", "retry", "policy", "v2", "2"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseJSON2Xml", ["parsejson2xml", "parse", "json2", "json", "2", "xml"]),
        ("iPhone", ["iphone", "phone"]),
        ("URLs", ["urls"]),
        ("batch77", ["batch77", "batch", "77"]),
        ("2nd", ["2nd", "2", "nd"]),
        ("x86_64", ["x86_64", "x86", "86", "64"]),
        ("apply_backoff", ["apply_backoff", "apply", "backoff"]),
        ("well-being", ["well-being", "well", "being"]),
        ("and/or", ["and/or", "and", "or"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("1.2.3", ["1.2.3", "1", "2", "3"]),
        ("v1.2.3-rc1", ["v1.2.3-rc1", "v1", "1", "2", "3-rc1", "3", "rc1", "rc", "1.2.3"]),
        ("C++", ["c++"]),
        ("C++17", ["c++17", "c++", "17"]),
        ("C#", ["c#"]),
        ("F#", ["f#"]),
        (".NET", [".net", "net"]),
        ("ASP.NET", ["asp.net", "asp", "net"]),
        (".env", [".env", "env"]),
        ("src/.env", ["src/.env", "src", ".env", "env"]),
        ("notepad++", ["notepad++", "notepad"]),
        ("lint#", ["lint#", "lint"]),
        ("7#", ["7#", "7"]),
        ("dana@example.org", ["dana@example.org", "dana", "example.org", "example", "org"]),
        ("bye-bye", ["bye-bye", "bye"]),
        ("9f86d081884c7d65", ["9f86d081884c7d65"]),
    ],
)
def test_whole_and_parts(name: str, terms: list[str]) -> None:
    assert list(name_terms(name)) == terms


def test_a_date_inside_a_time_is_a_term_of_its_own() -> None:
    assert "2027-02-09" in name_terms("2027-02-09T10:30:00Z")
    assert "2027-02-09" in name_terms("report-2027-02-09.log")
    assert "2027-02-09" not in name_terms("12027-02-091")


def test_a_url_gives_its_host_and_its_words() -> None:
    terms = name_terms("https://docs.example.org/guide/set-up")
    assert {"docs.example.org", "example", "guide", "set-up", "set", "up"} <= set(terms)


def test_an_email_address_with_a_tag_stays_whole() -> None:
    terms = name_terms("dana.k+news@example.org")
    assert terms[0] == "dana.k+news@example.org"
    assert {"dana.k", "news"} <= set(terms)


def test_no_term_is_given_twice_however_long_the_name() -> None:
    terms = name_terms("/".join(["spam"] * 1_000))
    assert list(terms) == [("spam/" * 26)[:128], "spam"]
