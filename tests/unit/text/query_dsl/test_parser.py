from __future__ import annotations

import pickle
import time

import pytest

from simonides.errors import InputError, QuerySyntaxError
from simonides.records.expression import Clause, Expression, Group, Operator, Token, TokenKind
from simonides.text.query_dsl import MAX_DEPTH, parse_query


def term(text: str, operator: Operator | None = None) -> Token:
    return Token(TokenKind.TERM, text, operator)


def phrase(text: str, operator: Operator | None = None) -> Token:
    return Token(TokenKind.PHRASE, text, operator)


def prefix(text: str, operator: Operator | None = None) -> Token:
    return Token(TokenKind.PREFIX, text, operator)


def tokens(text: str) -> list[object]:
    return list(parse_query(text).tokens)


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Pump  Fuse", [term("pump"), term("fuse")]),
        ("what is the pump", [term("pump")]),
        ("wat is de pomp", [term("pomp")]),
        ("go to x1 ab pump", [term("pump")]),
        ("pump and fuse or not lamp", [term("pump"), term("fuse"), term("lamp")]),
        ("pump AND fuse", [term("pump"), term("fuse", Operator.AND)]),
        ("the AND a", [term("the"), term("a", Operator.AND)]),
        ("pump AND OR fuse", [term("pump"), term("fuse", Operator.OR)]),
        ("pump NOT AND NOT fuse", [term("pump"), term("fuse", Operator.NOT)]),
        ("pump AND", [term("pump")]),
        ("AND", []),
        ("NOT pump fuse", [term("pump", Operator.NOT), term("fuse")]),
        ("pump ANDfuse", [term("pump"), term("andfuse")]),
        ('pump AND"fuse"', [term("pump"), term("and"), phrase("fuse")]),
        ('"the Pump is" a', [phrase("the pump is"), term("a")]),
        ('"never closed pump', [phrase("never closed pump")]),
        ('""  the pump', [term("the"), term("pump")]),
        ('"  spaced   out  "', [phrase("spaced out")]),
        ('pump"fuse"lamp', [term("pump"), phrase("fuse"), term("lamp")]),
        ('"pump AND fuse"', [phrase("pump and fuse")]),
        ("pum* fu*se", [prefix("pum"), term("fuse")]),
        ("*", []),
        ("pump AND ! fuse", [term("pump"), term("fuse", Operator.AND)]),
        ("get-together it's 3.11 a_b_c", [term("gettogether"), term("311"), term("a_b_c")]),
        ("I\u2019ve a pump", [term("pump")]),
        ("pump\u00a0fuse", [term("pump"), term("fuse")]),
        ("pu\u200bmp\ufeff", [term("pump")]),
        ("cafe\u0301s", [term("caf\u00e9s")]),
        ("東京 料理", [term("東京"), term("料理")]),
        ("", []),
        ("   ", []),
    ],
)
def test_the_plain_syntax(query: str, expected: list[object]) -> None:
    assert tokens(query) == expected


@pytest.mark.spec("JB-01")
def test_the_raw_text_is_composed_and_its_spaces_are_single() -> None:
    parsed = parse_query("  cafe\u0301 \u00a0 pu\u200bmp\n")
    assert parsed.raw == "caf\u00e9 pump"


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    ("query", "structured"), [("pump", False), ("pu*", False), ('"', True), ("A OR b", True)]
)
def test_a_quote_or_an_operator_is_structure(query: str, structured: bool) -> None:
    assert parse_query(query).has_operators is structured


def test_what_the_asker_wrote_stays_beside_the_cleaned_text() -> None:
    (token,) = parse_query("/srv/tx_queue.rs").tokens
    assert isinstance(token, Token)
    assert (token.text, token.written) == ("srvtx_queuers", "/srv/tx_queue.rs")
    assert token == term("srvtx_queuers")


