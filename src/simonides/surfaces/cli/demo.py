"""`simonides demo`: a year's journal retained and asked.

The store is thrown away unless ``--store`` names one; ``SIMONIDES_STORE`` does not count here, since a demo
has no business in a store that is in use.
"""

from contextlib import nullcontext
from dataclasses import asdict
from tempfile import TemporaryDirectory
from typing import Annotated

from simonides.surfaces.cli.opening import environment_embedder, store_path
from simonides.surfaces.cli.options import JsonOption, option
from simonides.surfaces.cli.output import console, print_json, say


def demo(
    *,
    store: Annotated[
        str | None, option("--store PATH", "Keep the journal here.  [default: a temporary folder]")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Retain a year's journal and ask it ten questions."""
    from simonides.surfaces.demo.demo import run_demo

    folder = TemporaryDirectory(prefix="simonides-demo-") if store is None else nullcontext(store_path(store))
    with folder as path:
        # With --json the conversation is for people beside the answer, so it leaves standard output.
        summary = run_demo(path, console(err=as_json), embedder=environment_embedder())
    if as_json:
        print_json(asdict(summary))
    else:
        say("Look around in it: simonides ui --demo")
