"""N50, N51, N94: every argument of every operation with every sort of wrong value, at every interface.

What comes is the documented answer, or one clear error of the tree that names the argument: never 500, never
an error of Python's own. Generated from the table of operations, so that a new argument is swept, too.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
import typer.main
from mcp import Client
from tests.surfaces.rest.conftest import app, client_for
from tests.surfaces.test_operations import _METHODS
from tests.surfaces.test_same_operations import COMMANDS, NO_COMMAND, OPTIONS

from simonides.errors import InputError, SimonidesError, StoreError
from simonides.surfaces.cli.main import app as typer_app
from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.mcp.tools import TOOLS
from simonides.surfaces.operations.table import OPERATIONS, Scope, Stream
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import LOCAL
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx
    from tests.surfaces.conftest import Cli
    from tests.surfaces.rest.conftest import ClientFor
    from typer.testing import Result

    from simonides.bank import Bank
    from simonides.options import Option
    from simonides.store import Store

__all__ = ["app", "client_for"]

pytestmark = [pytest.mark.fault("N50"), pytest.mark.fault("N51"), pytest.mark.fault("N94")]

_DEEP: Any = "x"
for _ in range(60):
    _DEEP = [_DEEP]
CASES: dict[str, Any] = {
    "null": None,
    "object": {"a": 1},
    "list of objects": [{}],
    "list of a list": [["a"]],
    "fraction": 1.5,
    "switch": True,
    "text": "x",
    "digits": "3",
    "switch as text": "true",
    "list as text": '["a", "b"]',
    "object as text": '{"a": 1}',
    "empty text": "",
    "blank": " \t\n",
    "unseen": "\u200b\u2060\ufeff\u00ad",
    "empty list": [],
    "empty object": {},
    "long text": "x" * 70_000,
    "long list": ["x"] * 20_000,
    "deep": _DEEP,
    "huge": 10**400,
    "64 bits": 2**63,
    "negative": -1,
    "zero": 0,
    "not a number": math.nan,
    "infinite": math.inf,
    "NUL": "a\0b",
    "half a character": "a\ud800",
    "device": "/dev/zero",
}
_NOT_JSON = {"not a number", "infinite"}
_IN_NO_ADDRESS = {"half a character", "long text", "long list"}
_BASE: dict[str, Any] = {
    "items": "The kettle leaks.",
    "text": "The kettle leaks.",
    "document_id": "plan",
    "turns": [{"text": "The lamp is off.", "speaker": "Ana"}],
    "session": "s",
    "query": "kettle",
    "task": "kettle",
    "profile": "lexical",
    "ids": ["0" * 32],
    "memory": "0" * 32,
    "job": "0" * 32,
    "space": "s",
    "path": ["a"],
    "to": ["b"],
    "records": [{"path": ["a"], "value": {"a": 1}}],
    "earlier": "2026-01-01",
    "entity": 1,
    "into": 2,
    "merge": 1,
    "number": 1,
    "name": "other",
    "alias": "other",
    "confirm": "other",
    "ttl": "30d",
}
_SWEPT = [name for name, each in OPERATIONS.items() if each.parameters and each.stream is Stream.NONE]
COUNTS: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def told() -> Iterator[None]:
    yield
    print("\nargument sweep:", dict(sorted(COUNTS.items())))  # noqa: T201 the counts are what a run shows


def _base(name: str) -> dict[str, Any]:
    taken = OPERATIONS[name].parameters
    given = {each.name: _BASE[each.name] for each in taken if each.required}
    if "query" in given or "task" in given:
        given["profile"] = "lexical"
    # An update that changes nothing is refused for that.
    return given | ({"tags": ["home"]} if name == "update_memory" else {})


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["", "all pairs"])
def whole(request: pytest.FixtureRequest) -> bool:
    """Every value for each argument of each operation; else an option that several share has all of them once."""
    return bool(request.param)


def _cases(name: str, *, whole: bool) -> Iterator[tuple[Option, str, dict[str, Any]]]:
    """An argument, the sort of its value, and the arguments of the call.

    An option is declared and checked once, whatever operations take it. So the first of them gets every value,
    and each of the others every fourth, beginning at another one.
    """
    before = _SWEPT[: _SWEPT.index(name)] if name in _SWEPT else _SWEPT
    earlier = [option for operation in before for option in OPERATIONS[operation].parameters]
    for place, each in enumerate(OPERATIONS[name].parameters):
        shared = each in earlier and not whole
        for number, (case, value) in enumerate(CASES.items()):
            if not shared or (number + place + len(before)) % 4 == 0:
                yield each, case, {**_base(name), each.name: value}


def _problem(error: BaseException, name: str) -> str:
    """What is wrong with an error; nothing where it is clear and names the argument."""
    if not isinstance(error, SimonidesError) or isinstance(error, StoreError):
        return f"{type(error).__name__}: {error}"[:200]
    if isinstance(error, InputError) and not _names(str(error), name):
        return f"does not name it: {error}"[:200]
    return ""


def _names(text: str, name: str) -> bool:
    # Of a single item the place is the key in it; a bank's own name is its argument in Python.
    words = {"items": ("items", "text", "a:"), "name": ("name", "bank"), "cursor": ("cursor", "after")}
    return any(word in text for word in words.get(name, (name,)))


def _tried(door: str, found: list[str], operation: str, each: str, case: str, problem: str) -> None:
    COUNTS[door] += 1
    if problem:
        COUNTS[f"{door}, faults"] += 1
        found.append(f"{operation}({each}={case}): {problem}")


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\x01", "\u3164", "\U000e0041", "\ufe0f"]
)
def test_what_shows_nothing_is_empty(store: Store, unseen: str) -> None:
    bank = store.bank("mine")
    blank = f" {unseen}{unseen}\n"
    trials: list[Callable[[], object]] = [
        lambda: bank.retain(blank),
        lambda: bank.retain({"role": "user", "content": blank}) or _refuse(),
        lambda: bank.retain("The kettle leaks.", tags=[blank]),
        lambda: bank.retain("The kettle leaks.", session=blank),
        lambda: bank.retain_document(blank, document_id="plan"),
        lambda: bank.retain_conversation([{"text": blank}], session="s"),
        lambda: bank.recall(blank, profile="lexical"),
        lambda: bank.brief(blank, profile="lexical"),
        lambda: store.bank(blank),
        lambda: store.bank("mine", principal=blank),
    ]
    for number, trial in enumerate(trials):
        try:
            trial()
        except InputError:
            continue
        pytest.fail(f"trial {number} was taken")
    assert bank.list_memories() == []


def _refuse() -> object:
    """Of a message that says nothing, nothing is stored."""
    raise InputError("items", "nothing is stored")


@pytest.mark.parametrize("name", [name for name in _SWEPT if OPERATIONS[name].scope is Scope.BANK])
def test_python(bank: Bank, name: str, *, whole: bool) -> None:
    bank.retain("The kettle leaks.")
    method = _METHODS.get(name, (name, set(), set()))[0]
    call: Callable[..., Any] = getattr(bank, method)
    taken = inspect.signature(call).parameters
    shared = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values())
    found: list[str] = []
    for each, case, values in _cases(name, whole=whole):
        given = {key: value for key, value in values.items() if key in taken or shared}
        if each.name == "items" and case == "long list":
            # Python has no limit here, so this only stores them.
            given["items"] = values["items"][:500]
        if each.name not in given:
            continue
        problem = ""
        try:
            call(**given)
        except BaseException as error:  # noqa: BLE001 whatever it is, it is told
            problem = _problem(error, each.name)
        _tried("Python", found, name, each.name, case, problem)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", _SWEPT)
def test_request(store: Store, name: str, *, whole: bool) -> None:
    """The layer below the command line, REST and MCP."""
    operation = OPERATIONS[name]
    bank = store.bank("mine")
    bank.retain("The kettle leaks.")
    place = bank if operation.scope is Scope.BANK else store
    found: list[str] = []
    for each, case, values in _cases(name, whole=whole):
        problem = ""
        try:
            operation.call(place, operation.bind(values))
        except BaseException as error:  # noqa: BLE001 whatever it is, it is told
            problem = _problem(error, each.name)
        _tried("request", found, name, each.name, case, problem)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", _SWEPT)
def test_rest(client_for: ClientFor, store: Store, name: str, *, whole: bool) -> None:
    store.bank("mine").retain("The kettle leaks.")
    place = place_of(name)
    found: list[str] = []

    async def work() -> None:
        async with client_for("*") as client:
            for each, case, values in _cases(name, whole=whole):
                in_path = f"{{{each.name}}}" in place.path
                if in_path and not isinstance(values[each.name], str):
                    continue
                if (in_path or place.method == "GET") and case in _IN_NO_ADDRESS:
                    continue
                response = await _request(client, name, values)
                unnamed = in_path or case in _NOT_JSON or case == "deep"
                problem = "" if unnamed and response.status_code < 500 else _told(response, each.name)
                _tried("REST", found, name, each.name, case, problem)
            for key, value in _base(name).items():
                if place.method == "GET" or f"{{{key}}}" in place.path:
                    continue
                pair = f"{json.dumps(key)}: {json.dumps(value)}"
                response = await _request(client, name, _base(name), f"{{{pair}, {pair}}}")
                _tried("REST", found, name, key, "twice", _told(response, key, 400))

    asyncio.run(work())
    assert not found, "\n".join(found)


async def _request(
    client: httpx.AsyncClient, name: str, values: dict[str, Any], body: str | None = None
) -> httpx.Response:
    """One request; *body* in place of the values that the path does not hold."""
    place, left = place_of(name), dict(values)
    path = place.path.replace("{bank}", "mine")
    for key in [key for key in left if f"{{{key}}}" in path]:
        path = path.replace(f"{{{key}}}", quote(str(left.pop(key)), safe=""))
    if place.method == "GET":
        return await client.request("GET", path, params={key: _written(each) for key, each in left.items()})
    content = json.dumps(left) if body is None else body
    return await client.request(
        place.method, path, content=content, headers={"content-type": "application/json"}
    )


def _told(response: httpx.Response, name: str, wanted: int | None = None) -> str:
    """What is wrong with a response, if anything."""
    status = response.status_code
    if status >= 500 and (status != 503 or "language model" not in response.text):
        return f"{status}: {response.text[:200]}"
    if wanted not in {None, status} or (status in {400, 422} and not _names(response.text, name)):
        return f"{status}, does not name it: {response.text[:200]}"
    return ""


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\U000e0001-\U000e007f]"
)
"""What moves a terminal's cursor, sets its title, or reorders or hides what stands in its lines."""
WRITTEN: dict[str, str] = {
    name: value
    for name, value in CASES.items()
    # No argument of a command holds a NUL, or half a character that is not an odd byte.
    if isinstance(value, str) and name in {"text", "empty text", "blank", "unseen", "long text", "device"}
} | {
    "huge": str(10**400),
    "negative": "-1",
    "not a number": "nan",
    "infinite": "inf",
    "odd byte": "a\udc9b31m",
    "steering": "kettle\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202edcba\u2066\u2028\U000e0041",
}
# Parameter of a command → what it is in Python.
_IN_PYTHON = {"end": "window", "cursor": "after", "path": "target", "name": "bank"}
_GIVEN = {"query": "kettle", "task": "kettle", "ttl": "30d", "earlier": "2026-01-01", "paths": "notes.jsonl"}
_COMMANDS = {tuple(COMMANDS.get(name, name.replace("_", "-")).split()) for name in OPERATIONS} - {
    (name.replace("_", "-"),) for name in NO_COMMAND
}


