"""Commands made from the table of operations: their options, the call, JSON, and exit codes.

A command that does no more than its operation is a ``Command``: it says how an answer is shown to people. One
that does more is a function, which takes options of the table by ``takes``.
"""

from __future__ import annotations

import functools
import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from simonides.errors import InputError, NotFoundError
from simonides.json_schema import types_of
from simonides.records.kind import Kind, Layer
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    ProfileOption,
    RedactOption,
    StoreOption,
    ZoneOption,
)
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from enum import StrEnum

    from simonides.bank import Bank
    from simonides.options import Option
    from simonides.store import Store

    Answer = Mapping[str, Any]

_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_VOCABULARIES: Mapping[str, type[StrEnum]] = {"kind": Kind, "kinds": Kind, "layer": Layer}
"""Options that Typer checks: its message lists every word."""
_METAVARS = {int: "N", float: "X"}
_SHARED: Mapping[str, tuple[Any, object]] = {
    "redact": (RedactOption, None),
    "store": (StoreOption, None),
    "zone": (ZoneOption, None),
    "bank": (BankOption, "default"),
    "as_json": (JsonOption, False),
}
"""Options of every command, with their defaults; ``zone`` and ``redact`` are of some."""


def _whole(answer: Answer) -> Answer:
    # Nothing is omitted where no budget can be given.
    return {name: value for name, value in answer.items() if name != "omitted"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command that does one operation of a bank and prints its answer.

    Attributes:
        operation: its name in the table.
        show: prints an answer for people.
        no: whether an answer is a "no", which is exit code 1.
        as_json: what ``--json`` prints of an answer.
        by_place: options that are given without a name though they may be left out.
        encodes: the option whose text the embedder must encode.
        redact: whether it writes text, so that ``--redact`` says what becomes of secrets.
    """

    operation: str
    show: Callable[[Answer], None]
    no: Callable[[Answer], bool] = lambda _: False
    as_json: Callable[[Answer], Answer] = _whole
    by_place: tuple[str, ...] = ()
    encodes: str = ""
    redact: bool = False

    def function(self, sentence: str) -> Callable[..., None]:
        """What Typer makes a command of; *sentence* is its help."""
        from simonides.surfaces.operations.table import find_operation

        taken = find_operation(self.operation).parameters
        # A person reads what is on the screen, and needs no budget, but where there is a default one.
        options = [
            each
            for each in taken
            if each.name != "zone" and not (each.name == "max_tokens" and each.default is None)
        ]
        shared = [
            name
            for name in _SHARED
            if (name != "redact" or self.redact) and (name != "zone" or any(each.moment for each in taken))
        ]

        def run(**values: Any) -> None:
            place = {name: values.pop(name) for name in shared}
            as_json = place.pop("as_json")
            answer = self._answer(place, read_values(options, values))
            if as_json:
                print_json(self.as_json(answer))
            else:
                self.show(answer)
            if self.no(answer):
                raise typer.Exit(NEGATIVE)

        run.__doc__ = sentence
        placed = [each for each in options if each.required or each.name in self.by_place]
        named = [each for each in options if each not in placed]
        return _signed(run, [*map(_argument, placed), *_parameters(named), *map(_shared, shared)])

    def _answer(self, place: Mapping[str, Any], values: Mapping[str, Any]) -> Answer:
        embedder = environment_embedder() if self.encodes in values else None
        with bars() as progress, open_for_reading(embedder=embedder, progress=progress, **place) as opened:
            try:
                return perform(self.operation, opened, values)
            except NotFoundError as error:
                fail(str(error), NEGATIVE)


def takes(options: Iterable[Option], into: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that also takes *options* of the table; it gets those given as its argument *into*."""
    taken = tuple(options)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = _parameters(taken)
        own = [each for each in inspect.signature(command).parameters.values() if each.name != into]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {each.name: values.pop(each.name) for each in added}
            command(**values, **{into: read_values(taken, given)})

        first = [each for each in own if each.kind is not _BY_NAME]
        return _signed(run, [*first, *added, *(each for each in own if each not in first)])

    return decorate


def perform(name: str, subject: Bank | Store, values: Mapping[str, Any]) -> Answer:
    """The answer of the operation *name* with *values* by parameter; *subject* is a bank, or a store."""
    from simonides.surfaces.operations.table import find_operation

    operation = find_operation(name)
    # Whoever has the machine may name a profile's file, which the table does not allow.
    profile = {name: value for name, value in values.items() if name == "profile"}
    bound = operation.bind({name: value for name, value in values.items() if name != "profile"})
    return operation.call(subject, {**bound, **profile})


def read_values(options: Iterable[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """What the caller gave, by option, so that each default lives in the table or the engine."""
    read = {each.name: _read(each, values) for each in options}
    return {name: value for name, value in read.items() if value is not None}


def _read(option: Option, values: Mapping[str, Any]) -> Any:
    if option.name == "window" and "start" in values:
        window = [values["start"], values["end"]]
        return None if window == [None, None] else window
    value = values[option.name]
    if option.name in _VOCABULARIES and value:
        return [each.value for each in value] if option.name == "kinds" else value.value
    if isinstance(value, list | tuple):
        return (_pairs(value) if option.name == "aliases" else list(value)) or None
    if option.values.get("type") == "object" and value is not None:
        return _object(value, f"--{option.name}")
    return value


def _pairs(written: Iterable[str]) -> dict[str, list[str]]:
    """``word=other`` as ``Bank.recall`` takes it."""
    aliases: dict[str, list[str]] = {}
    for pair in written:
        word, sign, other = pair.partition("=")
        if not (sign and word.strip() and other.strip()):
            raise InputError("--alias", f"expected WORD=OTHER, such as db=database, got {pair!r}")
        aliases.setdefault(word.strip(), []).append(other.strip())
    return aliases


def _object(written: str, option: str) -> Any:
    try:
        return json.loads(written)
    except ValueError as error:
        raise InputError(option, f'is not JSON ({error}); write it like {{"page": 3}}') from None


def _argument(option: Option) -> inspect.Parameter:
    kind = _type(option)
    metavar = option.metavar or ("TIME" if option.moment else option.name.upper())
    described = typer.Argument(metavar=metavar, help=option.sentence, show_default=option.otherwise or False)
    default = inspect.Parameter.empty if option.required else None
    return _parameter(option.name, Annotated[kind if option.required else kind | None, described], default)


def _parameters(options: Iterable[Option]) -> list[inspect.Parameter]:
    named = {each.name for each in options}
    return [one for each in options for one in _named(each, named)]


def _named(option: Option, others: set[str]) -> Iterable[inspect.Parameter]:
    """The parameters of one option: a start and an end of a window, else one."""
    if option.name == "profile":
        yield _parameter("profile", ProfileOption, "default")
        return
    if option.moment and option.name == "window":
        for name, flag, words in (("start", "--from", "from then on"), ("end", "--to", "before then")):
            described = typer.Option(flag, metavar="TIME", help=f"Only what happened {words}.")
            yield _parameter(name, Annotated[str | None, described], None)
        return
    kind = _type(option)
    word = (option.flag or option.name).rpartition("_")[2].upper()
    flags = "/".join(f"--{name}" for name in (option.flag or option.name).replace("_", "-").split("/"))
    if kind is bool:
        switch = typer.Option(flags, help=option.sentence)
        yield _parameter(option.name, Annotated[bool | None, switch], None)
        return
    repeated = " (repeatable)" if get_origin(kind) is list else ""
    shown = option.otherwise or ("" if option.default is None else str(option.default))
    described = typer.Option(
        flags,
        metavar=option.metavar or ("TIME" if option.moment else _METAVARS.get(kind, word)),
        help=f"{option.sentence[:-1]}{repeated}.",
        show_default=f"--{shown.replace('_', '-')}" if shown in others else shown or False,
    )
    yield _parameter(option.name, Annotated[kind | None, described], None)


def _type(option: Option) -> Any:
    """The type of one value, as it is written: whole numbers, numbers, switches, repeated texts, texts."""
    if option.name in _VOCABULARIES:
        words = _VOCABULARIES[option.name]
        return list[words] if option.name == "kinds" else words  # type: ignore[valid-type]
    types = types_of(option.values) - {"null"}
    if option.moment:
        return str
    if "array" in types or option.name == "aliases":
        return list[str]
    of_one: dict[str, type] = {"boolean": bool, "integer": int, "number": float}
    return of_one[types.pop()] if len(types) == 1 and types <= of_one.keys() else str


def _shared(name: str) -> inspect.Parameter:
    kind, default = _SHARED[name]
    return _parameter(name, kind, default)


def _parameter(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, _BY_NAME, annotation=annotation, default=default)


def _signed(run: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    # What Typer reads a command's options from.
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=_BY_NAME) for each in parameters]
    )
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
