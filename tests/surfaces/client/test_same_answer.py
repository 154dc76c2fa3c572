"""Every interface hands on one judgement, and gives a person or a model the same memories to read."""

from __future__ import annotations

import asyncio
import io
import json
import re
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp import Client
from rich.console import Console

import simonides
from simonides.recall.refining.relevance import Relevance
from simonides.records.recall import EARLIER, POSSIBLY, Recall
from simonides.surfaces.client.asynchronous import AsyncBank
from simonides.surfaces.demo import demo
from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import LOCAL
from simonides.surfaces.serving.limits import Limits
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.surfaces.client.remote import RemoteBank, RemoteStore
    from simonides.testing.clock import FrozenClock

pytestmark = [pytest.mark.fault("N1"), pytest.mark.allow_hosts(["127.0.0.1"])]

BANK = "boats"

QUERY = "Where is the spare key of the boathouse?"
TEXTS = (
    "The spare key of the boathouse hangs in the pantry.",
    "The boathouse was painted in the spring.",
    "Ines lost a key of the car.",
    "A spare tyre lies in the cellar.",
)
OTHER = "Odalys plays the cello."
BANDS = {"match": (0.0, 0.0), "weak": (0.0, 1.0), "none": (1.0, 1.0)}
MARKS = {"match": "", "weak": POSSIBLY, "none": ""}


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    """A store without an embedder: the command line opens it, too."""
    with simonides.open(tmp_path / "store", clock=clock, embedder=None, environ={}) as opened:
        opened.bank(BANK).retain([*TEXTS, OTHER])
        yield opened


