"""Have a language model answer from what is recalled, and another one judge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from bench.answering import (
    VERSION,
    AnswerLog,
    AnswerRun,
    answer_report,
    digest,
    load_answers,
)
from bench.command import run as run_bench

from simonides.errors import InputError
from simonides.models.llm import DEFAULT_BASE_URL, LanguageModel
from simonides.models.resolve import load_embedder
from simonides.models.server import place
from simonides.surfaces.cli.bench_inputs import EmbedderOption, LimitOption, chosen_embedder
from simonides.surfaces.cli.language_model import api_key, check_offline
from simonides.surfaces.cli.options import (
    ContextTokensOption,
    JsonOption,
    PrecisionOption,
    ProfileOption,
    given,
)
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_table, print_text, say, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from rich.table import Table

    from simonides.protocols import Embedder


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def answer(
    *,
    dataset: Annotated[str, typer.Option("--dataset", metavar="NAME", help="locomo or longmemeval.")],
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help="The data set's original JSON file.")],
    llm: Annotated[
        str,
        typer.Option("--llm", metavar="URL", help="Server that speaks the chat-completions protocol."),
    ],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Model that answers.")],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge", metavar="NAME", help="Model that judges, of the same server.", show_default="--model"
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="Answers as JSONL; a run with the same file goes on."),
    ],
    limit: LimitOption = None,
    profile: ProfileOption = "default",
    hits: Annotated[
        int | None,
        typer.Option("--hits", metavar="N", help="Memories at most.", show_default="the profile's"),
    ] = None,
    max_tokens: ContextTokensOption = None,
    precision: PrecisionOption = None,
    embedder: EmbedderOption = None,
    temperature: Annotated[
        str, typer.Option("--temperature", metavar="T", help="Of both models, 0 to 2, or none to send none.")
    ] = "0",
    retries: Annotated[
        int,
        typer.Option("--retries", metavar="N", min=0, max=10, help="Of a request that got no answer."),
    ] = 2,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=1, help="For each answer.")
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Measure answers: retain conversations, recall, have one model answer and another judge.

    This command was never run with a real model, only against a test server that speaks the protocol.
    Questions, recalled texts and right answers are sent to the server, two requests a question. The API key
    is read from SIMONIDES_LLM_API_KEY (for OpenAI's own server OPENAI_API_KEY does as well) and stored
    nowhere. Exit code 1 when a question failed or was not asked; the same command asks those again.
    """
    check_offline(llm, "--llm")
    key = api_key(needed=llm.rstrip("/") == DEFAULT_BASE_URL)
    warmth = _temperature(temperature)
    answerer, judging = (
        LanguageModel(name, llm, key, timeout_seconds=timeout, max_retries=retries, temperature=warmth)
        for name in (model, judge or model)
    )
    talks = load_answers(dataset, data, limit)
    options: dict[str, Any] = {"profile": profile}
    options |= given(limit=hits, max_tokens=max_tokens, precision=precision)
    with bars() as progress:
        chosen = _embedder(embedder, progress)
        settings = {
            "dataset": dataset,
            "file": f"{data.name} {digest(data)}",
            "model": model,
            "judge": judge or model,
            "temperature": warmth,
            "recall": options,
            "embedder": chosen.name if chosen else None,
            "prompts": VERSION,
        }
        log = AnswerLog(out, settings)
        run = AnswerRun(dataset, answerer, judging, options, chosen)
        stopped = run.run(talks, log, progress)
    report = {"server": place(llm), **settings, **answer_report(talks, log), "stopped": stopped}
    if as_json:
        print_json(report)
    else:
        _print(report)
    if stopped:
        say(f"stopped: {stopped}. The same command goes on")
    if report["failures"] or report["waiting"]:
        raise typer.Exit(NEGATIVE)


def _temperature(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError("temperature", f"{text!r} is no number; give one from 0 to 2, or none") from None


def _embedder(name: str | None, progress: Any) -> "Embedder | None":
    """The embedder itself, so that the file of answers can say which it was."""
    chosen = chosen_embedder(name, progress)
    return load_embedder() if chosen == "auto" else chosen


def _print(report: dict[str, Any]) -> None:
    print_text(
        f"{report['dataset']}: {report['model']} answered, {report['judge']} judged, "
        f"profile {report['recall']['profile']}, embedder {report['embedder'] or 'none'}"
    )
    print_table(_table(report))
    failures = ", ".join(f"{count} {kind}" for kind, count in report["failures"].items()) or "none"
    print_text(f"failed: {failures}; not asked yet: {report['waiting']:,}")
    tokens = report["tokens"]
    context = tokens["context_mean"]
    print_text(
        f"context: {'-' if context is None else f'{context:,.0f}'} tokens a question; "
        f"tokens sent and received: {tokens['input_tokens']:,} and {tokens['output_tokens']:,} to answer, "
        f"{tokens['judge_input_tokens']:,} and {tokens['judge_output_tokens']:,} to judge"
    )


def _table(report: dict[str, Any]) -> "Table":
    rows = table("category", "judged", "correct", "accuracy", numbers=("judged", "correct", "accuracy"))
    parts = {**report["by_category"], "all": report}
    if "abstention" in report:
        parts["of them, to abstain from"] = report["abstention"]
    for name, part in parts.items():
        accuracy = "-" if part["accuracy"] is None else f"{part['accuracy']:.4f}"
        rows.add_row(name, f"{part['judged']:,}", f"{part['correct']:,}", accuracy)
    return rows


def main() -> int:
    """Run the command; it ends the process itself."""
    app()
    return 0


if __name__ == "__main__":
    run_bench(main)
