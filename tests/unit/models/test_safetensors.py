from __future__ import annotations

import json
import pickle
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import ModelDamagedError
from simonides.models.onnx_file import read_float_tensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_float_types_become_float32_and_integers_are_left_out(
    tmp_path: Path, make_safetensors: Callable[..., bytes]
) -> None:
    half = np.array([1.5, -2.0], dtype="<f2")
    # 1.5 and -2.0 as bfloat16: the upper 16 bits of the float32.
    brain = np.array([0x3FC0, 0xC000], dtype="<u2")
    path = tmp_path / "x.safetensors"
    path.write_bytes(
        make_safetensors(
            {
                "full": ("F32", (1, 2), np.array([1.5, -2.0], dtype="<f4").tobytes()),
                "half": ("F16", (2,), half.tobytes()),
                "brain": ("BF16", (2, 1), brain.tobytes()),
                "ids": ("I64", (1,), np.array([7], dtype="<i8").tobytes()),
            }
        )
    )

    tensors = read_float_tensors(path)

    assert sorted(tensors) == ["brain", "full", "half"]
    assert {name: array.shape for name, array in tensors.items()} == {
        "full": (1, 2),
        "half": (2,),
        "brain": (2, 1),
    }
    for array in tensors.values():
        assert array.dtype == np.float32
        assert array.ravel().tolist() == [1.5, -2.0]


@pytest.mark.fault("X5")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01\x02",
        pickle.dumps({"a": 1}),
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 9) + b'{"a": {}}',
        struct.pack("<Q", 9) + b'{"a": 123',
    ],
    ids=["empty", "short", "pickle", "huge header", "a list", "no fields", "cut header"],
)
def test_a_file_that_is_not_safetensors_is_damaged(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)

    with pytest.raises(ModelDamagedError, match=r"x\.safetensors is not a readable safetensors file"):
        read_float_tensors(path)


def test_a_cut_body_is_damaged(tmp_path: Path) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))

    with pytest.raises(ModelDamagedError):
        read_float_tensors(path)
