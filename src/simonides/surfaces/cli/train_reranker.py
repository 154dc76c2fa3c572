"""`simonides train-reranker`: learn from what was used after it was recalled."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_text


def train_reranker(
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Train, and write nothing.")] = False,
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
