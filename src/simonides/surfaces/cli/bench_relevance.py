"""`simonides bench relevance`: how well probabilities hold, and what is given by them."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from simonides.surfaces.cli.bench_inputs import EmbedderOption, chosen_embedder
from simonides.surfaces.cli.options import JsonOption, ProfileOption, option
from simonides.surfaces.cli.output import print_json, print_table, print_text, table
from simonides.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from rich.table import Table

_GIVEN = ("precision", "recall", "hits", "tokens", "nothing")


def relevance(
    *,
    data: Annotated[
        Path, option("--data DIR", "Folder that holds any of locomo, musique, everyday and shortbanks.")
    ],
    profile: ProfileOption = "default",
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how well a profile's relevance and confidence hold, and what it gives by them."""
    from simonides.evaluation.datasets import load_present
    from simonides.evaluation.relevance import run_relevance

    datasets = load_present(data)
    with TemporaryDirectory(prefix="simonides-bench-") as folder, bars() as progress:
        answer = run_relevance(
            datasets,
            store_path=Path(folder),
            profile=profile,
            embedder=chosen_embedder(embedder, progress),
            progress=progress,
        ).to_dict()
    if as_json:
        print_json(answer)
        return
    print_text(f"profile {answer['profile']}, embedder {answer['embedder'] or 'none'}")
    print_text(f"the models were fitted on {', '.join(answer['fitted_on'])}")
    for rows in (_calibration(answer), _bins(answer), _areas(answer), *_given(answer)):
        print_table(rows)


def _calibration(answer: Mapping[str, Any]) -> "Table":
    names = ("hits", "hit error", "questions", "confidence error")
    rows = table("data set", *names, numbers=names)
    rows.title = "calibration"
    hits, questions = (answer["calibration"][name] for name in ("relevance", "confidence"))
    for part, hit in hits.items():
        whole = questions[part]
        rows.add_row(part, f"{hit['n']:,}", f"{hit['error']:.4f}", f"{whole['n']:,}", f"{whole['error']:.4f}")
    return rows


def _bins(answer: Mapping[str, Any]) -> "Table":
    names = ("n", "mean", "right")
    rows = table("of", *names, numbers=names)
    rows.title = "bins of equal mass: mean probability, and share of right ones"
    for of, parts in answer["calibration"].items():
        for each in parts["all"]["bins"]:
            rows.add_row(of, f"{each['n']:,}", f"{each['chance']:.4f}", f"{each['right']:.4f}")
    return rows


def _areas(answer: Mapping[str, Any]) -> "Table":
    from simonides.evaluation.relevance import ADVERSARIAL

    rows = table("answerable against", "questions", "AUC", numbers=("questions", "AUC"))
    rows.title = "confidence"
    counts = {k: n for k, n in answer["questions"].items() if k not in answer["answerable"]}
    for kind, area in answer["auc"].items():
        count = counts.get(kind, sum(n for k, n in counts.items() if k != ADVERSARIAL))
        rows.add_row(kind, f"{count:,}", "-" if area is None else f"{area:.4f}")
    return rows


def _given(answer: Mapping[str, Any]) -> "list[Table]":
    tables = []
    for title, lines in (
        ("given by precision", [(name, row) for name, row in answer["precision"]["all"].items()]),
        ("given by min_relevance", [(f"{row['min_relevance']:g}", row) for row in answer["min_relevance"]]),
    ):
        rows = table("", "questions", *_GIVEN, numbers=_GIVEN)
        rows.title = title
        for name, row in lines:
            for kind, means in row.items():
                if kind == "min_relevance":
                    continue
                cells = (f"{means[each]:.4f}" if each in means else "" for each in _GIVEN)
                rows.add_row(name, kind, *cells)
        tables.append(rows)
    return tables
