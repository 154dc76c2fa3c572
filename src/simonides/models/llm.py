"""A language model behind the chat-completions protocol: the only place that talks to one.

Any server that speaks the protocol will do. A request asks for structured output (a JSON schema that the
server enforces). A server that refuses it is asked once more in the protocol's oldest form, with the schema
in words; the answer is read as JSON, a code fence around it or not.

The client retries what may pass (no connection, no answer in time, 408, 409, 429, 5xx), waiting as long as
``Retry-After`` says or twice as long each time. An answer is read with a limit on its time and size, so that
a slow server cannot hold a run up. Error messages never repeat what the server said: it may quote a memory.

Cost: a client of its own for each request, 0.15 s of CPU, most of it for reading certificates. Weakness: a
server may charge for an answer that was lost on the way; it is not counted here.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.errors import (
    InputError,
    MissingExtraError,
    ModelRefusedError,
    ModelUnavailableError,
)
from simonides.forking import Origin
from simonides.http_clients import http_client
from simonides.models.server import LARGEST_BODY, PASSING, is_address, place, read_body
from simonides.records.enrichment import Completion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_MILLION = 1_000_000
# What the protocol puts around messages (roles, separators), in tokens, generously.
_FRAME_TOKENS = 256
# More than any model reads or writes at once.
_MOST_TOKENS = 1_000_000_000
_ABOUT_THE_REQUEST = frozenset({400, 413, 422})
_OLD_FORM_MAY_DO = frozenset({400, 422})
_CODE = re.compile(r"[A-Za-z_][\w.-]{0,60}\Z", re.ASCII)
_KEY = re.compile(r"[!-~]*\Z")


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model of one server. Satisfies ``protocols.Enricher``.

    Attributes:
        base_url: of the server, up to and without ``/chat/completions``.
        api_key: sent as a bearer token; empty for servers that want none.
        timeout_seconds: for the connection, for the first byte of an answer, and for the whole of its body.
        max_retries: of a request that got no answer, above 0 only helps against what passes in seconds.
        max_output_tokens: of one answer; what is longer is cut and cannot be used.
        temperature: of the choice among words, 0 to 2; ``None`` = the server's own. Some models refuse any.
        input_price, output_price: per million tokens, in any currency; both 0 = the price is not known.
        timer: seconds that never run backwards.

    Raises:
        InputError: an attribute is out of its range.
    """

    model: str
    base_url: str = DEFAULT_BASE_URL
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 60.0
    max_retries: int = 2
    max_output_tokens: int = 8_192
    temperature: float | None = None
    input_price: float = 0.0
    output_price: float = 0.0
    timer: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError("model", "is blank; give the name that the server knows the model by")
        if not is_address(self.base_url):
            raise InputError(
                "base_url", "is no http or https address; give one such as http://127.0.0.1:8080/v1"
            )
        if not _KEY.match(self.api_key):
            raise InputError("api_key", "holds blanks or signs that no key has; copy it again")
        if not (math.isfinite(self.timeout_seconds) and self.timeout_seconds > 0):
            raise InputError("timeout_seconds", f"{self.timeout_seconds} is not above 0")
        for name, least in (("max_retries", 0), ("max_output_tokens", 1)):
            if getattr(self, name) < least:
                raise InputError(name, f"{getattr(self, name)} is below {least}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(
                "temperature", f"{self.temperature} is not from 0 to 2; give such a number, or none"
            )
        for name in ("input_price", "output_price"):
            price = getattr(self, name)
            if not (math.isfinite(price) and price >= 0):
                raise InputError(
                    name, f"{price} is no price; give a number per million tokens, 0 = not known"
                )

    @property
    def priced(self) -> bool:
        """Whether calls are known to cost something."""
        return self.input_price > 0 or self.output_price > 0

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Price of so many tokens."""
        return (input_tokens * self.input_price + output_tokens * self.output_price) / _MILLION

    def most_cost(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> float:
        """The most that one call can cost: no token is shorter than a byte, no answer longer than allowed."""
        return self.cost(_most_tokens(messages, schema), self.max_output_tokens)

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Completion:
        """Ask for a JSON object.

        Args:
            messages: each with ``role`` and ``content``; the first one instructs.
            schema: JSON schema of the object; whether the answer follows it is for the caller to check.

        Raises:
            MissingExtraError: the package ``openai`` is not installed.
            ModelUnavailableError: there is no answer now; a later try may get one.
            ModelRefusedError: there is no answer before the key, the address or the model's name is right.
        """
        openai = _load_client()
        with self._client(openai) as client:
            try:
                try:
                    body = self._ask(client, messages, **self._structured(schema))
                except openai.APIStatusError as error:
                    if error.status_code not in _OLD_FORM_MAY_DO:
                        raise
                    options = {"max_tokens": self.max_output_tokens, **self._sampling()}
                    body = self._ask(client, _in_words(messages, schema), **options)
            except openai.APIStatusError as error:
                return self._refused(error)
            except openai.APITimeoutError as error:
                raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
            except openai.OpenAIError as error:
                raise self._unavailable("could not be reached") from error
        return _read(body, _most_tokens(messages, schema))

    def stream(self, messages: Sequence[Mapping[str, str]], max_output_tokens: int) -> Iterator[str]:
        """Ask for words, piece by piece, as ``protocols.Answerer``.

        *messages* and errors as of ``complete``.
        """
        openai = _load_client()
        with self._client(openai) as client:
            try:
                try:
                    answer = self._open(client, messages, max_completion_tokens=max_output_tokens)
                except openai.APIStatusError as error:
                    if error.status_code not in _OLD_FORM_MAY_DO:
                        raise
                    answer = self._open(client, messages, max_tokens=max_output_tokens)
            except openai.APIStatusError as error:
                refused = self._refused(error)
                raise ModelRefusedError(f"{place(self.base_url)}: {refused.problem}") from error
            except openai.APITimeoutError as error:
                raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
            except openai.OpenAIError as error:
                raise self._unavailable("could not be reached") from error
            with answer:
                yield from self._words(answer)

    def _client(self, openai: Any) -> Any:
        try:
            # The key and the memories are for the server that was named.
            http = http_client(openai.DefaultHttpxClient, self.base_url, follow_redirects=False)
        except InputError as error:
            raise ModelRefusedError(f"{place(self.base_url)} is not asked: {error}") from error
        return openai.OpenAI(
            api_key=self.api_key or "none",
            base_url=self.base_url,
            timeout=self.timeout_seconds,
            max_retries=self.max_retries,
            http_client=http,
        )

    def _open(self, client: Any, messages: Sequence[Mapping[str, str]], **options: Any) -> Any:
        create = client.chat.completions.create
        return create(
            model=self.model,
            messages=[dict(message) for message in messages],
            stream=True,
            **self._sampling(),
            **options,
        )

    def _words(self, answer: Any) -> Iterator[str]:
        """The words of a stream, with a limit on its time and size, and on how it may end."""
        end, size, ending = self.timer() + self.timeout_seconds, 0, None
        for chunk in self._events(answer):
            for choice in (getattr(chunk, "choices", None) or ())[:1]:
                said = getattr(getattr(choice, "delta", None), "content", None)
                ending = getattr(choice, "finish_reason", None) or ending
                if isinstance(said, str) and said:
                    size += len(said)
                    yield said
            if size > LARGEST_BODY:
                raise self._unavailable(f"sent more than {LARGEST_BODY:,} characters")
            if self.timer() > end:
                raise self._unavailable(f"did not end its answer within {self.timeout_seconds:g} s")
        if ending is None:
            raise self._unavailable("broke off in the middle of an answer")
        if ending == "content_filter":
            raise self._unavailable("refused to answer this question")

    def _events(self, answer: Any) -> Iterator[Any]:
        origin = Origin(f"an answer of {place(self.base_url)}", "ask the model again in the child process")
        chunks = iter(answer)
        while True:
            origin.check()
            try:
                chunk = next(chunks)
            except StopIteration:
                return
            except Exception as error:
                # Anything: the errors of the client's transport have no base that its versions share.
                raise self._unavailable("broke off in the middle of an answer") from error
            yield chunk

    def _structured(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        wanted = {"name": "answer", "strict": True, "schema": dict(schema)}
        return {
            "response_format": {"type": "json_schema", "json_schema": wanted},
            "max_completion_tokens": self.max_output_tokens,
            **self._sampling(),
        }

    def _sampling(self) -> dict[str, float]:
        return {} if self.temperature is None else {"temperature": self.temperature}

    def _ask(self, client: Any, messages: Sequence[Mapping[str, str]], **options: Any) -> bytes:
        """The body of the answer, read with a limit on its time and size."""
        call = client.chat.completions.with_streaming_response.create
        with call(model=self.model, messages=[dict(message) for message in messages], **options) as response:
            return read_body(
                self._chunks(response),
                end=self.timer() + self.timeout_seconds,
                seconds=self.timeout_seconds,
                timer=self.timer,
                unavailable=self._unavailable,
            )

    def _chunks(self, response: Any) -> Iterator[bytes]:
        try:
            yield from response.iter_bytes()
        except Exception as error:
            # Anything: the errors of the client's transport have no base that its versions share.
            raise self._unavailable("broke off in the middle of an answer") from error

    def _refused(self, error: Any) -> Completion:
        """What a status code above 399 means."""
        status = int(error.status_code)
        said = next(
            (code for code in (error.code, error.type) if isinstance(code, str) and _CODE.match(code)), ""
        )
        reason = f"{status} {said}".strip()
        if status in _ABOUT_THE_REQUEST:
            return Completion(None, 0, 0, f"the request was refused ({reason})")
        if status in PASSING or status >= 500:
            raise self._unavailable(f"is not able to answer now ({reason})") from error
        raise ModelRefusedError(
            f"{place(self.base_url)} refused to serve model {self.model!r} ({reason}); check the API key, "
            "the model's name and the base URL. The memories stay as they are and go on waiting"
        ) from error

    def _unavailable(self, what: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"{place(self.base_url)} {what}; check that it runs and can be reached, then try again"
        )


def _load_client() -> Any:
    try:
        # Optional and slow to load: only a call needs it.
        return importlib.import_module("openai")
    except ImportError as error:
        raise MissingExtraError(
            "a language model needs the package openai; install it with: pip install 'simonides[llm]'"
        ) from error


def _most_tokens(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> int:
    written = json.dumps([*messages, schema], ensure_ascii=False)
    return len(written.encode("utf-8", "replace")) + _FRAME_TOKENS


def _in_words(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The same request with the schema as a part of the instruction."""
    first, *rest = (dict(message) for message in messages)
    wanted = json.dumps(schema, separators=(",", ":"))
    first["content"] += f"\n\nAnswer with one JSON object of this schema and with nothing else:\n{wanted}"
    return [first, *rest]


