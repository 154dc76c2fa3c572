"""From answers to responses: JSON, lines of JSON, files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from simonides.records.json_ready import finite
from simonides.surfaces.operations.table import LINES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import IO

JSON = "application/json"
_PART = 256 * 1024


def to_json(answer: object) -> bytes:
    """JSON in UTF-8; a number that JSON cannot hold becomes ``null``."""
    return json.dumps(finite(answer), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def json_response(written: bytes) -> Response:
    """A whole answer, as ``to_json`` wrote it."""
    return Response(written, media_type=JSON)


def lines_response(lines: AsyncIterator[Mapping[str, Any]]) -> Response:
    """One object a line, sent as they come."""

    async def written() -> AsyncIterator[bytes]:
        async for line in lines:
            yield to_json(line) + b"\n"

    return StreamingResponse(written(), media_type=LINES)


def file_response(file: IO[bytes], media: str, headers: Mapping[str, str]) -> Response:
    """What a file holds, read part by part; the file is closed afterwards."""
    size = file.seek(0, 2)
    file.seek(0)

    def parts() -> Any:
        with file:
            while part := file.read(_PART):
                yield part

    # Starlette reads a plain iterator in threads of its own.
    return StreamingResponse(parts(), media_type=media, headers={**headers, "Content-Length": str(size)})
