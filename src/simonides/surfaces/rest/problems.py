"""Errors as problem details (RFC 9457): what is wrong, where, and what to do."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from simonides.errors import (
    ConflictError,
    EmbedderMismatchError,
    InputError,
    MissingExtraError,
    ModelError,
    NotFoundError,
    ReplacedError,
    SimonidesError,
    StoreError,
    UnavailableError,
    UnknownNameError,
)
from simonides.surfaces.serving.busy import BusyError
from simonides.surfaces.serving.dispatching import GoneError, TooSlowError
from simonides.surfaces.serving.grants import ForbiddenError
from simonides.surfaces.serving.telling import told_of_model

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger("simonides.server")

MEDIA_TYPE = "application/problem+json"
_GONE = 499
"""Nobody reads it; it stands in the metrics."""


class RefusedError(SimonidesError):
    """The request itself is refused, whatever it asks for."""

    def __init__(self, status: int, problem: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.headers = dict(headers or {})


class MalformedError(InputError):
    """The request does not fit the published schema.

    Attributes:
        valid: names that would do, where one is unknown.
    """

    def __init__(self, field: str, problem: str, valid: tuple[str, ...] = ()) -> None:
        super().__init__(field, problem)
        self.valid = valid


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """A response that tells what is wrong."""
    title = HTTPStatus(status).phrase if status != _GONE else "Client Closed Request"
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    try:
        said = json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A lone surrogate from the caller comes back as an escape, which JSON allows and UTF-8 does not.
        said = json.dumps(body).encode()
    return Response(said, status, dict(headers or {}), MEDIA_TYPE)


def problem_of(error: Exception) -> Response:
    """The response for an error; of a fault of the server it tells no more than that."""
    if isinstance(error, RefusedError):
        return problem(error.status, str(error), headers=error.headers)
    if isinstance(error, BusyError):
        crowded = HTTPStatus.TOO_MANY_REQUESTS if error.yours else HTTPStatus.SERVICE_UNAVAILABLE
        return problem(crowded, str(error), headers={"Retry-After": str(error.retry_after)})
    if isinstance(error, InputError):
        return _of_input(error)
    for kinds, status in _STATUSES:
        if isinstance(error, kinds):
            headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
            return problem(status, str(error), headers=headers, error=type(error).__name__)
    if isinstance(error, UnavailableError) and isinstance(error.__cause__, OSError):
        # What the disk refused, told by the storage in its own words, which name the place.
        error = error.__cause__
    if isinstance(error, OSError | ModelError):
        return _of_environment(error)
    if isinstance(error, SimonidesError):
        # Its message says where and what to do; a traceback helps against faults of the program alone.
        _log.error("a request failed: %s: %s", type(error).__name__, error)
    else:
        _log.error("a request failed: %s", type(error).__name__, exc_info=error)
    return _of_fault(error)


def _of_environment(error: OSError | ModelError) -> Response:
    """A full disk, a closed folder, too many open files, a model that fails: no fault of the program."""
    # With the path or the address, which are not the caller's to know.
    _log.error("a request failed: %s: %s", type(error).__name__, error)
    headers = {"Retry-After": "5"}
    if isinstance(error, ModelError):
        told = told_of_model(error)
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, told, headers=headers, error=type(error).__name__)
    why = f" ({error.strerror})" if error.strerror else ""
    detail = f"the server's disk cannot be read or written now{why}; its log names the place"
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers=headers)


def _of_fault(error: Exception) -> Response:
    if isinstance(error, UnavailableError):
        # Its message names folders of this machine, which are not the caller's to know.
        detail = "the bank cannot be read or written now; the server's log says why"
        if isinstance(error, ReplacedError):
            detail = "the bank's files were moved away or replaced on the server; it works once they are back"
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"})
    if isinstance(error, StoreError):
        detail = "the bank cannot be used; the server's log says why"
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "this is a fault of the server; its log says more")


_STATUSES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    (ForbiddenError, HTTPStatus.FORBIDDEN),
    (NotFoundError, HTTPStatus.NOT_FOUND),
    ((ConflictError, EmbedderMismatchError), HTTPStatus.CONFLICT),
    (TooSlowError, HTTPStatus.SERVICE_UNAVAILABLE),
    (GoneError, _GONE),
    (MissingExtraError, HTTPStatus.NOT_IMPLEMENTED),
)


def _of_input(error: InputError) -> Response:
    """400 where the schema says so already; 422 where only the engine can know."""
    more: dict[str, Any] = {"field": error.field}
    if isinstance(error, UnknownNameError | MalformedError) and error.valid:
        more["valid"] = list(error.valid)
    malformed = isinstance(error, MalformedError)
    return problem(
        HTTPStatus.BAD_REQUEST if malformed else HTTPStatus.UNPROCESSABLE_ENTITY, str(error), **more
    )
