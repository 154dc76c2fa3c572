"""Write an ONNX file: the few protocol-buffer messages that a model needs, and nothing else.

A protocol-buffer message is a row of fields, each ``(number << 3 | wire type)`` and then its value. Writing
the messages used here takes fewer lines than driving a general library, needs no package when a model is
built, and gives the same bytes on every machine. Field numbers: the schema of ONNX 1.16 (IR version 9,
operator set 20), which every supported onnxruntime reads.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        """Append a node with one output and return the output's name.

        Args:
            operator: name in the standard operator set.
            inputs: names of values made earlier.
            attributes: as the operator defines them.
        """
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
