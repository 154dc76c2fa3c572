from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pytest

from simonides.errors import DamagedError
from simonides.index.files import FileLayer, read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILES = FileLayer()
ABOUT = {"bank": "b1", "start": 0, "note": "ü"}


def arrays() -> dict[str, NDArray[Any]]:
    return {
        "codes": np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
        "empty": np.empty(0, np.int64),
        "flat and wide": np.zeros((0, 5), np.float32),
        "bits": np.array([[1, 2**63]], np.uint64),
        "scales": np.array([0.5, -1.25, np.inf], np.float32),
        "fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        "big": np.array([1, 2, 3], ">i4"),
        "bytes": np.frombuffer(b"terms", np.uint8),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "block.arr"
    write_arrays(FILES, place, arrays(), ABOUT)
    return place


def test_arrays_come_back_with_type_shape_and_values(path: Path) -> None:
    for check in (False, True):
        found, about = read_arrays(FILES, path, check=check)
        assert about == ABOUT
        assert list(found) == sorted(arrays())
        for name, array in arrays().items():
            assert found[name].dtype == array.dtype.newbyteorder("<")
            assert found[name].shape == array.shape
            assert found[name].tolist() == array.tolist()


def test_what_was_read_cannot_be_changed(path: Path) -> None:
    found, _ = read_arrays(FILES, path)
    with pytest.raises(ValueError, match="read-only"):
        found["codes"][0] = 1


def test_arrays_lie_at_multiples_of_64_for_the_processor(path: Path) -> None:
    found, _ = read_arrays(FILES, path)
    for name, array in found.items():
        assert array.__array_interface__["data"][0] % 64 == 0 or array.size == 0, name


def test_no_arrays_are_a_file_too(tmp_path: Path) -> None:
    write_arrays(FILES, tmp_path / "a", {}, {})
    assert read_arrays(FILES, tmp_path / "a", check=True) == ({}, {})


class Given(FileLayer):
    """A file layer with one file, held in memory."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def map(self, path: Path) -> memoryview:
        return memoryview(self.body)


def flipped(body: bytes, place: int) -> Given:
    changed = bytearray(body)
    changed[place] ^= 1 << place % 8
    return Given(bytes(changed))


def test_a_flipped_bit_anywhere_is_found(path: Path) -> None:
    whole = path.read_bytes()
    plain = {name: array.tolist() for name, array in arrays().items()}
    unread, said = 0, set[str]()
    for place in range(len(whole)):
        try:
            found, about = read_arrays(flipped(whole, place), path, check=True)
        except DamagedError as error:
            said.add(str(error))
        else:
            # Only what fills the gap between two arrays may change: nobody reads it.
            unread += 1
            assert whole[place] == 0
            assert about == ABOUT
            assert {name: array.tolist() for name, array in found.items()} == plain
    assert unread == sum(-array.nbytes % 64 for array in arrays().values())
    assert all(str(path) in problem and "delete the index folder" in problem for problem in said)


def test_a_flipped_bit_of_the_header_is_found_without_reading_the_arrays(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(whole.rindex(b"}") + 1):
        with pytest.raises(DamagedError):
            read_arrays(flipped(whole, place), path)


@pytest.mark.parametrize("check", [False, True])
def test_every_shorter_file_is_refused(path: Path, check: bool) -> None:
    whole = path.read_bytes()
    last_array = whole.rindex(b"terms") + len(b"terms")
    for length in [*range(40), *range(40, last_array, 7), last_array - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedError, match="delete the index folder"):
            read_arrays(FILES, path, check=check)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_arrays(FILES, tmp_path / "a")


@pytest.mark.parametrize(
    "body",
    [
        b"SIMARR01",
        b"SIMARR01" + b"\xff" * 24,
        b"SIMARR01" + (2).to_bytes(8, "little") + crc32(b"[]").to_bytes(8, "little") + b"[]",
        b"\x93NUMPY\x01\x00" + b"x" * 80,
        json.dumps({"arrays": {}, "about": {}}).encode(),
        b"PK\x03\x04" + b"\0" * 60,
    ],
)
def test_other_files_are_refused(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "a").write_bytes(body)
    with pytest.raises(DamagedError):
        read_arrays(FILES, tmp_path / "a")


class Bomb:
    """Writes a marker when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self.marker).touch, (self.marker,))


@pytest.mark.fault("X5")
def test_a_pickle_is_refused_and_does_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    bomb = pickle.dumps(Bomb(marker))
    pickle.loads(bomb)
    assert marker.exists(), "the bomb must work for this test to mean anything"
    marker.unlink()
    (tmp_path / "a").write_bytes(bomb)
    with pytest.raises(DamagedError):
        read_arrays(FILES, tmp_path / "a", check=True)
    object_array = tmp_path / "b"
    with object_array.open("wb") as file:
        np.save(file, np.array([Bomb(marker)]), allow_pickle=True)
    with pytest.raises(DamagedError):
        read_arrays(FILES, object_array, check=True)
    assert not marker.exists()
