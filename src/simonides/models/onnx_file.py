"""Write an ONNX file, and read a ``.safetensors`` file, with numpy alone.

ONNX: the few protocol-buffer messages that a model needs. A message is a row of fields, each ``(number << 3 |
wire type)`` and then its value. This is shorter than driving a general library, needs no package when a model
is built, and gives the same bytes on every machine. Field numbers: the schema of ONNX 1.16 (IR version 9,
operator set 20), which every supported onnxruntime reads.

``.safetensors``: 8 bytes little-endian length of the header, the header as JSON (name → dtype, shape, byte
offsets), then the raw tensors. Nothing in it can be executed. Source: the format's published description.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import ModelDamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


_IR_VERSION = 9
_OPERATOR_SET = 20

_FLOAT, _UINT8, _INT8, _INT64 = 1, 2, 3, 7
_ELEMENT = {"float32": _FLOAT, "uint8": _UINT8, "int8": _INT8, "int64": _INT64}

Attribute = int | float | tuple[int, ...]
"""What a node's attribute may hold."""


class Graph:
    """An ONNX graph under construction; nodes run in the order in which they were added.

    Names of values are made here: a caller only passes on what :meth:`add` and :meth:`constant` return.
    """

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._made = 0

    def constant(self, array: NDArray[np.generic]) -> str:
        """Store an array (float32, uint8, int8 or int64, any shape) and return its name."""
        name = self._name()
        contiguous = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        dimensions = b"".join(_integer(1, size) for size in array.shape)
        tensor = dimensions + _integer(2, _ELEMENT[array.dtype.name]) + _bytes(8, name)
        self._constants.append(tensor + _bytes(9, contiguous.tobytes()))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Attribute) -> str:
        """Append a node with one output and return the output's name."""
        return self.add_many(operator, inputs, 1, **attributes)[0]

    def add_many(
        self, operator: str, inputs: Sequence[str], outputs: int, **attributes: Attribute
    ) -> tuple[str, ...]:
        """Append a node with several *outputs* and return their names."""
        names = tuple(self._name() for _ in range(outputs))
        node = b"".join(_bytes(1, name) for name in inputs) + b"".join(_bytes(2, name) for name in names)
        node += _bytes(4, operator)
        node += b"".join(_bytes(5, _attribute(key, value)) for key, value in sorted(attributes.items()))
        self._nodes.append(node)
        return names

    def model(
        self,
        inputs: Mapping[str, tuple[int | str, ...]],
        outputs: Mapping[str, tuple[str, tuple[int | str, ...]]],
    ) -> bytes:
        """The finished ONNX file.

        Args:
            inputs: name → shape of each int64 input; a word stands for a size that varies.
            outputs: public name → (name of the value, shape) of each float32 output.
        """
        renames = [
            _bytes(1, value) + _bytes(2, name) + _bytes(4, "Identity") for name, (value, _) in outputs.items()
        ]
        graph = b"".join(_bytes(1, node) for node in (*self._nodes, *renames)) + _bytes(2, "encoder")
        graph += b"".join(_bytes(5, tensor) for tensor in self._constants)
        graph += b"".join(_bytes(11, _value(name, _INT64, shape)) for name, shape in inputs.items())
        graph += b"".join(_bytes(12, _value(name, _FLOAT, shape)) for name, (_, shape) in outputs.items())
        operators = _bytes(1, "") + _integer(2, _OPERATOR_SET)
        return _integer(1, _IR_VERSION) + _bytes(2, "simonides") + _bytes(7, graph) + _bytes(8, operators)

    def _name(self) -> str:
        self._made += 1
        return f"v{self._made}"


def _value(name: str, element: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = (_bytes(2, size) if isinstance(size, str) else _integer(1, size) for size in shape)
    tensor = _integer(1, element) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: Attribute) -> bytes:
    # The last field states which kind of value the attribute holds.
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _integer(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _integer(3, value) + _integer(20, 2)
    return _bytes(1, name) + b"".join(_integer(8, item) for item in value) + _integer(20, 7)


def _integer(number: int, value: int) -> bytes:
    # Negative numbers are written as 64-bit two's complement.
    return _varint(number << 3) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _bytes(number: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# The format's own limit; a larger one is a damaged or hostile file, and is not parsed.
_LARGEST_HEADER = 100_000_000


def read_float_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Floating-point tensors (F32, F16, BF16) of a ``.safetensors`` file by name, as float32, stored shape.

    Integer tensors (such as position ids) are left out. ``ModelDamagedError`` when the file is not what its
    header says.
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