@pytest.fixture(params=list(BANDS))
def band(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The band that every recall falls into, all hits kept: with other thresholds, on the engine's own numbers."""
    weak, match = BANDS[request.param]
    refine = Relevance.refine

    def judged(self: Relevance, *arguments: Any) -> Any:
        return refine(replace(self, weak=weak, match=match, share={}), *arguments)

    monkeypatch.setattr(Relevance, "refine", judged)
    return str(request.param)


@dataclass(frozen=True)
class Given:
    """What an interface gives: text to be read, and the judgement where it is structured."""

    text: str
    confidence: float | None = None
    band: str | None = None
    hits: list[tuple[str, float | None]] | None = None


@dataclass(frozen=True)
class World:
    bank: Bank
    store: Store
    cli: Any
    request: pytest.FixtureRequest

    @property
    def remote(self) -> RemoteBank:
        """The bank behind a server, which is started for those that ask for it."""
        server: RemoteStore = self.request.getfixturevalue("remote_store")
        return server.bank(BANK)

    def json_of(self, path: str, **body: Any) -> dict[str, Any]:
        with TokenStore(self.store.folder) as tokens:
            headers = {"Authorization": f"Bearer {tokens.create(banks=['*'], now=0)}"}
        app = make_app(self.store)

        async def work() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            url = f"http://127.0.0.1:8765/v1/banks/{BANK}/{path}"
            async with httpx.AsyncClient(transport=transport, headers=headers) as asking:
                return await asking.post(url, json=body)

        try:
            sent = asyncio.run(work())
        finally:
            app.state.dispatcher.close()
        assert sent.status_code == 200, sent.text
        answer = sent.json()
        assert isinstance(answer, dict)
        return answer

    def mcp(self, talk: Callable[[Client], Any]) -> Any:
        dispatcher = Dispatcher(self.store, Limits())

        async def work() -> Any:
            server = make_server(dispatcher, lambda _: LOCAL, Settings(bank=BANK, tools="all"))
            async with Client(server) as client:
                return await talk(client)

        try:
            return asyncio.run(work())
        finally:
            dispatcher.close()

    def tool(self, name: str, **arguments: Any) -> Any:
        answer = self.mcp(lambda client: client.call_tool(name, arguments))
        assert not answer.is_error, answer.content
        return answer


@pytest.fixture
def world(store: Store, cli: Any, request: pytest.FixtureRequest) -> World:
    return World(store.bank(BANK), store, cli, request)


def _recall(answer: Recall) -> Given:
    return Given(
        answer.context, answer.confidence, answer.band, [(hit.id, hit.relevance) for hit in answer.hits]
    )


def _json(answer: dict[str, Any]) -> Given:
    hits = [(hit["id"], hit["relevance"]) for hit in answer["hits"]]
    return Given(answer["context"], answer["confidence"], answer["band"], hits)


def _mcp(answer: Any) -> Given:
    told = answer.structured_content
    told = told.get("recall", told)
    hits = [(each["id"], each["relevance"]) for each in told["memories"]]
    return Given(answer.content[0].text, told["confidence"], told["band"], hits)


def _job(bank: Bank | RemoteBank) -> Given:
    done = bank.get_job(bank.recall(QUERY, tier="async").job, wait_seconds=30)
    assert done.recall is not None
    return _recall(done.recall)


def _reflection(answer: Any) -> Given:
    told = answer.to_dict()
    text = f"{told['answer']} {told['note'] if told['no_match'] else ''} {told['context']}"
    return Given(text, told["confidence"], told["band"])


def _mcp_job(world: World) -> Given:
    job = world.bank.recall(QUERY, tier="async").job
    world.bank.get_job(job, wait_seconds=30)
    return _mcp(world.tool("get_job", job=job))


def _async(world: World) -> Given:
    async def work() -> Recall:
        async with AsyncBank(world.bank) as bank:
            return await bank.recall(QUERY)

    return _recall(asyncio.run(work()))


def _command(world: World, *arguments: str, code: int | None = None) -> str:
    result = world.cli(*arguments, "--bank", BANK)
    assert code is None or result.exit_code == code
    return re.sub(r"\s+", " ", result.stdout + result.stderr)


def _command_json(world: World) -> Given:
    return _json(json.loads(world.cli("recall", QUERY, "--json", "--bank", BANK).stdout))


def _hook(world: World) -> Given:
    event = {"hook_event_name": "UserPromptSubmit", "prompt": QUERY}
    result = world.cli("hook", "claude-code", "--bank", BANK, stdin=json.dumps(event))
    if not result.stdout:
        return Given("")
    return Given(json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"])


def _marks(metadata: dict[str, Any]) -> str:
    return ("earlier: " if metadata["earlier"] else "") + (POSSIBLY if metadata["possibly"] else "")


def _langchain(world: World) -> Given:
    pytest.importorskip("langchain_core")
    retriever = import_module("simonides.integrations.langchain").BankRetriever

    documents = retriever(bank=world.bank).invoke(QUERY)
    assert all(0 < each.metadata["relevance"] < 1 for each in documents)
    marks = [_marks(each.metadata) for each in documents]
    return Given("\n".join(mark + each.page_content for mark, each in zip(marks, documents, strict=True)))


def _llamaindex(world: World) -> Given:
    pytest.importorskip("llama_index.core")
    retriever = import_module("simonides.integrations.llamaindex").BankRetriever

    nodes = retriever(world.bank).retrieve(QUERY)
    assert all(0 < (each.score or 0) < 1 for each in nodes)
    marks = [_marks(each.metadata) for each in nodes]
    return Given("\n".join(mark + each.text for mark, each in zip(marks, nodes, strict=True)))


def _llamaindex_block(world: World) -> Given:
    pytest.importorskip("llama_index.core")
    message = import_module("llama_index.core.llms").ChatMessage
    new_block = import_module("simonides.integrations.llamaindex").BankMemoryBlock

    block = new_block(name="long_term", bank=world.bank)
    return Given(asyncio.run(block.aget([message(role="user", content=QUERY)])))


def _openai(world: World) -> Given:
    pytest.importorskip("agents")
    context_of = import_module("agents.tool_context").ToolContext
    recall_tool = import_module("simonides.integrations.openai_agents").recall_tool

    tool, asked = recall_tool(world.bank), json.dumps({"query": QUERY})
    context: Any = context_of(None, tool_name="recall", tool_call_id="1", tool_arguments=asked)

    async def work() -> Any:
        return await tool.on_invoke_tool(context, asked)

    return Given(str(asyncio.run(work())))


def _prompt(world: World) -> Given:
    answer = world.mcp(lambda client: client.get_prompt("with_memory", {"question": QUERY}))
    return Given(answer.messages[0].content.text)


def _demo(world: World) -> Given:
    printed = io.StringIO()
    demo._show_hits(world.bank.recall(QUERY), TEXTS, Console(file=printed, width=200, color_system=None))
    return Given(re.sub(r" +", " ", printed.getvalue().partition("✓ found")[0].partition("✗")[0]))


SILENT = {"python", "async client", "remote client", "rest", "rest fenced", "rest json", "job", "remote job",
          "rest job", "command line context", "langchain", "llamaindex", "llamaindex block", "hook", "brief",
          "command line json"}  # fmt: skip
"""Interfaces that give no text where nothing is found: the caller, or no one, says it."""

INTERFACES: dict[str, Callable[[World], Given]] = {
    "python": lambda world: _recall(world.bank.recall(QUERY)),
    "async client": _async,
    "remote client": lambda world: _recall(world.remote.recall(QUERY)),
    "rest": lambda world: _json(world.json_of("recall", query=QUERY)),
    "rest fenced": lambda world: _json(world.json_of("recall", query=QUERY, form="fenced")),
    "rest json": lambda world: _json(world.json_of("recall", query=QUERY, form="json")),
    "job": lambda world: _job(world.bank),
    "remote job": lambda world: _job(world.remote),
    "mcp": lambda world: _mcp(world.tool("recall", query=QUERY)),
    "mcp job": _mcp_job,
    "mcp prompt": _prompt,
    "mcp reflect": lambda world: Given(world.tool("reflect", query=QUERY).content[0].text),
    "reflect": lambda world: _reflection(world.bank.reflect(QUERY)),
    "remote reflect": lambda world: _reflection(world.remote.reflect(QUERY)),
    "command line": lambda world: Given(_command(world, "recall", QUERY)),
    "command line context": lambda world: Given(
        world.cli("recall", QUERY, "--context", "--bank", BANK).stdout
    ),
    "command line json": _command_json,
    "command line reflect": lambda world: Given(_command(world, "reflect", QUERY)),
    "hook": _hook,
    "langchain": _langchain,
    "llamaindex": _llamaindex,
    "llamaindex block": _llamaindex_block,
    "openai agents": _openai,
    "brief": lambda world: Given(world.bank.brief(QUERY).text),
    "demo": _demo,
}


@pytest.mark.parametrize("name", INTERFACES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_interface_tells_the_same(name: str, band: str, world: World) -> None:
    expected = world.bank.recall(QUERY)
    assert expected.band == band
    assert {hit.text for hit in expected.hits} == set(TEXTS)
    told = [hit.text for hit in expected.hits[: {"match": 4, "weak": 2, "none": 0}[band]]]
    assert [hit.text for hit in expected.told] == told

    given = INTERFACES[name](world)

    assert [text for text in TEXTS if text in given.text] == [text for text in TEXTS if text in told]
    assert all(f"{MARKS[band]}{text}" in given.text for text in told)
    assert (f"{POSSIBLY}{TEXTS[0]}" in given.text) == (band == "weak")
    assert OTHER not in given.text
    assert ("not in memory" in given.text.lower()) == (band == "none" and name not in SILENT)
    if band == "none" and name not in SILENT:
        assert expected.no_match_reasons[0] in given.text
    # A command has the clock of the machine, and so another recency of the memories.
    apart = 0.01 if name.startswith("command line") else 0.0
    if given.band is not None:
        assert given.band == band
        assert given.confidence == pytest.approx(expected.confidence, abs=apart, rel=0)
    if given.hits is not None:
        assert [memory for memory, _ in given.hits] == [hit.id for hit in expected.hits]
        relevance = [hit.relevance for hit in expected.hits]
        assert [each for _, each in given.hits] == pytest.approx(relevance, abs=apart, rel=0)


def test_a_langgraph_search_gives_the_nearest_with_their_relevance(band: str, store: Store) -> None:
    pytest.importorskip("langgraph.store.base")
    new_store = import_module("simonides.integrations.langgraph").BankStore

    kept = new_store(store.bank("graph"))
    for number, text in enumerate(TEXTS):
        kept.put(("notes",), str(number), {"text": text})
    found = kept.search(("notes",), query=QUERY)
    assert [item.value["text"] for item in found][:1] == [TEXTS[0]]
    assert len(found) == len(TEXTS)
    expected = store.bank("graph").recall(QUERY, precision="wide")
    assert expected.band == band
    assert [item.score for item in found] == [hit.relevance for hit in expected.hits]


def test_wide_marks_and_cuts_nothing(band: str, world: World) -> None:
    for bank in (world.bank, world.remote):
        answer = bank.recall(QUERY, precision="wide")
        assert answer.doubtful is False
        assert len(answer.told) == (0 if band == "none" else 4)
        assert POSSIBLY not in answer.context
        assert sum(text in answer.context for text in TEXTS) == len(answer.told)


def test_explanations_carry_the_judgement(band: str, world: World) -> None:
    expected = world.bank.recall(QUERY)
    relevance = [(hit.id, hit.relevance) for hit in expected.hits]
    told = world.json_of("explain", query=QUERY)
    assert (told["band"], told["confidence"]) == (band, expected.confidence)
    assert [(each["id"], each["relevance"]) for each in told["explanations"]] == relevance
    explained = world.remote.recall(QUERY, explain=True).explanations
    assert [(each.id, each.relevance) for each in explained] == relevance
    told = world.tool("explain", query=QUERY).structured_content
    assert (told["band"], told["confidence"]) == (band, expected.confidence)
    assert [(each["id"], each["relevance"]) for each in told["explanations"]] == relevance


def test_why_not_says_how_likely_and_whether_it_is_read(band: str, world: World) -> None:
    hits = world.bank.recall(QUERY).hits
    first, last = (world.bank.why_not(hit.id, QUERY).reason for hit in (hits[0], hits[-1]))
    assert re.search(r"returned, at rank 1 with a relevance of \d+ %", first)
    assert ("the context leaves it out" in first) == (band == "none")
    assert ("the context leaves it out" in last) == (band != "match")


def test_the_command_line_shows_how_likely_and_no_score(band: str, world: World) -> None:
    result = world.cli("recall", QUERY, "--bank", BANK)
    assert result.exit_code == (1 if band == "none" else 0)
    if band == "none":
        assert result.stdout == ""
        return
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["rank", "relevance", "date", "kind", "text"]
    hits = world.bank.recall(QUERY).told
    shown = [re.match(r" *(\d+) +(\d+) %", line) for line in lines if " %" in line]
    found = [(int(line[1]), int(line[2])) for line in shown if line]
    assert [rank for rank, _ in found] == [hit.rank for hit in hits]
    # The command goes by the system's clock, the bank by one that stands, so recency differs a little.
    wanted = [100 * (hit.relevance or 0) for hit in hits]
    assert [percent for _, percent in found] == pytest.approx(wanted, abs=3)


def test_a_memory_cut_as_unlikely_is_named_with_the_option_that_keeps_it(store: Store) -> None:
    bank = store.bank(BANK)
    returned = {hit.id for hit in bank.recall(QUERY, precision="high")}
    cut = [hit.id for hit in bank.recall(QUERY, precision="wide") if hit.id not in returned]
    assert cut
    lost = bank.why_not(cut[-1], QUERY, precision="high")
    assert (lost.returned, lost.stage, lost.remedy) == (False, "relevance", "precision wide")
    lost = bank.why_not(cut[-1], QUERY, precision="wide", min_relevance=0.99)
    assert (lost.returned, lost.stage, lost.remedy) == (False, "relevance", "no min_relevance")


def test_a_profile_that_judges_none_shows_scores(world: World) -> None:
    answer = world.remote.recall(QUERY, profile="lexical")
    assert (answer.confidence, answer.band, answer.told) == (None, "match", answer.hits)
    assert {hit.relevance for hit in answer.hits} == {None}
    shown = world.cli("recall", QUERY, "--profile", "lexical", "--bank", BANK).stdout
    assert shown.splitlines()[0].split() == ["rank", "score", "date", "kind", "text"]
    why = world.bank.why_not(answer.hits[0].id, QUERY, profile="lexical").reason
    assert why == "it was returned, at rank 1"


OLDER, NEWER = "The ladder hangs on hook 4.", "The ladder hangs on hook 7."
ASKED = "Where does the ladder hang?"


@pytest.mark.fault("N4")
@pytest.mark.parametrize("name", INTERFACES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_interface_marks_an_earlier_value(
    name: str, store: Store, world: World, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    refine = Relevance.refine

    def sure(self: Relevance, *arguments: Any) -> Any:
        return refine(replace(self, weak=0.0, match=0.0, share={}), *arguments)

    monkeypatch.setattr(Relevance, "refine", sure)
    monkeypatch.setitem(globals(), "QUERY", ASKED)
    bank = store.bank(BANK)
    bank.retain(OLDER)
    clock.advance(days=20)
    bank.retain(NEWER)
    marked = {hit.text: hit.earlier for hit in bank.recall(ASKED)}
    assert (marked[NEWER], marked[OLDER], sum(marked.values())) == (False, True, 1)

    text = INTERFACES[name](world).text

    newer, older = text.index(NEWER), text.index(OLDER)
    assert newer < older
    assert EARLIER not in text[:newer]
    assert EARLIER in text[newer + len(NEWER) : older]
