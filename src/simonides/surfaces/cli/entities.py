"""Commands about entities: list them, show them, name them, merge them."""

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


def _show_entity(answer: "Mapping[str, Any]") -> None:
    _show_entities({"entities": [answer["entity"]]})
    beside = table("together", "number", "name", "kind", "relations", numbers=("together", "number"))
    for each in answer["neighbours"]:
        entity, relations = each["entity"], ", ".join(each["relations"])
        beside.add_row(
            f"{each['together']:,}", str(entity["number"]), entity["name"], entity["kind"], relations
        )
    memories = table("id", "kind", "text")
    for memory in answer["memories"]:
        memories.add_row(memory["id"], memory["kind"], memory["text"])
    for rows in (beside, memories):
        if rows.row_count:
            print_text("")
            print_table(rows)
    if answer["total"] > len(answer["memories"]):
        say(f"of {answer['total']:,} memories; --most shows more")
    for merge in answer["merges"]:
        print_text(f"{merge['name']} is merged into it; `simonides undo-merge {merge['merge']}` undoes it")


def _show_alias(answer: "Mapping[str, Any]") -> None:
    print_text(f"{answer['alias']} is now a name of entity {answer['entity']}")


def _show_merge(answer: "Mapping[str, Any]") -> None:
    print_text(
        f"entity {answer['entity']} is merged into {answer['into']}; "
        f"`simonides undo-merge {answer['merge']}` undoes it"
    )


ENTITIES = Command("entities", _show_entities)
GET_ENTITY = Command("get_entity", _show_entity)
ADD_ALIAS = Command("add_alias", _show_alias, redact=True)
REMOVE_ALIAS = Command(
    "remove_alias",
    lambda answer: print_text(f"{answer['alias']} is no longer a name of entity {answer['entity']}"),
)
MERGE_ENTITIES = Command("merge_entities", _show_merge)
UNDO_MERGE = Command("undo_merge", lambda answer: print_text(f"merge {answer['undone']} is undone"))
