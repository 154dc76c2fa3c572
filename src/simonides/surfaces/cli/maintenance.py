"""Commands that maintain a bank: promotion, archiving, decay, links, enrichment, re-embedding."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError
from simonides.surfaces.cli.language_model import api_key, check_offline, environment_model
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.operating import Command
from simonides.surfaces.cli.options import BankOption, JsonOption, ProfileOption, StoreOption, given, option
from simonides.surfaces.cli.output import (
    NEGATIVE,
    print_answer,
    print_json,
    print_table,
    print_text,
    say,
    table,
)
from simonides.surfaces.cli.progress import Report, bars

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.bank import Bank
    from simonides.lifecycle.reembedding import ReembedReport
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.models.llm import LanguageModel

_AT_ONCE = 200
"""Rows of one step of ``settle``."""


def maintain(
    *,
    profile: ProfileOption = "default",
    most: Annotated[int | None, option("--most N", "Steps at most.", "10,000", min=1)] = None,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and write nothing.")] = False,
    llm: Annotated[
        bool,
        option(
            "--llm", "Have the language model of the settings write new observations; sends it their sources."
        ),
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Promote memories, archive old ones, summarise repeated statements; nothing is deleted.

    A run that is cut short is simply made again. Only one process maintains a bank at a time.
    """
    model = _needed_model() if llm and not dry_run else None
    with (
        bars() as progress,
        # Words of its own need a vector of their own.
        open_for_reading(store, bank, embedder=environment_embedder() if model else None) as opened,
    ):
        report = opened.maintain(
            profile=profile, dry_run=dry_run, progress=progress, model=model, **given(most=most)
        )
    print_answer(report.to_dict(), _steps(report), as_json=as_json)


def _needed_model() -> "LanguageModel":
    model = environment_model()
    if model is None:
        raise InputError("--llm", "no language model is set up; name one with SIMONIDES_LLM_MODEL")
    return model


def _steps(report: "MaintenanceReport") -> str:
    lines = []
    for step in report.steps:
        change = " → ".join(part for part in (step.was, step.became) if part)
        lines.append(f"{step.action:<8}  {step.memory or '(new)':<16}  {change}: {step.reason}")
    done = "would be made" if report.dry_run else "made"
    waits = f", {report.left:,} wait for the next run" if report.left else ""
    return "\n".join([*lines, f"{len(report.steps):,} steps {done}{waits}"])


def _show_moves(answer: "Mapping[str, Any]") -> None:
    if not answer["moves"]:
        say("no moves: neither maintenance nor a newer memory nor anybody has changed a memory")
        return
    names = ("memory", "action", "was", "became", "reason")
    rows = table("number", *names, "undone", numbers=("number",))
    for move in answer["moves"]:
        told = (str(move[name]) or "-" for name in names)
        rows.add_row(str(move["number"]), *told, move["undone_at"] or "-")
    print_table(rows)


def _show_ttl(answer: "Mapping[str, Any]") -> None:
    set_now = {**({} if answer["bank"] is None else {"every other": answer["bank"]}), **answer["kinds"]}
    if not set_now:
        print_text("memories never end")
        return
    rows = table("kind", "seconds", "then", numbers=("seconds",))
    for name, each in set_now.items():
        rows.add_row(name, str(each["ttl"]), each["on_expiry"])
    print_table(rows)


MOVES = Command("moves", _show_moves, by_place=("memory",))
UNDO_MOVE = Command("undo_move", lambda answer: print_text(f"move {answer['undone']} undone"))
SET_TTL = Command("set_ttl", _show_ttl)


def settle(*, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False) -> None:
    """Link memories that were stored in large batches to their neighbours; recall works meanwhile."""
    with bars() as progress, open_for_reading(store, bank) as opened:
        compared = settle_all(opened, progress)
    print_answer({"compared": compared}, f"{compared:,} compared", as_json=as_json)


def settle_all(bank: "Bank", progress: Report | None) -> int:
    """Work off all that waits, step by step; an interruption loses one step at most."""
    compared = 0
    while step := bank.settle(_AT_ONCE):
        compared += step
        if progress:
            progress("memories compared", compared, None)
    return compared


