"""`simonides enrich`: have a language model add to memories what rules do not see."""

from typing import Annotated, Any

import typer

from simonides.surfaces.cli.language_model import api_key, check_offline
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, given
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text, say
from simonides.surfaces.cli.progress import bars


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
        str,
        typer.Option(
            "--model", metavar="NAME", envvar="SIMONIDES_LLM_MODEL", help="The model's name on that server."
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            envvar="SIMONIDES_LLM_BASE_URL",
            help="Server that speaks the chat-completions protocol.  [default: OpenAI's]",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--most", metavar="N", min=1, help="Memories at most.", show_default=False)
    ] = None,
    cost_cap: Annotated[
        float | None,
        typer.Option(
            "--cost-cap",
            metavar="X",
            min=0,
            help="End before a request that could pass this cost; needs the prices.",
            show_default=False,
        ),
    ] = None,
    input_price: Annotated[
        float, typer.Option("--input-price", metavar="X", min=0, help="Price of a million tokens sent.")
    ] = 0.0,
    output_price: Annotated[
        float, typer.Option("--output-price", metavar="X", min=0, help="Price of a million tokens received.")
    ] = 0.0,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", help="For each answer.", show_default=False),
    ] = None,
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
    if as_json:
        print_json(report)
    else:
        print_text(_summary(report))
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
