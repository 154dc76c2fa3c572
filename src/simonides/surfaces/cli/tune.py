"""`simonides tune`: fit a profile's numbers to judged queries of one's own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError
from simonides.records.hygiene import read_at_most
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, ProfileOption, StoreOption, given, option
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_table, print_text, printable, say, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from simonides.evaluation.tuning import Settings, Tuned


def tune(
    judged: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines: {"query": …, "relevant": [ids]}, or "recall_id" in place of "relevant".',
        ),
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    profile: ProfileOption = "default",
    out: Annotated[Path | None, option("--out FILE.toml", "Profile to write.", "nothing is written")] = None,
    force: Annotated[bool, option("--force", "Write over files that are there.")] = False,
    measure: Annotated[str | None, option("--measure NAME", "What to raise.", "ndcg@10")] = None,
    trials: Annotated[int | None, option("--trials N", "Profiles to try at most.", "100")] = None,
    held_out: Annotated[
        float | None, option("--held-out SHARE", "Of the queries, for the test.", "0.4")
    ] = None,
    alpha: Annotated[float | None, option("--alpha P", "Adopt below this p-value.", "0.05")] = None,
    seed: Annotated[int | None, option("--seed N", "Of split, search and test.", "0")] = None,
    as_of: Annotated[
        str | None, option("--as-of TIME", "Viewpoint of queries that state none.", "the bank's last write")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Search better numbers for a profile; adopt them only if they help on held-out queries.

    Exit code 1: refused, nothing written.
    """
    from simonides.evaluation.tuning import Settings
    from simonides.evaluation.tuning_file import base_of, check_target, write_tuned

    options = given(measure=measure, trials=trials, held_out=held_out, alpha=alpha, seed=seed, as_of=as_of)
    settings = Settings(**options, place=judged.name)
    if out is not None:
        check_target(out, base_of(profile), force=force)
    tuned = _tuned(judged, store, bank, profile, settings)
    written: list[Path] = []
    if tuned.adopted and out is not None:
        written = [out, write_tuned(out, tuned.base, tuned.changes, tuned.evidence, force=force)]
    if as_json:
        print_json({**tuned.to_dict(), "written": [str(path) for path in written]})
    else:
        _print(tuned, written)
    if not tuned.adopted:
        raise typer.Exit(NEGATIVE)


_LARGEST_FILE = 1 << 28


def _tuned(judged: Path, store: str | None, bank: str, profile: str, settings: "Settings") -> "Tuned":
    from simonides.evaluation.tuning import tune as fit
    from simonides.evaluation.tuning_file import read_judged_queries

    try:
        with judged.open("rb") as stream:
            lines = read_at_most(stream, _LARGEST_FILE, str(judged)).decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise InputError(str(judged), f"cannot be read: {problem}; give a file of JSON lines") from error
    with (
        bars() as progress,
        open_for_reading(store, bank, embedder=environment_embedder(), progress=progress) as opened,
    ):
        queries = read_judged_queries(lines, opened.used_by_recall(), place=settings.place)
        return fit(opened, profile, queries, settings, progress=progress)


def _print(tuned: "Tuned", written: list[Path]) -> None:
    evidence = tuned.evidence
    for problem in evidence["degraded"]:
        say(f"note: {problem}")
    if tuned.changes:
        numbers = ("before", "after")
        rows = table("number", *numbers, numbers=numbers)
        for change in tuned.changes:
            rows.add_row(printable(str(change.number)), f"{change.number.value:g}", f"{change.after:g}")
        print_table(rows)
        print_text(_told(evidence))
    if not tuned.adopted:
        print_text(f"refused, nothing written: {tuned.reason}")
    elif written:
        print_text(f"adopted; written: {', '.join(map(str, written))}")
    else:
        print_text("adopted; nothing written: give --out FILE.toml")


def _told(evidence: Mapping[str, Any]) -> str:
    measure, held_out = evidence["settings"]["measure"], evidence["held_out"]
    gain, count = held_out["difference"], evidence["queries"]["held_out"]
    return (
        f"{measure} on {count} held-out queries: {held_out['before']['mean']:.4f} → "
        f"{held_out['after']['mean']:.4f}, difference {gain['mean']:+.4f} "
        f"({gain['low']:+.4f} to {gain['high']:+.4f}), p = {gain['p']:.2g}"
    )
