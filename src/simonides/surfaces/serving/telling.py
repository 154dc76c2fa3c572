"""What a caller may know of an error whose message names a place that is the operator's to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.errors import ModelUnavailableError

if TYPE_CHECKING:
    from simonides.errors import ModelError


def told_of_model(error: ModelError) -> str:
    """Of a model: no address of its server, and no folder of its files."""
    if isinstance(error, ModelUnavailableError):
        return "the model does not answer; try again later, and see the server's log for the reason"
    return "the model cannot be used as it is set up; the server's log says why, and what to do"