def test_own_stop_words_can_be_given() -> None:
    assert parse_query("the pump", stop_words={"pump"}).tokens == (term("the"),)


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    "text",
    [
        "pump fuse lamp " * 7_000,
        '"' * 100_000,
        "pump AND " * 11_000,
        "e\u0301" * 50_000,
        "\u0301" * 100_000,
        "x" * 100_000,
        "NOT " * 25_000,
        " ".join(f"word{n}" for n in range(5_000)),
    ],
    ids=["words", "quotes", "operators", "accents", "marks", "one word", "only operators", "5,000 words"],
)
def test_a_huge_query_takes_bounded_time(text: str) -> None:
    start = time.process_time()
    parse_query(text)
    # A quarter of a second here; ten times that on a slow machine still fails what is quadratic.
    assert time.process_time() - start < 3


@pytest.mark.spec("JB-01")
def test_the_extended_syntax_has_groups_and_clauses() -> None:
    parsed = parse_query('tag:work entity:"Odalys Venn" (pump OR fuse) AND lamp', syntax="extended")
    assert parsed.tokens == (
        Clause("tag", "work"),
        Clause("entity", "Odalys Venn"),
        Group((term("pump"), term("fuse", Operator.OR))),
        term("lamp", Operator.AND),
    )
    assert [part.position for part in parsed.tokens if isinstance(part, Clause)] == [0, 9]


def test_a_clause_alone_is_no_structure_so_filler_is_dropped() -> None:
    assert parse_query("kind:code what is the pump", syntax="extended").tokens == (
        Clause("kind", "code"),
        term("pump"),
    )


def test_clauses_are_read_in_any_case_and_urls_and_times_are_words() -> None:
    parsed = parse_query("TAG:Work https://example.org 10:30", syntax="extended")
    assert parsed.tokens == (Clause("tag", "Work"), term("httpsexampleorg"), term("1030"))


def test_a_group_keeps_its_operator_and_may_hold_groups() -> None:
    parsed = parse_query("pump NOT (fuse AND (lamp wire))", syntax="extended")
    inner = Group((term("lamp"), term("wire")), Operator.AND)
    assert parsed.tokens == (term("pump"), Group((term("fuse"), inner), Operator.NOT))


@pytest.mark.parametrize(
    ("query", "position", "says"),
    [
        ("pump (fuse", 5, "never closed"),
        ("pump ) fuse", 5, "never opened"),
        ("pump ()", 5, "nothing to search"),
        ('pump "fuse', 5, "the quote is never closed"),
        ('pump tag:"fuse', 9, "the quote after tag: is never closed"),
        ("pump tags:fuse", 5, "no clause 'tags'"),
        ("pump tag: fuse", 5, "tag: has no value"),
        ("pump OR tag:x", 8, "cannot follow OR"),
        ("pump NOT tag:x", 9, "cannot follow NOT"),
        ("tag:x OR pump", 9, "OR cannot follow a clause"),
        ("tag:x NOT (pump)", 10, "NOT cannot follow a clause"),
        ("(pump tag:x)", 6, "take it out of the parentheses"),
        ("(" * (MAX_DEPTH + 1), MAX_DEPTH, "inside each other"),
    ],
)
@pytest.mark.spec("JB-01")
def test_what_is_wrong_in_the_extended_syntax_is_said_with_its_place(
    query: str, position: int, says: str
) -> None:
    with pytest.raises(QuerySyntaxError, match=says) as caught:
        parse_query(query, syntax="extended")
    assert caught.value.position == position
    assert f"at character {position}" in str(caught.value)
    assert isinstance(caught.value, InputError)
    assert parse_query(query).raw == query  # the plain syntax takes it


def test_a_syntax_error_crosses_a_process() -> None:
    error = QuerySyntaxError("query", "is odd", 7)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.position) == (str(error), 7)


def test_the_published_form() -> None:
    parsed = parse_query('pump NOT (fu* "lamp lit") tag:x', syntax="extended")
    assert parsed.to_dict() == {
        "raw": 'pump NOT (fu* "lamp lit") tag:x',
        "tokens": [
            {"kind": "term", "text": "pump"},
            {
                "kind": "group",
                "tokens": [{"kind": "prefix", "text": "fu"}, {"kind": "phrase", "text": "lamp lit"}],
                "operator": "NOT",
            },
            {"kind": "clause", "name": "tag", "value": "x"},
        ],
        "hasOperators": True,
    }
    assert Expression().to_dict() == {"raw": "", "tokens": [], "hasOperators": False}
