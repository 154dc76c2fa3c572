"""From a server's problem details back to the errors that a bank raises here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.errors import (
    ConflictError,
    EmbedderMismatchError,
    InputError,
    MissingExtraError,
    ModelDamagedError,
    ModelMissingError,
    ModelRefusedError,
    ModelUnavailableError,
    NotFoundError,
    SimonidesError,
    StoreError,
    UnavailableError,
    UnknownNameError,
)

if TYPE_CHECKING:
    import httpx

_FULL = frozenset({429, 503})
_BY_NAME = {
    each.__name__: each
    for each in (
        ConflictError,
        EmbedderMismatchError,
        MissingExtraError,
        ModelDamagedError,
        ModelMissingError,
        ModelRefusedError,
        ModelUnavailableError,
        NotFoundError,
    )
}
_REFUSED = frozenset({401, 403, 421})


def error_of(response: httpx.Response) -> SimonidesError:
    """What a response above 399 says."""
    told = _problem(response)
    detail, field, status = str(told.get("detail", "")), told.get("field"), response.status_code
    if isinstance(field, str):
        valid = told.get("valid")
        words = detail.removeprefix(f"{field}: ")
        if isinstance(valid, list):
            return _unknown(field, words, valid)
        return InputError(field, words)
    said = detail or f"the server answered {status}"
    if status in _REFUSED:
        return SimonidesError(f"refused: {said}")
    named = _BY_NAME.get(str(told.get("error")))
    if named is not None:
        return named(said)
    later = response.headers.get("retry-after")
    more = f"; try again after {later} s" if later else ""
    return (UnavailableError if status in _FULL else StoreError)(f"{said}{more}")


def _unknown(field: str, problem: str, valid: list[Any]) -> UnknownNameError:
    error = UnknownNameError(field, field, map(str, valid))
    # In the server's words, which offer the nearest name already.
    error.args = (field, problem)
    error.problem = problem
    return error


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
