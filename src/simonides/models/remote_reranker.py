"""Ask a server to score a query and texts (``protocols.Reranker``); speaks four widely used dialects.

    tei     POST /rerank      {query, texts}                  → [{index, score}]
    cohere  POST /v2/rerank   {model, query, documents}       → {results: [{index, relevance_score}]}
    jina    POST /v1/rerank   {model, query, documents}       → {results: [{index, relevance_score}]}
    voyage  POST /v1/rerank   {model, query, documents}       → {data: [{index, relevance_score}]}

Texts go in batches of 128, several at once, and at most ``concurrency`` requests are under way for all
threads together. A server that failed is not asked again for ``pause_seconds``, so that a recall behind it is
not late each time. Every answer is read with a limit on its time and size, and must score each text exactly
once; a score that is no number is NaN. Whatever goes wrong is an error with the reason in it, and the recall
goes on in the fused order. Messages never repeat what the server said: it may quote a memory.
Queries and memories leave this machine.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError, ModelRefusedError, ModelUnavailableError
from simonides.http_clients import url_opener
from simonides.models.server import PASSING, Health, is_address, place, read_body

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.models.catalogue import Gives

Dialect = Literal["tei", "cohere", "jina", "voyage"]

BATCH = 128
"""Texts of one request (HI-05)."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a dialect asks and answers."""

    path: str
    texts: str
    results: str
    score: str
    gives: Gives
    more: Mapping[str, object]


_FORMS: Mapping[Dialect, _Form] = {
    "tei": _Form("/rerank", "texts", "", "score", "probabilities", {"raw_scores": False, "truncate": True}),
    "cohere": _Form("/v2/rerank", "documents", "results", "relevance_score", "unknown", {}),
    "jina": _Form("/v1/rerank", "documents", "results", "relevance_score", "unknown", {}),
    "voyage": _Form("/v1/rerank", "documents", "data", "relevance_score", "unknown", {"truncation": True}),
}
_CHUNK = 64 * 1024


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follows none: the key and the memories are for the server that was named."""


@dataclass(frozen=True, slots=True)
class RemoteReranker:
    """A reranker behind HTTP. Thread-safe.

    Attributes:
        dialect: how the server is spoken to.
        base_url: of the server, without the dialect's path.
        model: its name there; a ``tei`` server has one model and needs no name.
        api_key: sent as a bearer token when not empty.
        timeout_seconds: of one call of ``score``, above 0.
        concurrency: requests under way at most, from 1.
        pause_seconds: for how long a server that failed is left alone, from 0.
        timer: seconds on a clock that never goes back.
    """

    dialect: Dialect
    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 5.0
    concurrency: int = 4
    pause_seconds: float = 30.0
    timer: Callable[[], float] = time.monotonic
    _health: Health = field(init=False, repr=False, compare=False)
    _opener: urllib.request.OpenerDirector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dialect not in _FORMS:
            raise InputError("dialect", f"{self.dialect!r} is not known; valid: {', '.join(_FORMS)}")
        if not is_address(self.base_url):
            raise InputError(
                "base_url", f"{self.base_url!r} is no address; give one with http:// or https://"
            )
        if self.dialect != "tei" and not self.model:
            raise InputError("model", f"is missing; a {self.dialect} server has several")
        if not self.timeout_seconds > 0:
            raise InputError("timeout_seconds", f"{self.timeout_seconds} is not above 0")
        health = Health(self.base_url, self.concurrency, self.pause_seconds, self.timer)
        object.__setattr__(self, "_health", health)
        object.__setattr__(self, "_opener", url_opener(self.base_url, _NoRedirect))

    @property
    def name(self) -> str:
        """The model's name, else the dialect and the server."""
        return self.model or f"{self.dialect} at {place(self.base_url)}"

    @property
    def gives(self) -> Gives:
        """The scale of the scores, as the dialect has it."""
        return _FORMS[self.dialect].gives

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order; NaN where the server gave no number.

        Raises:
            ModelUnavailableError: there is no answer now, or not one score for each text.
            ModelRefusedError: the server refuses the key, the address or the model's name.
        """
        end = self.timer() + self.timeout_seconds
        return self._health.in_batches(
            texts, BATCH, "simonides-rerank", lambda some: self._ask(query, some, end)
        )

    def _ask(self, query: str, texts: list[str], end: float) -> list[float]:
        form = _FORMS[self.dialect]
        wanted = {"query": query, form.texts: texts, **form.more}
        if self.model:
            wanted["model"] = self.model
        with self._health.slot(end):
            body = self._post(form.path, json.dumps(wanted).encode("utf-8", "replace"), end)
        return self._read(body, form, len(texts))

    def _post(self, path: str, data: bytes, end: float) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = urllib.request.Request(self.base_url.rstrip("/") + path, data, headers, method="POST")  # noqa: S310 - the scheme was checked
        left = end - self.timer()
        if left <= 0:
            raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s")
        try:
            with self._opener.open(request, timeout=left) as response:
                return read_body(
                    iter(lambda: response.read1(_CHUNK), b""),
                    end=end,
                    seconds=self.timeout_seconds,
                    timer=self.timer,
                    unavailable=self._unavailable,
                )
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in PASSING or error.code >= 500:
                raise self._unavailable(f"is not able to answer now ({error.code})") from error
            raise ModelRefusedError(
                f"{place(self.base_url)} refused to rerank ({error.code}); check the API key, the model's "
                "name and the base URL"
            ) from error
        except TimeoutError as error:
            raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
            if isinstance(reason, str):
                raise self._no_address() from None
            raise self._unavailable(f"could not be reached ({type(reason).__name__})") from error
        except ValueError:
            raise self._no_address() from None

    def _no_address(self) -> ModelRefusedError:
        """Without the cause, which may repeat a proxy's address, and a password in it."""
        return ModelRefusedError(
            f"{place(self.base_url)} cannot be asked: its name, or HTTP_PROXY or HTTPS_PROXY, is no address; "
            "correct it"
        )

    def _read(self, body: bytes, form: _Form, count: int) -> list[float]:
        try:
            answer = json.loads(body)
            entries = answer[form.results] if form.results else answer
            found = {_whole_number(entry["index"]): _number(entry[form.score]) for entry in entries}
            given = len(entries)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._unavailable(f"gave an answer that is not in the form of {self.dialect}") from error
        if given != count or sorted(found) != list(range(count)):
            right = len(found.keys() & set(range(count)))
            raise self._unavailable(f"scored {right} of {count} texts in {given} entries, not each once")
        return [found[place] for place in range(count)]

    def _unavailable(self, what: str) -> ModelUnavailableError:
        return ModelUnavailableError(f"{place(self.base_url)} {what}")


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def _number(value: object) -> float:
    """NaN for what is no finite number, so that one bad score costs no other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return float("nan")
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return float("nan")
    return number if abs(number) != float("inf") else float("nan")
