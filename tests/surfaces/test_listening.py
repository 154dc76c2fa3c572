from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest

from simonides.surfaces.serving.listening import SWITCH_SECONDS, listen, share_fairly

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def interval() -> Iterator[float]:
    before = sys.getswitchinterval()
    yield before
    sys.setswitchinterval(before)


@pytest.mark.fault("O1")
def test_asyncio_knows_the_protocol_of_what_connects() -> None:
    with listen("127.0.0.1", 0, backlog=1) as listening:
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            # What asyncio looks at before it switches Nagle's algorithm off.
            assert accepted.proto == socket.IPPROTO_TCP
        with pytest.raises(OSError, match="in use"):
            listen(*listening.getsockname(), backlog=1)


@pytest.mark.fault("O1")
def test_a_server_shares_the_interpreter(interval: float) -> None:
    share_fairly()
    assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
    assert interval > SWITCH_SECONDS
