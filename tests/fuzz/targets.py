"""What is fuzzed: each takes any text, and raises nothing but the errors it promises."""

from __future__ import annotations

import asyncio
import io
import json
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import httpx
from tests.query_printer import print_query

import simonides
from simonides.profiles.loader import load_profile
from simonides.retain.importing.formats import FORMATS, detect
from simonides.retain.importing.sources import ImportReport, NamedFile
from simonides.surfaces.operations.table import OPERATIONS
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.serving.tokens import TokenStore
from simonides.testing.clock import FrozenClock
from simonides.text.analyser import TextAnalyser, stopwords, tokenise
from simonides.text.query_dsl import compile_match, parse_query
from simonides.text.split import split_document
from simonides.text.times.expressions import find_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from simonides.errors import SimonidesError
    from simonides.store import Store

_ANCHOR = datetime(2027, 3, 10, 10, tzinfo=UTC)
_ZONE = ZoneInfo("Europe/Berlin")
_ANALYSERS = {language: TextAnalyser(language) for language in ("english", "none")}


HTTP_NAMES = tuple(
    name for name in sorted(OPERATIONS) if place_of(name).method != "GET" and name != "delete_bank"
)
"""Operations whose requests have a body."""


def words(text: str) -> None:
    tokens = tokenise(text)
    assert all(tokens)
    for analyser in _ANALYSERS.values():
        assert len(analyser.terms(text)) == len(tokens)
        assert len(analyser.query_terms(text)) <= len(tokens)


def plain_query(text: str) -> None:
    parsed = parse_query(text)
    compile_match(parsed)
    assert print_query(parse_query(print_query(parsed))) == print_query(parsed)


def extended_query(text: str) -> None:
    parsed = parse_query(text, syntax="extended")
    compile_match(parsed)


def times(text: str) -> None:
    for found in find_times(text, anchor=_ANCHOR, zone=_ZONE):
        assert 0 <= found.start < found.stop <= len(text)


def document(text: str) -> None:
    for start, stop in split_document(text):
        assert 0 <= start < stop <= len(text)


def importer(name: str) -> Callable[[str], None]:
    """A reader of another program's file."""

    def run(text: str) -> None:
        skipped: list[SimonidesError] = []
        report = ImportReport(skipped.append)
        for item in FORMATS[name].read(io.StringIO(text), NamedFile("fuzz", "fuzz", "file:fuzz"), report):
            assert item.line >= 1

    return run


class OnDisk:
    """Targets that read a file or hold a bank.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store: Store = simonides.open(folder / "store", clock=FrozenClock(), embedder=None, environ={})
        self.bank = self.store.bank()
        self.bank.retain("The kettle batch of gauge KX-20931 was re-sent.")

        self.app = make_app(self.store)
        with TokenStore(self.store.folder) as tokens:
            token = tokens.create(banks=["served"], now=0)
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://127.0.0.1:8765",
            headers={"Authorization": f"Bearer {token}"},
        )
        self.loop = asyncio.Runner()

    def close(self) -> None:
        self.loop.run(self.client.aclose())
        self.loop.close()
        self.app.state.dispatcher.close()
        self.store.close()

    def _written(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path

    def profile(self, text: str) -> None:
        load_profile(self._written("fuzz.toml", text))

    def detection(self, text: str) -> None:
        detect(self._written("fuzz.json", text))

    def export_file(self, text: str) -> None:
        self.store.bank("imported").import_bank(self._written("fuzz.jsonl", text))

    def http_body(self, text: str) -> None:
        """The text as the body of one request; which one, the text decides."""
        body = text.encode("utf-8", "surrogatepass")
        name = HTTP_NAMES[zlib.crc32(body) % len(HTTP_NAMES)]
        path = place_of(name).path.format(bank="served", memory="0" * 16, name="served")
        answer = self.loop.run(
            self.client.request(
                place_of(name).method, path, content=body, headers={"Content-Type": "application/json"}
            )
        )
        assert answer.status_code < 500, (name, answer.status_code, answer.text)
        if answer.status_code >= 400:
            assert answer.json()["status"] == answer.status_code
        else:
            json.loads(answer.content)

    def recall(self, text: str) -> None:
        trace = self.bank.recall(text).trace
        (lexical,) = [stage for stage in trace.stages if stage.technique == "lexical"]
        assert not lexical.reason or stopwords("english").issuperset(tokenise(text)), lexical

    def recall_extended(self, text: str) -> None:
        self.bank.recall(text, syntax="extended", profile="jeffs_brain")

    def retain(self, text: str) -> None:
        for memory in self.bank.retain(text):
            self.bank.forget(memory)


def targets(disk: OnDisk) -> Mapping[str, Callable[[str], None]]:
    """Every target by name."""
    return {
        "words": words,
        "plain_query": plain_query,
        "extended_query": extended_query,
        "times": times,
        "document": document,
        **{f"import_{name}": importer(name) for name in FORMATS},
        "profile": disk.profile,
        "detection": disk.detection,
        "export_file": disk.export_file,
        "http_body": disk.http_body,
        "recall": disk.recall,
        "recall_extended": disk.recall_extended,
        "retain": disk.retain,
    }


SHARES = {
    "http_body": 0.3,
    "recall": 0.1,
    "recall_extended": 0.1,
    "retain": 0.05,
    "export_file": 0.1,
    "profile": 0.3,
    "detection": 0.3,
}
"""Slow targets get fewer strings."""
