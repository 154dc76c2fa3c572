"""What schemathesis needs to know beside the document: how a stream of lines is written."""

from __future__ import annotations

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """A body of lines is text already."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def filter_headers(_: Any, headers: dict[str, Any] | None) -> bool:
    """HTTP takes blanks around a value away, so a value that is wrong only by them cannot be told."""
    return all(str(value) == str(value).strip(" \t") for value in (headers or {}).values())


@schemathesis.hook
def map_path_parameters(_: Any, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Most requests are about the bank that is there."""
    if parameters and "bank" in parameters and len(parameters["bank"]) % 4 != 2:
        return {**parameters, "bank": "default"}
    return parameters