def _read(body: bytes, most_input: int) -> Completion:
    """The object in an answer's body. Token counts that make no sense become the most that they can be."""
    answer = _object(body.decode("utf-8", "replace"))
    usage = answer.get("usage") if answer else None
    usage = usage if isinstance(usage, dict) else {}
    asked, answered = (
        _count(usage.get("prompt_tokens"), most_input),
        _count(usage.get("completion_tokens"), len(body)),
    )
    choices = answer.get("choices") if answer else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Completion(None, asked, answered, "the answer does not follow the chat-completions protocol")
    ending = choice.get("finish_reason")
    if message.get("refusal") or ending == "content_filter":
        return Completion(None, asked, answered, "the model refused to answer")
    if ending == "length":
        return Completion(None, asked, answered, "the answer was cut off at its longest allowed length")
    content = message.get("content")
    # Models that think aloud do so before the answer, in tags.
    parsed = _object(content.rpartition("</think>")[2]) if isinstance(content, str) else None
    return Completion(parsed, asked, answered, "" if parsed is not None else "the answer is no JSON object")


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object in *text*; words or a code fence around it do not matter."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _count(reported: object, otherwise: int) -> int:
    if isinstance(reported, int) and not isinstance(reported, bool) and 0 <= reported <= _MOST_TOKENS:
        return reported
    return otherwise
