"""`simonides stats`: what a bank holds."""

from collections.abc import Mapping

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_text


def stats(*, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False) -> None:
    """Show what a bank holds."""
    with open_for_reading(store, bank) as opened:
        answer = opened.stats()
    if as_json:
        print_json(answer)
    else:
        print_text("\n".join(_lines(answer, "")))


def _lines(values: Mapping[str, object], indent: str) -> list[str]:
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_plain(value)}")
    return lines


def _plain(value: object) -> str:
    if value is None or value in ("", [], ()):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
