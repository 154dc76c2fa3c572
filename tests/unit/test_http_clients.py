"""Every HTTP client of the package: no proxy on the way to this machine, and faults of the environment."""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import (
    InputError,
    MissingExtraError,
    ModelMissingError,
    ModelRefusedError,
    SimonidesError,
)
from simonides.http_clients import is_loopback
from simonides.models.catalogue import HubSource
from simonides.models.fetch import _download_from_hub, silent
from simonides.models.llm import LanguageModel
from simonides.models.remote_reranker import RemoteReranker
from simonides.surfaces.cli.language_model import check_offline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"]), pytest.mark.fault("N61")]

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
MESSAGES = [{"role": "system", "content": "answer"}]


@pytest.fixture(autouse=True)
def no_proxy_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Ear:
    """Listens, takes down what it is sent, and answers nothing."""

    def __init__(self, host: str) -> None:
        self._socket = socket.create_server((host, 0))
        self.port = self._socket.getsockname()[1]
        self.heard = b""

    def listen(self) -> None:
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                self.heard += connection.recv(65_536)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def listening(host: str = "127.0.0.1") -> Iterator[Ear]:
    ear = Ear(host)
    thread = threading.Thread(target=ear.listen)
    thread.start()
    try:
        yield ear
    finally:
        ear.close()
        thread.join(10)


def _bank(url: str) -> None:
    with simonides.connect(url, token="smn_secret") as store:
        store.bank().retain("a private text")


def _export(url: str) -> None:
    with simonides.connect(url, token="smn_secret") as store:
        store.bank().export(sys.stdout.buffer)


def _reranker(url: str) -> None:
    RemoteReranker("tei", url, api_key="secret", timeout_seconds=5.0).score("q", ["a private text"])


def _model(url: str) -> None:
    LanguageModel("any", url, "secret", max_retries=0, timeout_seconds=5.0).complete(MESSAGES, {})


def _stream(url: str) -> None:
    list(LanguageModel("any", url, "secret", max_retries=0, timeout_seconds=5.0).stream(MESSAGES, 10))


CLIENTS = {
    "bank": _bank,
    "export": _export,
    "reranker": _reranker,
    "model": _model,
    "model's stream": _stream,
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2"])
def test_a_server_on_this_machine_is_asked_without_a_proxy(
    client: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as proxy, listening(host) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        # The server answers nothing, which is an error of the tree whatever asks it.
        with pytest.raises(SimonidesError):
            CLIENTS[client](f"http://{host}:{server.port}")
    assert server.heard.startswith((b"POST", b"GET"))
    assert proxy.heard == b""


@pytest.mark.parametrize("client", CLIENTS)
def test_the_environment_decides_for_other_servers(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(SimonidesError):
            CLIENTS[client]("http://memories.example:8765")
    assert b"memories.example:8765" in proxy.heard


FAULTS = {
    "socks": ("ALL_PROXY", "socks5://proxy.example:1080", "httpx"),
    "proxy": ("HTTP_PROXY", "gopher://user:password@proxy.example", "HTTP_PROXY"),
    "broken": ("HTTP_PROXY", "http://[::1", "HTTP_PROXY"),
    "certificates": ("SSL_CERT_FILE", "/nope", "/nope"),
}


@pytest.mark.fault("N73")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("client", ["bank", "export", "model", "model's stream"])
def test_what_is_wrong_in_the_environment_is_an_error_of_the_tree(
    client: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, value, told = FAULTS[fault]
    monkeypatch.setenv(name, value)
    if fault == "socks":
        monkeypatch.setitem(sys.modules, "socksio", None)
    kind = (
        MissingExtraError if fault == "socks" else InputError if "model" not in client else ModelRefusedError
    )
    with pytest.raises(kind, match=told) as raised:
        CLIENTS[client]("http://memories.example:8765")
    assert "password" not in str(raised.value)


@pytest.mark.fault("N73")
@pytest.mark.parametrize("value", ["http://", "gopher://user:password@proxy.example"])
def test_a_proxy_that_is_no_address_is_told_by_the_reranker(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", value)
    with pytest.raises(ModelRefusedError, match="HTTP_PROXY"):
        _reranker("http://memories.example:8765")


@pytest.mark.fault("N73")
def test_a_proxy_that_is_no_address_is_told_by_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://")
    with pytest.raises(ModelMissingError, match="HTTPS_PROXY"):
        _download_from_hub(HubSource("a/b", "main"), "model.bin", tmp_path / "model.bin", silent)


@pytest.mark.parametrize("fault", FAULTS)
def test_they_do_not_matter_on_the_way_to_this_machine(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, value, _ = FAULTS[fault]
    monkeypatch.setenv(name, value)
    simonides.connect("http://127.0.0.1:8765", token="smn_secret").close()


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.255.255.254",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "::1",
            "[::1]",
            "0:0:0:0:0:0:0:1",
        ),
        *("::ffff:127.0.0.1", "localhost", "LOCALHOST", "localhost.", "memory.localhost", "0.0.0.0", "::"),
    ],
)
def test_names_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [None, "", "128.0.0.1", "10.0.0.1", "::2", "localhost.example", "notlocalhost", "127.0.0.1.example"],
)
def test_names_of_others(host: str | None) -> None:
    assert not is_loopback(host)


def test_a_model_anywhere_on_this_machine_may_be_asked_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_OFFLINE", "1")
    check_offline("http://127.0.0.2:8080/v1", "SIMONIDES_LLM_BASE_URL")
    check_offline("http://models.localhost:8080/v1", "SIMONIDES_LLM_BASE_URL")
    with pytest.raises(InputError, match="SIMONIDES_OFFLINE"):
        check_offline("http://models.example/v1", "SIMONIDES_LLM_BASE_URL")


@pytest.mark.fault("N73")
@pytest.mark.parametrize(
    "url", ["http://a b", "http://[::1", "http://exa mple:1", "http://host:99999", "http://\x01"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="address"):
        simonides.connect(url, token="smn_secret")


@pytest.mark.fault("N73")
@pytest.mark.parametrize("call", ["call", "stream"])
def test_an_answer_that_is_no_json_is_an_error_of_the_tree(
    call: str, httpx_answers: Callable[[bytes], str]
) -> None:
    url = httpx_answers(b"<html>a portal</html>")
    with simonides.connect(url, token="smn_secret") as store:
        bank = store.bank()
        calls: dict[str, Callable[[], object]] = {
            "call": store.list_banks,
            "stream": lambda: bank.reflect("who?", on_text=print),
        }
        with pytest.raises(SimonidesError, match="no JSON"):
            calls[call]()


@pytest.fixture
def httpx_answers() -> Iterator[Callable[[bytes], str]]:
    """Starts a server that gives one body to every request; returns its address."""
    server = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def start(body: bytes) -> str:
        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(65_536)
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                connection.sendall(head.encode() + body)

        threads.append(threading.Thread(target=answer))
        threads[0].start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    for thread in threads:
        thread.join(10)
    server.close()
