"""The front door: few names, all documented, and cheap to import."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import simonides

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("apsw", "numpy", "onnxruntime", "tokenizers", "typer", "rich")


def test_the_names_are_sorted_and_are_exactly_what_a_star_import_gives() -> None:
    namespace: dict[str, object] = {}
    exec("from simonides import *", namespace)
    del namespace["__builtins__"]

    assert simonides.__all__ == sorted(set(simonides.__all__))
    assert sorted(namespace) == simonides.__all__
    assert simonides.__all__ == [
        "AsyncBank",
        "Bank",
        "Hit",
        "Memory",
        "Recall",
        "SimonidesError",
        "Store",
        "__version__",
        "connect",
        "open",
        "remember",
        "without_memory",
    ]


@pytest.mark.parametrize("name", [name for name in simonides.__all__ if name != "__version__"])
def test_every_class_and_function_and_their_methods_are_documented(name: str) -> None:
    thing = getattr(simonides, name)
    methods = {
        method: value
        for method, value in inspect.getmembers(thing, inspect.isfunction)
        if not method.startswith("_") and inspect.isclass(thing)
    }

    assert (thing.__doc__ or "").strip()
    # A dataclass without a docstring of its own gets its signature for one.
    assert not thing.__doc__.startswith(f"{name}(")
    assert sorted(m for m, value in methods.items() if not (value.__doc__ or "").strip()) == []


def test_every_argument_of_the_main_verbs_is_explained() -> None:
    verbs = (
        simonides.open,
        simonides.Store.bank,
        simonides.Bank.retain,
        simonides.Bank.recall,
        simonides.remember,
    )

    for verb in verbs:
        described = inspect.getdoc(verb) or ""
        arguments = [name for name in inspect.signature(verb).parameters if name != "self"]
        assert [name for name in arguments if f"\n    {name}: " not in described] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'memorise'"):
        _ = simonides.memorise


@pytest.mark.parametrize("name", ["__version__", "Memory", "connect"])
def test_the_package_its_records_and_the_client_of_a_server_load_nothing_heavy(name: str) -> None:
    code = f"import sys, simonides; simonides.{name}; print(sorted(set(sys.modules) & set({HEAVY!r})))"

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert answer.stdout.strip() == "[]"


def test_help_of_the_command_line_loads_no_part_of_the_engine() -> None:
    code = (
        "import sys\n"
        "from contextlib import suppress\n"
        "from simonides.surfaces.cli.main import main\n"
        "sys.argv = ['simonides', 'recall', '--help']\n"
        "with suppress(SystemExit):\n"
        "    main()\n"
        "parts = {each.split('.')[1] for each in sys.modules if each.startswith('simonides.')}\n"
        "parts |= {'numpy', 'apsw', 'rich'} & set(sys.modules)\n"
        "print(sorted(parts), file=sys.stderr)\n"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert "--tags-match" in answer.stdout
    assert eval(answer.stderr) == ["deprecations", "errors", "json_schema", "options", "records", "surfaces"]


def test_recall_by_words_alone_loads_no_model_runtime(tmp_path: Path) -> None:
    code = (
        "import sys, simonides\n"
        "with simonides.open(sys.argv[1], embedder=None) as store:\n"
        "    store.bank('b').retain('the lamp is lit')\n"
        "    store.bank('b').recall('lamp')\n"
        "print(sorted(set(sys.modules) & {'onnxruntime', 'tokenizers', 'typer', 'rich'}))\n"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert answer.stdout.strip() == "[]"


def test_open_gives_a_store_whose_bank_retains_and_recalls(tmp_path: Path) -> None:
    with simonides.open(tmp_path / "memories", embedder=None) as store:
        bank = store.bank("assistant")
        [memory_id] = bank.retain("Odalys moved the weekly review to Thursday.", kind="decision")
        recall = bank.recall("When is the review?")

    assert isinstance(store, simonides.Store)
    assert isinstance(bank, simonides.Bank)
    assert isinstance(recall, simonides.Recall)
    assert isinstance(recall[0], simonides.Hit)
    assert isinstance(recall[0].memory, simonides.Memory)
    assert recall[0].id == memory_id


def test_every_error_on_purpose_is_caught_by_the_one_base(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        for wrong in (
            lambda: store.bank(""),
            lambda: store.bank("b").get_memory("none"),
            lambda: store.bank("b").recall(""),
        ):
            with pytest.raises(simonides.SimonidesError):
                wrong()
