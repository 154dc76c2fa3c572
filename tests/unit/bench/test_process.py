"""The talk with a peer's process, by a fake peer under this very Python."""

from __future__ import annotations

import sys
from array import array
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bench.peers.environments import PeerUnavailableError
from bench.peers.lines import Text, hear, pack_vector, unpack_vector
from bench.peers.process import PeerProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULE = "tests.unit.bench.fake_peer"
TEXTS = [Text(0, "aaab"), Text(1, "bbbb", when=5.5, session="s1"), Text(2, "ünï\nçødé 🙂 b")]


def letters(texts: Sequence[str]) -> list[array[float]]:
    """How many a and b a text has."""
    return [array("f", (text.count("a"), text.count("b"))) for text in texts]


def start(name: str, folder: Path, **options: Any) -> PeerProcess:
    return PeerProcess(Path(sys.executable), (MODULE, name), letters, folder, **options)


def test_a_peer_in_its_own_process_keeps_encodes_and_ranks(tmp_path: Path) -> None:
    with start("FakePeer", tmp_path) as peer:
        peer.add(TEXTS[:2])
        peer.add(TEXTS[2:])
        assert peer.ask("b", 2) == [1, 0]
        assert peer.ask("a", 5) == [0, 1, 2]
    # What it printed went to its log, and its home is the folder that it was given.
    assert (tmp_path / "peer.log").read_text("utf-8").splitlines()[0] == "welcome to the fake peer"
    assert (tmp_path / "home.txt").read_text("utf-8") == str(tmp_path)


def test_many_texts_go_over_in_batches_and_all_arrive(tmp_path: Path) -> None:
    with start("FakePeer", tmp_path) as peer:
        peer.add([Text(place, "b" * (place % 7)) for place in range(600)])
        found = peer.ask("b", 600)
        assert sorted(found) == list(range(600))
        assert found[0] == 6
    assert (tmp_path / "peer.log").read_text("utf-8").count("adding") == 3


def test_texts_arrive_whole_and_an_error_comes_back_in_one_line(tmp_path: Path) -> None:
    with start("Recorder", tmp_path) as peer:
        peer.add(TEXTS)
        with pytest.raises(PeerUnavailableError, match=r"^RuntimeError: b 7 ") as caught:
            peer.ask("b", 7)
    said = str(caught.value)
    assert all(repr(text) in said for text in TEXTS)
    assert "\n" not in said


def test_a_peer_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    with pytest.raises(PeerUnavailableError, match="ImportError: no engine here"):
        start("Unmade", tmp_path)


def test_a_peer_that_dies_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with start("Dying", tmp_path) as peer, pytest.raises(PeerUnavailableError, match="about to die"):
        peer.ask("b", 1)


def test_a_peer_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    with (
        start("Sleeping", tmp_path, answer_seconds=3) as peer,
        pytest.raises(PeerUnavailableError, match="no answer within 3 seconds"),
    ):
        peer.ask("b", 1)


def test_a_vector_keeps_every_bit_on_the_line() -> None:
    vector = array("f", (0.1, -2.5, 1e-30, 3.4e38))
    assert unpack_vector(pack_vector(vector)) == vector


def test_a_line_that_is_no_object_is_refused_and_the_end_is_told() -> None:
    assert hear(StringIO("")) is None
    with pytest.raises(ValueError, match="JSON object"):
        hear(StringIO("[1]\n"))
    with pytest.raises(ValueError, match="Expecting value"):
        hear(StringIO("Loading model...\n"))
