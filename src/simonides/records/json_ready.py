"""A record as JSON can hold it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Any


@dataclass(frozen=True, slots=True)
class JsonReady:
    """A record whose ``to_dict`` gives its fields in order: tuples as lists, times in ISO 8601."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {field.name: json_ready(getattr(self, field.name)) for field in fields(self)}


def json_ready(value: Any) -> Any:
    """*value* of a field, records inside described by themselves."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: json_ready(held) for key, held in value.items()}
    if isinstance(value, tuple | list):
        return [json_ready(held) for held in value]
    return value


def finite(value: Any) -> Any:
    """*value* for JSON, which holds no NaN and no infinity: ``None`` in their place."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value
