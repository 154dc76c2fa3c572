"""Reading a dataset's original JSON file, with errors that say where to get it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def read_json(path: Path, origin: str) -> Any:
    """The parsed content of *path*.

    Args:
        path: a JSON file in UTF-8.
        origin: where the original can be had, for the error.

    Raises:
        InputError: the file is missing, cannot be read or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("data", f"{path} is not there; get it from {origin}") from None
    except OSError as error:
        raise InputError(
            "data", f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except ValueError as error:
        raise InputError(
            "data", f"{path} is not JSON in UTF-8 ({error}); get it again from {origin}"
        ) from error


def wrong_form(path: Path, expected: str, error: Exception) -> InputError:
    """The error for a file that is JSON but not of the *expected* form."""
    problem = f"{path} does not have the form of {expected}: {type(error).__name__}: {error}"
    return InputError("data", f"{problem}; use the original file, unchanged")
