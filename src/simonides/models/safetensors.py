"""Read a ``.safetensors`` file with numpy alone.

Form of the file: 8 bytes little-endian length of the header, the header as JSON (name → dtype, shape, byte
offsets), then the raw tensors. Nothing in it can be executed. Source: the format's published description.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import ModelDamagedError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# The format's own limit; a larger one is a damaged or hostile file, and is not parsed.
_LARGEST_HEADER = 100_000_000


def read_float_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Every floating-point tensor of a file, as float32; integer tensors (such as position ids) are left out.

    Args:
        path: a ``.safetensors`` file with tensors of type F32, F16 or BF16.

    Returns:
        name → array of the stored shape.

    Raises:
        ModelDamagedError: the file is not what its header says.
    """
    data = path.read_bytes()
    try:
        start = _body_start(data)
        header, body = json.loads(data[8:start]), memoryview(data)[start:]
        return {
            name: _as_float32(body[slice(*entry["data_offsets"])], entry["dtype"]).reshape(entry["shape"])
            for name, entry in sorted(header.items())
            if name != "__metadata__" and entry["dtype"] in {"F32", "F16", "BF16"}
        }
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ModelDamagedError(
            f"{path} is not a readable safetensors file ({error}); fetch it again"
        ) from error


def _body_start(data: bytes) -> int:
    (length,) = struct.unpack_from("<Q", data)
    if length > min(_LARGEST_HEADER, len(data) - 8):
        raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
    return 8 + int(length)


def _as_float32(raw: memoryview, dtype: str) -> NDArray[np.float32]:
    if dtype == "F32":
        return np.frombuffer(raw, dtype="<f4")
    if dtype == "F16":
        return np.frombuffer(raw, dtype="<f2").astype(np.float32)
    # bfloat16 is the upper half of a float32.
    return (np.frombuffer(raw, dtype="<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)
