"""Count the functions of simonides that two common calls run, and list them.

    python scripts/trace_calls.py [--max-retain N] [--max-filter N] [--short]

1. ``retain``: one sentence goes into a bank that holds a few memories. Counted is each function that runs but
   those that read the language: ``text/`` and ``retain/extraction/`` are counted apart.
2. ``tags_match``: one recall over HTTP, without a socket. Counted is each function that is handed the value,
   alone or in a mapping, a tuple or a dataclass, from the endpoint to the mask that it ends in. Those that
   pass it on unseen, in the bytes of a body or in a job for a worker, are counted apart.

Comprehensions, lambdas and methods that dataclasses generate are left out. With a maximum, the exit status is
1 where a count is above it. Needs the extra ``server`` and httpx; loads no model.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

import simonides
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from types import CodeType, FrameType

ROOT = Path(simonides.__file__).parent
FIELD, MODE, OTHER = "tags_match", "all_strict", "any_strict"
MASK = ("index/view.py", "_matches")
"""File and name of the function in which the value becomes a mask."""
SENTENCE = "Odalys moved the weekly review to Thursday because the room is taken."
LANGUAGE = ("text/", "retain/extraction/")
_DEEPEST = 6

Place = tuple[str, str]
"""A file below ``simonides`` and the name of a function in it."""


def main() -> int:
    """Print both lists; 1 where a count is above its maximum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--max-retain", type=int, help="functions that one retained sentence may run")
    parser.add_argument("--max-filter", type=int, help="functions that tags_match may pass")
    parser.add_argument("--short", action="store_true", help="print the counts only")
    asked = parser.parse_args()

    ran = trace_retain()
    language = [place for place in ran if place[0].startswith(LANGUAGE)]
    handed, unseen = trace_filter()
    above = False
    for title, found, apart, most in (
        ("retain one sentence", ran, {"reads the language": language}, asked.max_retain),
        (
            f"{FIELD} from REST to the mask",
            handed + unseen,
            {"passes it on unseen": unseen},
            asked.max_filter,
        ),
    ):
        notes = {place: note for note, places in apart.items() for place in places}
        counted = [place for place in found if place not in notes]
        others = ", ".join(f"{len(places)} more: {note}" for note, places in apart.items())
        print(f"{title}: {len(counted)} functions in {len({file for file, _ in counted})} files; {others}")
        if not asked.short:
            for place in found:
                print(f"  {place[0]}: {place[1]}{f'  ({notes[place]})' if place in notes else ''}")
        above = above or (most is not None and len(counted) > most)
    return 1 if above else 0


def trace_retain() -> list[Place]:
    """The functions that store one sentence, in the order of their first call."""
    with tempfile.TemporaryDirectory() as folder, simonides.open(folder, embedder=None, environ={}) as store:
        bank = store.bank("traced")
        bank.retain(["Ines Calder leads the review.", "The review is on Monday."])
        with Recorder({"ran": lambda _: True}) as recorder:
            recorder.on = True
            bank.retain(SENTENCE)
    return recorder.found["ran"]


def trace_filter() -> tuple[list[Place], list[Place]]:
    """The functions that are handed ``tags_match`` on its way from HTTP, and those that pass it on unseen."""
    with tempfile.TemporaryDirectory() as folder, simonides.open(folder, embedder=None, environ={}) as store:
        store.bank("traced").retain("The review is on Monday.", tags=["review", "weekly"])
        with TokenStore(store.folder) as tokens:
            token = tokens.create(banks=["traced"], now=int(datetime.now(UTC).timestamp() * 1e6))
        app = make_app(store)
        body = {"query": "When is the review?", "tags": ["review"]}

        async def ask() -> Recorder:
            headers = {"Authorization": f"Bearer {token}"}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers=headers
            ) as client:
                url = "/v1/banks/traced/recall"
                with Recorder({"handed": _is_handed, "unseen": _passes_on}) as recorder:
                    # What is loaded or made once is no part of the way.
                    await client.post(url, json={**body, FIELD: OTHER})
                    recorder.on = True
                    answer = await client.post(url, json={**body, FIELD: MODE})
                answer.raise_for_status()
            return recorder

        recorder = asyncio.run(ask())
        app.state.dispatcher.close()
    handed, unseen = recorder.found["handed"], recorder.found["unseen"]
    if MASK not in handed:
        raise SystemExit(f"{FIELD} did not reach the mask; was {MASK[1]} of {MASK[0]} renamed?")
    handed = handed[: handed.index(MASK) + 1]
    return handed, [place for place in unseen if place not in handed]


class Recorder:
    """Lists the functions of simonides that run in any thread while it is on; use it as a context manager.

    Args:
        kinds: names of lists, and which calls belong to them; a function is in the first list that it fits.
    """

    def __init__(self, kinds: Mapping[str, Callable[[FrameType], bool]]) -> None:
        self.on = False
        self.found: dict[str, list[Place]] = {kind: [] for kind in kinds}
        self._kinds = kinds
        self._seen: set[CodeType] = set()

    def __enter__(self) -> Self:
        # For threads that start from now on, such as workers of the server, which then live on.
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self.on = False
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not self.on or event != "call" or code in self._seen or code.co_name.startswith("<"):
            return
        file = Path(code.co_filename)
        if not file.is_relative_to(ROOT):
            return
        kind = next((kind for kind, counts in self._kinds.items() if counts(frame)), None)
        if kind is not None:
            self._seen.add(code)
            self.found[kind].append((file.relative_to(ROOT).as_posix(), code.co_qualname))


def _is_handed(frame: FrameType) -> bool:
    """Whether the arguments of a call hold the value, alone or under its name."""
    return any(_holds(value, _seen_inside) for value in _arguments(frame))


def _passes_on(frame: FrameType) -> bool:
    """Whether they hold it where the function does not see it: in bytes, or in another function."""
    return any(_holds(value, _inside) for value in _arguments(frame))


def _arguments(frame: FrameType) -> Iterator[object]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    for name in (*code.co_varnames[:count], *code.co_freevars):
        if name in frame.f_locals:
            yield frame.f_locals[name]


Inside = Callable[[object], "Mapping[Any, Any] | Iterable[Any]"]


def _holds(value: object, inside: Inside, depth: int = 0) -> bool:
    if isinstance(value, str):
        return depth == 0 and value == MODE
    if isinstance(value, bytes | bytearray):
        return inside is _inside and FIELD.encode() in value and MODE.encode() in value
    inner = inside(value)
    if isinstance(inner, Mapping) and inner.get(FIELD) == MODE:
        return True
    parts = inner.values() if isinstance(inner, Mapping) else inner
    return depth < _DEEPEST and any(_holds(each, inside, depth + 1) for each in parts)


def _seen_inside(value: object) -> Mapping[Any, Any] | Iterable[Any]:
    """The values that a container or a dataclass holds."""
    if isinstance(value, Mapping | list | tuple):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name, None) for each in dataclasses.fields(value)}
    return ()


def _inside(value: object) -> Mapping[Any, Any] | Iterable[Any]:
    """The same, and the values that a function was made with."""
    if isinstance(value, partial):
        return (*value.args, value.keywords)
    if callable(value) and hasattr(value, "__closure__"):
        return _contents(value.__closure__ or ())
    return _seen_inside(value)


def _contents(closure: tuple[Any, ...]) -> Iterator[object]:
    for cell in closure:
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


if __name__ == "__main__":
    sys.exit(main())
