"""`simonides reflect`: an answer in words, from what is remembered, by a language model."""

from typing import Annotated, Any

import typer

from simonides.surfaces.cli.language_model import environment_model
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text, printable, say
from simonides.surfaces.cli.progress import bars
from simonides.surfaces.cli.recall_options import takes_recall_options


@takes_recall_options
def reflect(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question.", show_default=False)],
    *,
    asked: dict[str, Any],
    max_answer_tokens: Annotated[
        int, typer.Option("--max-answer-tokens", metavar="N", help="Tokens of the answer at most.")
    ] = 1024,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Answer a question from memory, with citations; exit code 1 when memory holds no answer.

    The model is named by SIMONIDES_LLM_MODEL, SIMONIDES_LLM_BASE_URL and SIMONIDES_LLM_API_KEY. What was
    recalled is sent to it. Without one the recalled memories are printed.
    """
    model = environment_model()

    def show(text: str) -> None:
        if not as_json:
            typer.echo(printable(text), nl=False)

    with (
        bars() as progress,
        open_for_reading(
            store, bank, embedder=environment_embedder(), progress=progress, zone=zone
        ) as opened,
    ):
        answer = opened.reflect(
            query, answerer=model, on_text=show, max_answer_tokens=max_answer_tokens, **asked
        )
        sources = [(each.number, opened.get(each.id)) for each in answer.citations]
    if as_json:
        print_json(answer.to_dict())
    else:
        print_text("" if answer.answer else answer.context)
        for number, memory in sources:
            print_text(f"[{number}] {memory.id}: {' '.join(memory.text.split())}")
        if answer.note:
            say(f"note: {answer.note}")
    if answer.no_match:
        raise typer.Exit(NEGATIVE)
