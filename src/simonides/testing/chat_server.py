"""A server that speaks the chat-completions protocol and says what it is told, for tests of language models.

    with ChatServer(said({"memories": []})) as server:
        LanguageModel("any", server.url).complete(messages, schema)
    assert server.requests[0].body["model"] == "any"

It listens on this machine only, on a port of its own. Replies may be good, broken, slow, cut off or refusals.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answers.

    Attributes:
        body: of the answer.
        status: HTTP status code.
        headers: beside ``Content-Type`` and ``Content-Length``.
        stalls: whether it waits, before it says anything, until the server is closed.
        stalls_within: likewise in the middle of the body.
        missing_bytes: how many bytes fewer are sent than the answer says it has.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stalls: bool = False
    stalls_within: bool = False
    missing_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked: path, headers by lower-case name, and the JSON body."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


def said(
    content: object,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: object = None,
) -> Reply:
    """A model's answer in the protocol's form.

    Args:
        content: what the model says; what is no string is said as JSON.
        finish_reason: why it ended: stop, length or content_filter.
        refusal: why it does not answer.
        usage: token counts; by default 100 sent and 50 received.
    """
    text = content if isinstance(content, str) else json.dumps(content)
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "a-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50} if usage is None else usage,
    }
    return Reply(json.dumps(answer).encode())


def spoken(*pieces: str, finish_reason: str | None = "stop") -> Reply:
    """A model's answer in the protocol's form for streams.

    Args:
        pieces: of what the model says.
        finish_reason: why it ended; ``None`` = the stream breaks off without saying.
    """
    events: list[dict[str, Any]] = [{"delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    if finish_reason:
        events.append({"delta": {}, "finish_reason": finish_reason})
    chunks = [
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_767_225_600,
            "model": "a-model",
            "choices": [{"index": 0, **event}],
        }
        for event in events
    ]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    end = "data: [DONE]\n\n" if finish_reason else ""
    return Reply(f"{lines}{end}".encode(), headers={"Content-Type": "text/event-stream"})


def failed(status: int, code: str = "", message: str = "", **headers: str) -> Reply:
    """An error in the protocol's form; an underscore in a header's name stands for a hyphen."""
    error = {"error": {"message": message, "type": code or None, "code": code or None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps(error).encode(), status, named)


class ChatServer:
    """Runs while its ``with`` block does.

    Args:
        replies: one for each request in order, the last one for all that follow; or functions that make one
            from the request's body.

    Attributes:
        requests: what was asked so far, in order of arrival.
    """

    def __init__(self, *replies: Reply | Callable[[dict[str, Any]], Reply]) -> None:
        self.requests: list[Request] = []
        self._replies = replies
        self._closing = threading.Event()
        self._arrived = threading.Condition()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._server = _QuietServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="chat-server", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, requests: int, *, seconds: float) -> bool:
        """Wait until so many requests have arrived; false when they have not after so many *seconds*."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= requests, seconds)

    def _reply(self, request: Request) -> Reply:
        with self._arrived:
            place = min(len(self.requests), len(self._replies) - 1)
            self.requests.append(request)
            self._arrived.notify_all()
        reply = self._replies[place]
        return reply if isinstance(reply, Reply) else reply(request.body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = chat._reply(Request(self.path, headers, json.loads(sent)))
                if reply.stalls:
                    chat._closing.wait()
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                half = len(reply.body) // 2
                if reply.stalls_within:
                    self.wfile.write(reply.body[:half])
                    chat._closing.wait()
                else:
                    self.wfile.write(reply.body[: len(reply.body) - reply.missing_bytes])

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        return Handler


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error here."""
