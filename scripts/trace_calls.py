"""Count the functions of simonides that two common calls run, and list them.

    python scripts/trace_calls.py [--max-retain N] [--max-filter N] [--short]

1. ``retain``: one sentence goes into a bank that holds a few memories. Counted is each function that runs.
2. ``tags_match``: one recall over HTTP, without a socket. Counted is each function that is handed the value,
   alone or inside a request, a mapping, a dataclass or a closure, from the endpoint to the mask that it ends
   in. Few functions means that a value is checked once and travels in one record.

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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
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
_DEEPEST = 6


def main() -> int:
    """Print both lists; 1 where a count is above its maximum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--max-retain", type=int, help="functions that one retained sentence may run")
    parser.add_argument("--max-filter", type=int, help="functions that tags_match may pass")
    parser.add_argument("--short", action="store_true", help="print the counts only")
    asked = parser.parse_args()

    above = False
    for title, trace, most in (
        ("retain one sentence", trace_retain, asked.max_retain),
        (f"{FIELD} from REST to the mask", trace_filter, asked.max_filter),
    ):
        found = trace()
        files = Counter(file for file, _ in found)
        print(f"{title}: {len(found)} functions in {len(files)} files")
        if not asked.short:
            for file, name in found:
                print(f"  {file}: {name}")
        above = above or (most is not None and len(found) > most)
    return 1 if above else 0


def trace_retain() -> list[tuple[str, str]]:
    """The functions that store one sentence, in the order of their first call."""
    with tempfile.TemporaryDirectory() as folder, simonides.open(folder, embedder=None, environ={}) as store:
        bank = store.bank("traced")
        bank.retain(["Ines Calder leads the review.", "The review is on Monday."])
        with Recorder(lambda _: True) as recorder:
            recorder.on = True
            bank.retain(SENTENCE)
    return recorder.found


def trace_filter() -> list[tuple[str, str]]:
    """The functions that are handed ``tags_match`` on its way from HTTP, in the order of their first call."""
    with tempfile.TemporaryDirectory() as folder, simonides.open(folder, embedder=None, environ={}) as store:
        store.bank("traced").retain("The review is on Monday.", tags=["review", "weekly"])
        with TokenStore(store.folder) as tokens:
            token = tokens.create(banks=["traced"], now=int(datetime.now(UTC).timestamp() * 1e6))
        app = make_app(store)
        body = {"query": "When is the review?", "tags": ["review"]}

        async def ask() -> list[tuple[str, str]]:
            headers = {"Authorization": f"Bearer {token}"}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers=headers
            ) as client:
                url = "/v1/banks/traced/recall"
                with Recorder(_is_handed_the_value) as recorder:
                    # What is loaded or made once is no part of the way.
                    await client.post(url, json={**body, FIELD: OTHER})
                    recorder.on = True
                    answer = await client.post(url, json={**body, FIELD: MODE})
                answer.raise_for_status()
            return recorder.found

        found = asyncio.run(ask())
        app.state.dispatcher.close()
    if MASK not in found:
        raise SystemExit(f"{FIELD} did not reach the mask; was {MASK[1]} of {MASK[0]} renamed?")
    return found[: found.index(MASK) + 1]


class Recorder:
    """Lists the functions of simonides that run in any thread while it is on; use it as a context manager.

    Args:
        counts: whether a call counts.
    """

    def __init__(self, counts: Callable[[FrameType], bool]) -> None:
        self.on = False
        self.found: list[tuple[str, str]] = []
        self._counts = counts
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
        if file.is_relative_to(ROOT) and self._counts(frame):
            self._seen.add(code)
            self.found.append((file.relative_to(ROOT).as_posix(), code.co_qualname))


def _is_handed_the_value(frame: FrameType) -> bool:
    """Whether the arguments or the closure of a call hold the value under its name, or alone."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    names = (*code.co_varnames[:count], *code.co_freevars)
    given = frame.f_locals
    return any(_holds(given[name], 0) for name in names if name in given)


def _holds(value: object, depth: int) -> bool:
    if isinstance(value, str):
        return depth == 0 and value == MODE
    if isinstance(value, bytes | bytearray):
        return FIELD.encode() in value and MODE.encode() in value
    inner = _inside(value)
    if isinstance(inner, Mapping) and inner.get(FIELD) == MODE:
        return True
    parts = inner.values() if isinstance(inner, Mapping) else inner
    return depth < _DEEPEST and any(_holds(each, depth + 1) for each in parts)


def _inside(value: object) -> Mapping[Any, Any] | Iterable[Any]:
    """The values that a container, a dataclass or a function with a closure holds."""
    if isinstance(value, Mapping | list | tuple):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name, None) for each in dataclasses.fields(value)}
    return _contents(getattr(value, "__closure__", None) or ())


def _contents(closure: tuple[Any, ...]) -> Iterator[object]:
    for cell in closure:
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


if __name__ == "__main__":
    sys.exit(main())
