"""A language model over real HTTP: a server in this process says every wrong thing that one can say."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, MissingExtraError, ModelRefusedError, ModelUnavailableError
from simonides.models.llm import LanguageModel
from simonides.testing.chat_server import ChatServer, Reply, failed, said

if TYPE_CHECKING:
    from simonides.records.enrichment import Completion

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

MESSAGES = [{"role": "system", "content": "Describe it."}, {"role": "user", "content": "the lamp"}]
SCHEMA = {"type": "object", "properties": {"lit": {"type": "boolean"}}}
GOOD = {"lit": True}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have waited before each retry; nobody waits."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def model(server: ChatServer, **options: Any) -> LanguageModel:
    options = {"timeout_seconds": 20.0, "max_retries": 0, "api_key": "key-1", **options}
    return LanguageModel("a-model", server.url, **options)


def answer(reply: Reply, **options: Any) -> Completion:
    with ChatServer(reply) as server:
        return model(server, **options).complete(MESSAGES, SCHEMA)


def test_a_good_answer_is_parsed_and_its_tokens_are_counted() -> None:
    with ChatServer(said(GOOD)) as server:
        completion = model(server, max_output_tokens=77).complete(MESSAGES, SCHEMA)

    assert (completion.parsed, completion.problem) == (GOOD, "")
    assert (completion.input_tokens, completion.output_tokens) == (100, 50)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.body["model"] == "a-model"
    assert request.body["messages"] == MESSAGES
    assert request.body["max_completion_tokens"] == 77
    assert request.body["response_format"]["json_schema"] == {
        "name": "answer",
        "strict": True,
        "schema": SCHEMA,
    }


@pytest.mark.parametrize(
    "content",
    [
        '```json\n{"lit": true}\n```',
        'Here it is:\n{"lit": true}\nAnything else?',
        '<think>{"lit": maybe}</think>{"lit": true}',
        '\n {"lit": true} ',
    ],
)
def test_words_and_fences_around_the_object_do_not_matter(content: str) -> None:
    assert answer(said(content)).parsed == GOOD


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_structured_output_is_asked_in_the_old_form(status: int) -> None:
    with ChatServer(failed(status, "unsupported_parameter"), said(GOOD)) as server:
        completion = model(server).complete(MESSAGES, SCHEMA)

    assert completion.parsed == GOOD
    second = server.requests[1].body
    assert "response_format" not in second
    assert "max_completion_tokens" not in second
    assert second["max_tokens"] == 8_192
    assert json.dumps(SCHEMA, separators=(",", ":")) in second["messages"][0]["content"]
    assert second["messages"][1] == MESSAGES[1]


def test_a_temperature_is_sent_only_where_one_is_given() -> None:
    with ChatServer(said(GOOD), failed(400), said(GOOD), said(GOOD)) as server:
        model(server).complete(MESSAGES, SCHEMA)
        model(server, temperature=0.0).complete(MESSAGES, SCHEMA)

    assert [request.body.get("temperature") for request in server.requests] == [None, 0.0, 0.0]
    for wrong in (-0.1, 2.1, float("nan")):
        with pytest.raises(InputError, match="temperature"):
            LanguageModel("a-model", temperature=wrong)


@pytest.mark.parametrize(
    "content", ["no object at all", "{", '{"lit": true', '{"lit": tru}', "[]", "", "{" * 60_000]
)
def test_an_answer_that_is_no_object_is_a_problem_and_is_paid_for(content: str) -> None:
    completion = answer(said(content))

    assert completion.parsed is None
    assert completion.problem == "the answer is no JSON object"
    assert (completion.input_tokens, completion.output_tokens) == (100, 50)


def test_an_answer_that_was_cut_at_its_longest_length_is_not_read() -> None:
    completion = answer(said('{"lit": true}', finish_reason="length"))

    assert completion.parsed is None
    assert "cut off" in completion.problem


@pytest.mark.parametrize(
    "refusal", [{"refusal": "I cannot help with that."}, {"finish_reason": "content_filter"}]
)
def test_a_refusal_is_a_problem_and_its_words_are_not_repeated(refusal: dict[str, str]) -> None:
    completion = answer(said("", **refusal))

    assert completion.parsed is None
    assert completion.problem == "the model refused to answer"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Bad gateway</html>",
        b"",
        b"null",
        b"[1]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": "none"}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": "{}"}',
        b"\xff\xfe",
    ],
)
def test_a_body_outside_the_protocol_is_a_problem(body: bytes) -> None:
    completion = answer(Reply(body))

    assert completion.parsed is None
    assert "protocol" in completion.problem


def test_content_that_is_no_text_is_a_problem() -> None:
    body = {"choices": [{"message": {"content": [{"type": "text", "text": "{}"}]}, "finish_reason": "stop"}]}

    assert answer(Reply(json.dumps(body).encode())).problem == "the answer is no JSON object"


@pytest.mark.parametrize(
    "usage",
    [
        "much",
        {},
        {"prompt_tokens": -5, "completion_tokens": -1},
        {"prompt_tokens": True, "completion_tokens": 1.5},
        {"prompt_tokens": "7", "completion_tokens": 10**30},
    ],
)
def test_counts_that_cannot_be_true_become_the_most_that_they_can_be(usage: object) -> None:
    completion = answer(said(GOOD, usage=usage))

    assert completion.parsed == GOOD
    written = len(json.dumps(MESSAGES)) + len(json.dumps(SCHEMA))
    assert completion.input_tokens >= written
    assert completion.output_tokens >= len(json.dumps(GOOD))
    assert completion.input_tokens < 10_000 > completion.output_tokens


def test_a_busy_server_is_asked_again_after_the_time_it_names(waits: list[float]) -> None:
    with ChatServer(failed(429, "rate_limit", retry_after="7"), said(GOOD)) as server:
        completion = model(server, max_retries=2).complete(MESSAGES, SCHEMA)

    assert completion.parsed == GOOD
    assert waits == [7.0]


def test_a_failing_server_is_asked_again_with_longer_pauses_and_then_no_more(waits: list[float]) -> None:
    with ChatServer(failed(500)) as server, pytest.raises(ModelUnavailableError, match="500"):
        model(server, max_retries=3).complete(MESSAGES, SCHEMA)

    assert len(server.requests) == 4
    assert len(waits) == 3
    assert waits[0] < waits[1] < waits[2]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_what_may_pass_is_unavailable(status: int) -> None:
    with pytest.raises(
        ModelUnavailableError, match=rf"127\.0\.0\.1:\d+ is not able to answer now \({status} busy\)"
    ):
        answer(failed(status, "busy"))


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405])
def test_what_no_retry_mends_is_refused_and_says_what_to_check(status: int) -> None:
    with (
        ChatServer(failed(status, "invalid_api_key", "Incorrect key: key-1")) as server,
        pytest.raises(ModelRefusedError, match=f"{status} invalid_api_key.*check the API key") as caught,
    ):
        model(server, max_retries=3).complete(MESSAGES, SCHEMA)

    assert len(server.requests) == 1
    assert "key-1" not in str(caught.value)


def test_a_request_that_is_refused_twice_is_a_problem_of_this_request() -> None:
    said_by_server = "This text is too long: the lamp"
    completion = answer(failed(400, "context_length_exceeded", said_by_server))

    assert completion.parsed is None
    assert completion.problem == "the request was refused (400 context_length_exceeded)"
    assert (completion.input_tokens, completion.output_tokens) == (0, 0)


def test_an_error_code_that_quotes_the_request_is_not_repeated() -> None:
    assert answer(failed(413, "you said: the lamp")).problem == "the request was refused (413)"


def test_a_server_that_says_nothing_in_time_is_unavailable(waits: list[float]) -> None:
    with (
        ChatServer(Reply(stalls=True)) as server,
        pytest.raises(ModelUnavailableError, match=r"within 0\.1 s"),
    ):
        model(server, timeout_seconds=0.1, max_retries=1).complete(MESSAGES, SCHEMA)

    assert len(server.requests) == 2
    assert len(waits) == 1


def test_a_server_that_stops_in_the_middle_of_an_answer_is_unavailable() -> None:
    slow = Reply(said(GOOD).body, stalls_within=True)
    with ChatServer(slow) as server, pytest.raises(ModelUnavailableError, match="in the middle"):
        model(server, timeout_seconds=0.1).complete(MESSAGES, SCHEMA)


def test_an_answer_that_trickles_in_is_given_up() -> None:
    moments = iter([0.0, 20.1])
    with pytest.raises(ModelUnavailableError, match="did not end its answer within 20 s"):
        answer(said(GOOD), timer=lambda: next(moments))


def test_a_connection_that_breaks_off_is_unavailable() -> None:
    with pytest.raises(ModelUnavailableError, match="in the middle"):
        answer(Reply(said(GOOD).body, missing_bytes=10))


def test_an_endless_answer_is_not_read_to_its_end() -> None:
    with pytest.raises(ModelUnavailableError, match="more than 4,194,304 bytes"):
        answer(said("x" * 5_000_000))


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with ChatServer() as server:
        gone = model(server)

    with pytest.raises(ModelUnavailableError, match="could not be reached; check that it runs"):
        gone.complete(MESSAGES, SCHEMA)


def test_the_password_of_an_address_is_in_no_message() -> None:
    with ChatServer(failed(500)) as server:
        url = server.url.replace("//", "//odalys:s3cret@")
        with pytest.raises(ModelUnavailableError) as caught:
            LanguageModel("m", url, max_retries=0).complete(MESSAGES, SCHEMA)

    assert "s3cret" not in str(caught.value)


def test_without_the_package_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'simonides\[llm\]'"):
        LanguageModel("m").complete(MESSAGES, SCHEMA)


def test_the_key_is_not_shown() -> None:
    assert "s3cret" not in repr(LanguageModel("m", api_key="s3cret"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "  "),
        ("base_url", "api.example.org/v1"),
        ("base_url", "file:///etc/passwd"),
        ("base_url", "http://"),
        ("base_url", "http://a:b:c/"),
        ("base_url", "http://[::1"),
        ("api_key", "two words"),
        ("api_key", "key\r\nX-Other: 1"),
        ("timeout_seconds", 0.0),
        ("timeout_seconds", float("inf")),
        ("max_retries", -1),
        ("max_output_tokens", 0),
        ("input_price", -0.1),
        ("output_price", float("nan")),
    ],
)
def test_an_attribute_out_of_its_range_is_refused_by_name(field: str, value: object) -> None:
    values: dict[str, Any] = {"model": "m", field: value}

    with pytest.raises(InputError) as caught:
        LanguageModel(**values)

    assert caught.value.field == field
    if field == "api_key":
        assert str(value) not in str(caught.value)


def test_costs_are_per_million_tokens_and_the_bound_holds_for_every_text() -> None:
    priced = LanguageModel("m", input_price=2.0, output_price=10.0, max_output_tokens=1_000)

    assert priced.priced
    assert not LanguageModel("m").priced
    assert priced.cost(1_000_000, 500_000) == pytest.approx(7.0)
    # A token is at least one byte long: 40 four-byte signs are at most 160 tokens.
    text = [{"role": "user", "content": "🪔" * 40}]
    assert priced.most_cost(text, {}) >= priced.cost(160, 1_000)
