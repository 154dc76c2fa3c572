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
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from simonides.errors import InputError, ModelRefusedError, ModelUnavailableError

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
_LARGEST_BODY = 4 * 1024 * 1024
_CHUNK = 64 * 1024
_LATER = frozenset({408, 409, 425, 429})


@dataclass(slots=True)
class _Health:
    """What is remembered of the server between calls."""

    down_until: float = float("-inf")
    problem: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


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
    _health: _Health = field(default_factory=_Health, init=False, repr=False, compare=False)
    _slots: list[threading.BoundedSemaphore] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.dialect not in _FORMS:
            raise InputError("dialect", f"{self.dialect!r} is not known; valid: {', '.join(_FORMS)}")
        if not _is_address(self.base_url):
            raise InputError(
                "base_url", f"{self.base_url!r} is no address; give one with http:// or https://"
            )
        if self.dialect != "tei" and not self.model:
            raise InputError("model", f"is missing; a {self.dialect} server has several")
        if not self.timeout_seconds > 0:
            raise InputError("timeout_seconds", f"{self.timeout_seconds} is not above 0")
        if self.concurrency < 1:
            raise InputError("concurrency", f"{self.concurrency} is below 1")
        if not self.pause_seconds >= 0:
            raise InputError("pause_seconds", f"{self.pause_seconds} is below 0")
        self._slots.append(threading.BoundedSemaphore(self.concurrency))

    @property
    def name(self) -> str:
        """The model's name, else the dialect and the server."""
        return self.model or f"{self.dialect} at {self._place()}"

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
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        if not texts:
            return []
        end = self.timer() + self.timeout_seconds
        self._check_health()
        batches = [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        try:
            if len(batches) == 1:
                scored = [self._ask(query, batches[0], end)]
            else:
                with ThreadPoolExecutor(min(self.concurrency, len(batches)), "simonides-rerank") as pool:
                    scored = list(pool.map(lambda batch: self._ask(query, batch, end), batches))
        except (ModelUnavailableError, ModelRefusedError) as error:
            with self._health.lock:
                self._health.down_until = self.timer() + self.pause_seconds
                self._health.problem = str(error)
            raise
        return [score for scores in scored for score in scores]

    def _check_health(self) -> None:
        with self._health.lock:
            left = self._health.down_until - self.timer()
            if left > 0:
                raise ModelUnavailableError(
                    f"{self._place()} failed a moment ago and is asked again in {left:.0f} s "
                    f"({self._health.problem})"
                )

    def _ask(self, query: str, texts: list[str], end: float) -> list[float]:
        form = _FORMS[self.dialect]
        wanted = {"query": query, form.texts: texts, **form.more}
        if self.model:
            wanted["model"] = self.model
        (slots,) = self._slots
        if not slots.acquire(timeout=max(0.0, end - self.timer())):
            raise self._unavailable(f"is busy: {self.concurrency} requests are under way")
        try:
            body = self._post(form.path, json.dumps(wanted).encode("utf-8", "replace"), end)
        finally:
            slots.release()
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
            with urllib.request.urlopen(request, timeout=left) as response:  # noqa: S310 - same
                return self._whole(response, end)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _LATER or error.code >= 500:
                raise self._unavailable(f"is not able to answer now ({error.code})") from error
            raise ModelRefusedError(
                f"{self._place()} refused to rerank ({error.code}); check the API key, the model's name and "
                "the base URL"
            ) from error
        except TimeoutError as error:
            raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._unavailable(f"gave no answer within {self.timeout_seconds:g} s") from error
            raise self._unavailable(f"could not be reached ({type(reason).__name__})") from error

    def _whole(self, response: Any, end: float) -> bytes:
        """The body, read piece by piece: a server that drips bytes would never time out otherwise."""
        body = bytearray()
        while piece := response.read1(_CHUNK):
            body += piece
            if len(body) > _LARGEST_BODY:
                raise self._unavailable(f"sent more than {_LARGEST_BODY:,} bytes")
            if self.timer() > end:
                raise self._unavailable(f"did not end its answer within {self.timeout_seconds:g} s")
        return bytes(body)

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
        return ModelUnavailableError(f"{self._place()} {what}")

    def _place(self) -> str:
        """The server, without a password that its address may hold."""
        url = urlsplit(self.base_url)
        return f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}"


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


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