def _parameters(words: tuple[str, ...]) -> list[Any]:
    command: Any = typer.main.get_command(typer_app)
    for word in words:
        command = command.commands[word]
    # Those that several commands share are swept in one.
    shared = {"store", "bank", "zone"} if words != ("recall",) else set()
    if words in {("reflect",), ("why-not",)}:
        shared |= {each.name for each in _parameters(("recall",))} - {"query"}
    return [
        each for each in command.params if not getattr(each, "is_flag", False) and each.name not in shared
    ]


def _kind(parameter: Any) -> tuple[str, str, str]:
    """What is the same for a parameter of several commands that is declared once."""
    return parameter.name, str(parameter.metavar), str(parameter.type_descriptor.annotation)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


@pytest.mark.parametrize("words", sorted(_COMMANDS), ids="-".join)
def test_command_line(
    cli: Cli, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool
) -> None:
    """Exit code 0, 1 or 2; of 2 a line that names the argument or its value; nothing that steers a terminal."""
    monkeypatch.chdir(tmp_path)
    cli("retain", "The kettle leaks.")
    parameters = _parameters(words)
    arguments = [each for each in parameters if _is_argument(each) and each.required]
    found: list[str] = []

    def run(given: dict[str, str], options: list[str]) -> Result:
        # What follows `--` is no option, whatever it begins with.
        values = [given.get(each.name, _GIVEN.get(each.name, "1" * 32)) for each in arguments]
        more = [
            given[each.name]
            for each in parameters
            if _is_argument(each) and not each.required and each.name in given
        ]
        return cli(*words, *options, "--", *values, *more, stdin="")

    usual = run({}, []).exit_code
    before = sorted(_COMMANDS)[: sorted(_COMMANDS).index(words)]
    earlier = {_kind(each) for command in before for each in _parameters(command)}
    for place, each in enumerate(parameters):
        shared = _kind(each) in earlier and not whole
        ours = [name for name, option in OPTIONS.items() if option == each.name]
        ours.append(_IN_PYTHON.get(each.name, each.name))
        # A path that is too long is named by itself.
        long = {value[:30] for value in WRITTEN.values() if len(value) > 100}
        names = {*long, each.name, each.name.replace("_", "-"), str(each.metavar), *each.opts, *ours}
        for number, (case, value) in enumerate(WRITTEN.items()):
            if shared and (number + place + len(before)) % 4:
                continue
            result = (
                run({each.name: value}, []) if _is_argument(each) else run({}, [f"{each.opts[0]}={value}"])
            )
            problem, said = "", result.output
            if result.exit_code not in {0, 1, 2} or "a fault in simonides" in said:
                problem = f"{result.exit_code}: {said[:200]}"
            elif result.exit_code == 2 != usual and not any(name in said for name in names):
                problem = f"does not name it: {said[:200]}"
            elif steering := STEERING.search(said):
                problem = f"prints {steering[0]!r}"
            _tried("command line", found, " ".join(words), each.name, case, problem)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", TOOLS)
def test_mcp(store: Store, name: str, *, whole: bool) -> None:
    operation = TOOLS[name].operation
    store.bank("mine").retain("The kettle leaks.")
    dispatcher = Dispatcher(store, Limits())
    found: list[str] = []

    async def work() -> None:
        server = make_server(dispatcher, lambda _: LOCAL, Settings(bank="mine", tools="all"))
        async with Client(server) as client:
            for each, case, values in _cases(operation.name, whole=whole):
                if case == "half a character":
                    # No JSON text holds it.
                    continue
                answer: Any = await client.call_tool(name, values)
                said = answer.content[0].text
                problem = ""
                if answer.is_error and ("log says why" in said or "cannot be read or written" in said):
                    problem = said
                elif answer.is_error and not _names(said, each.name) and ":" in said.partition(" ")[0]:
                    problem = f"does not name it: {said[:200]}"
                _tried("MCP", found, name, each.name, case, problem)

    try:
        asyncio.run(work())
    finally:
        dispatcher.close()
    assert not found, "\n".join(found)
