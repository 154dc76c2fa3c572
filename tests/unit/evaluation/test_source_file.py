from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import read_json

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = "https://example.org/words"


def test_json_is_parsed(tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    file.write_text('["Zoë"]', encoding="utf-8")
    assert read_json(file, ORIGIN) == ["Zoë"]


def test_a_missing_file_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not there; get it from https://example\.org/words"):
        read_json(tmp_path / "words.json", ORIGIN)


@pytest.mark.parametrize("content", [b"", b'["cut', b"\xff\xfe", b"<html></html>"])
def test_a_file_that_is_not_json_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "words.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is not JSON in UTF-8") as caught:
        read_json(file, ORIGIN)
    assert str(file) in str(caught.value)


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_json(tmp_path, ORIGIN)