def check(
    *,
    root: Annotated[Path, option("--root DIR", "The folder that the memories speak of.")],
    dry_run: Annotated[bool, option("--dry-run", "Note nothing in the bank.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Find memories that name paths, commands or packages that are not there; exit code 1 when there are any.

    Nothing is run and no memory is changed; what is found is noted, and `simonides moves` shows it.
    """
    with open_for_reading(store, bank) as opened:
        found = opened.check_references(root, dry_run=dry_run)
    if as_json:
        print_json({"dead": [one.to_dict() for one in found]})
    elif found:
        rows = table("memory", "sort", "name")
        for one in found:
            rows.add_row(one.memory, one.sort, one.name)
        print_table(rows)
    else:
        say("every path, command and package that memories name is there")
    if found:
        raise typer.Exit(NEGATIVE)


def enrich(
    memory_ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Queue these, also if they were enriched before; by default all that were not.",
            show_default=False,
        ),
    ] = None,
    *,
    model: Annotated[
        str, option("--model NAME", "The model's name on that server.", envvar="SIMONIDES_LLM_MODEL")
    ],
    base_url: Annotated[
        str | None,
        option(
            "--base-url URL",
            "Server that speaks the chat-completions protocol.  [default: OpenAI's]",
            False,
            envvar="SIMONIDES_LLM_BASE_URL",
        ),
    ] = None,
    most: Annotated[int | None, option("--most N", "Memories at most.", False, min=1)] = None,
    cost_cap: Annotated[
        float | None,
        option(
            "--cost-cap X", "End before a request that could pass this cost; needs the prices.", False, min=0
        ),
    ] = None,
    input_price: Annotated[float, option("--input-price X", "Price of a million tokens sent.", min=0)] = 0.0,
    output_price: Annotated[
        float, option("--output-price X", "Price of a million tokens received.", min=0)
    ] = 0.0,
    timeout: Annotated[float | None, option("--timeout SECONDS", "For each answer.", False)] = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Queue memories and ask a language model about them; exit code 1 when a request failed.

    Texts and contexts of memories are sent to the server. The API key is read from SIMONIDES_LLM_API_KEY; for
    OpenAI's own server OPENAI_API_KEY does as well. What fails is tried again by a later run.
    """
    from simonides.models.llm import DEFAULT_BASE_URL, LanguageModel

    url = base_url or DEFAULT_BASE_URL
    check_offline(url, "--base-url")
    enricher = LanguageModel(
        model,
        url,
        api_key(needed=url == DEFAULT_BASE_URL),
        input_price=input_price,
        output_price=output_price,
        **given(timeout_seconds=timeout),
    )
    with open_for_reading(store, bank) as opened:
        opened.queue_enrichment(memory_ids or None)
        with bars() as progress:
            report = opened.enrich(enricher, most=most, cost_cap=cost_cap, progress=progress).to_dict()
    print_answer(report, _summary(report), as_json=as_json)
    if report["stopped"]:
        say(f"stopped: {report['stopped']}")
    if report["failed"]:
        raise typer.Exit(NEGATIVE)


def _summary(report: dict[str, Any]) -> str:
    return (
        f"{report['done']} enriched, {report['failed']} failed, {report['waiting']} waiting, "
        f"{report['given_up']} given up\n"
        f"{report['calls']} requests, {report['input_tokens']:,} tokens sent, "
        f"{report['output_tokens']:,} received, cost {report['cost']:.4f}"
    )


def reembed(
    *,
    model: Annotated[
        str | None, option("--model NAME", "The new model; see `simonides models`.", False)
    ] = None,
    dimension: Annotated[
        int | None, option("--dimension N", "Cut its vectors to N numbers.", "not cut", min=1)
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and write nothing.")] = False,
    abandon: Annotated[
        bool, option("--abandon", "Keep the present model and drop an unfinished migration.")
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Migrate a bank to another embedding model; it is read and written meanwhile.

    Recall uses the old model until all is ready. A run that is cut short goes on when it is made again.
    """
    if abandon:
        if model is not None or dry_run:
            raise InputError("--abandon", "cannot be combined; leave out --model and --dry-run")
        _abandon(store, bank, as_json=as_json)
        return
    if model is None:
        raise InputError("--model", "is needed; `simonides models list` shows the names")
    with bars() as progress, open_for_reading(store, bank, progress=progress) as opened:
        report = opened.reembed(model, dry_run=dry_run, progress=progress, **given(dimension=dimension))
    print_answer(report.to_dict(), _reembedded(report), as_json=as_json)


def _abandon(store: str | None, bank: str, *, as_json: bool) -> None:
    with open_for_reading(store, bank) as opened:
        was = opened.abandon_reembedding()
    print_answer({"abandoned": was}, "abandoned" if was else "no migration was unfinished", as_json=as_json)
    if not was:
        raise typer.Exit(NEGATIVE)


def _reembedded(report: "ReembedReport") -> str:
    before = report.was or "no model"
    if report.dry_run:
        return f"{report.encoded:,} of {report.rows:,} versions would be encoded by {report.model}"
    if not report.switched:
        return f"the bank has {report.model} already; {report.dropped:,} old rows dropped"
    without = f", {report.without:,} could not be" if report.without else ""
    return (
        f"{report.encoded:,} versions encoded{without}, {report.links:,} links made; "
        f"the bank went over from {before} to {report.model}"
    )


def train_reranker(
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    dry_run: Annotated[bool, option("--dry-run", "Train, and write nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train the learned reranker on feedback; it is kept if it does better on later recalls."""
    from simonides.evaluation.feedback import train_reranker as train

    with open_for_reading(store, bank) as opened:
        trained = train(opened, dry_run=dry_run)
    if as_json:
        print_json(trained.to_dict())
    else:
        written = f"written to {trained.path}" if trained.path else "nothing written"
        print_text(f"{trained.samples:,} returned memories, {trained.used:,} used; {written}")
        print_text(
            f"on {trained.held_out:,} recalls held out: {trained.right:.3f} of pairs in the right order, "
            f"{trained.right_before:.3f} by cosine alone; {'better' if trained.adopted else 'not adopted'}"
        )
