"""Commands about entities: list them, name them, merge them."""

from typing import TYPE_CHECKING, Any

from simonides.surfaces.cli.operating import Command
from simonides.surfaces.cli.output import print_table, print_text, printable, say, table

if TYPE_CHECKING:
    from collections.abc import Mapping


def _show_entities(answer: "Mapping[str, Any]") -> None:
    if not answer["entities"]:
        say("no memory names anyone or anything")
        return
    rows = table("number", "name", "kind", "memories", "also called", numbers=("number", "memories"))
    for entity in answer["entities"]:
        name = f"{entity['name']} ({entity['qualifier']})" if entity["qualifier"] else entity["name"]
        also = ", ".join(alias for alias in entity["aliases"] if alias != entity["name"])
        rows.add_row(
            str(entity["number"]), printable(name), entity["kind"], f"{entity['mentions']:,}", printable(also)
        )
    print_table(rows)


def _show_alias(answer: "Mapping[str, Any]") -> None:
    print_text(f"{answer['alias']} is now a name of entity {answer['entity']}")


def _show_merge(answer: "Mapping[str, Any]") -> None:
    print_text(
        f"entity {answer['entity']} is merged into {answer['into']}; "
        f"`simonides undo-merge {answer['merge']}` undoes it"
    )


ENTITIES = Command("entities", _show_entities)
ADD_ALIAS = Command("add_alias", _show_alias, redact=True)
MERGE_ENTITIES = Command("merge_entities", _show_merge)
UNDO_MERGE = Command("undo_merge", lambda answer: print_text(f"merge {answer['undone']} is undone"))
