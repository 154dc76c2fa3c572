from __future__ import annotations

import inspect
import io
import json
import math
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.bank import Bank
from simonides.errors import InputError, UnknownNameError
from simonides.json_schema import NO_NUL, TIME, checked, optional, published
from simonides.surfaces.operations.table import OPERATIONS, Scope, Stream, Verb, find_operation

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.store import Store

_KNOWN = {
    "type", "enum", "anyOf", "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "pattern",
    "format", "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
    "propertyNames", "maxProperties", "not", "description", "default",
}  # fmt: skip

# Operation → method of ``Bank``, parameters that only one of them has, with the reason.
_METHODS: dict[str, tuple[str, set[str], set[str]]] = {
    "retain": ("retain", set(), set()),
    # trace: of the printed answer; Recall.trace is always there. form: what pack_as_data makes of a Recall.
    "recall": ("recall", {"trace", "form"}, set()),
    # explain: is what the operation is for.
    # helpers: of recall alone, which names a job.
    "explain": ("recall", set(), {"explain", "count_returned", "helpers"}),
    # trace, form: as for recall. wait_seconds: a server is asked again instead.
    "get_job": ("get_job", {"trace", "form"}, {"wait_seconds"}),
    # max_tokens: of the printed answer, for models.
    "get_memory": ("get_memory", {"max_tokens"}, set()),
    "history": ("history", {"max_tokens"}, set()),
    "source": ("source", {"max_tokens"}, set()),
    "diff": ("diff", {"max_tokens"}, set()),
    # cursor: the last id, which the method calls after. max_bytes: the same on every page of a server.
    "list_memories": ("list_memories", {"max_tokens", "cursor"}, {"after", "max_bytes"}),
    "facets": ("facets", set(), set()),
    "update_memory": ("update_memory", {"max_tokens"}, set()),
    "invalidate": ("invalidate", {"max_tokens"}, set()),
    "forget": ("forget", set(), set()),
    # limit, cursor: of the pages in which a server answers.
    "list_records": ("list_records", {"limit", "cursor"}, set()),
    "put_records": ("put_records", set(), set()),
    "move_records": ("move_records", set(), set()),
    "pop_record": ("pop_record", set(), set()),
    "forget_records": ("forget_records", set(), set()),
    "used": ("used", set(), set()),
    "entities": ("entities", set(), set()),
    "get_entity": ("get_entity", {"max_tokens"}, set()),
    "add_alias": ("add_alias", set(), set()),
    "remove_alias": ("remove_alias", set(), set()),
    "merge_entities": ("merge_entities", set(), set()),
    "undo_merge": ("undo_merge", set(), set()),
    "settle": ("settle", set(), set()),
    "brief": ("brief", set(), set()),
    # pinned: an operation of its own, unpin.
    "pin": ("pin", set(), {"pinned"}),
    "unpin": ("unpin", set(), set()),
    # progress, stopping: of this process alone. model: one that a caller elsewhere cannot hand over.
    "set_ttl": ("set_ttl", set(), set()),
    "maintain": ("maintain", set(), {"progress", "stopping", "model"}),
    "activity": ("activity", {"max_tokens"}, set()),
    "review": ("review", {"max_tokens"}, set()),
    "moves": ("moves", set(), set()),
    "undo_move": ("undo_move", set(), set()),
    "archive": ("archive", set(), set()),
    "quarantine": ("quarantine", set(), set()),
    "release": ("release", set(), set()),
    "audit_entries": ("audit_entries", set(), set()),
    "audit_verify": ("audit_verify", set(), set()),
    "stats": ("stats", set(), set()),
    "verify": ("verify", set(), set()),
}


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("name", _METHODS)
def test_an_operation_takes_what_its_method_takes(name: str) -> None:
    method, here, there = _METHODS[name]
    taken = set(inspect.signature(getattr(Bank, method)).parameters) - {"self"}

    assert {each.name for each in OPERATIONS[name].parameters} - here == taken - there


@pytest.mark.parametrize("name", ["retain_document", "retain_conversation"])
def test_a_whole_source_takes_what_a_memory_takes(name: str) -> None:
    shared = {each.name for each in OPERATIONS["retain"].parameters} - {"items"}
    own = set(inspect.signature(getattr(Bank, name)).parameters) - {"self", "shared"}

    assert {each.name for each in OPERATIONS[name].parameters} == shared | own


# The method gives all rows, which no answer of a server could hold.
_OWN_DEFAULTS = {("audit_entries", "most")}


def test_defaults_are_those_of_the_methods() -> None:
    for name, (method, _, _) in _METHODS.items():
        signature = inspect.signature(getattr(Bank, method)).parameters
        for each in OPERATIONS[name].parameters:
            if each.name in signature and not each.required and (name, each.name) not in _OWN_DEFAULTS:
                assert each.default == signature[each.name].default, (name, each.name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_schema_uses_only_what_is_enforced(name: str) -> None:
    def words(schema: Any) -> set[str]:
        found = set(schema)
        for key in ("items", "propertyNames", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                found |= words(schema[key])
        for inner in (*schema.get("anyOf", ()), *schema.get("properties", {}).values()):
            found |= words(inner)
        return found

    assert words(OPERATIONS[name].schema) <= _KNOWN


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_parameter_is_explained_and_every_misspelling_refused(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.help.endswith(".")
    assert all(each.help.endswith(".") for each in operation.parameters)
    assert len({each.name for each in operation.parameters}) == len(operation.parameters)

    for each in operation.parameters:
        with pytest.raises(UnknownNameError, match=f"did you mean '{each.name}'"):
            operation.bind({f"{each.name}_": None})
    with pytest.raises(UnknownNameError):
        operation.bind({"nothing_like_it": 1})


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(InputError, match=r"^query: is missing"):
        OPERATIONS["recall"].bind({})


def test_an_unknown_operation_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'recall'"):
        find_operation("recal")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"query": " "}, "query: is blank"),
        ({"query": "a\0"}, "query: holds a NUL at character 1"),
        ({"query": 3}, "query: expected a string, got 3"),
        ({"query": "a", "limit": 0}, "limit: expected a whole number from 1 to 10,000, got 0"),
        ({"query": "a", "limit": 2.5}, "limit: expected a whole number"),
        ({"query": "a", "limit": True}, "limit: expected a whole number"),
        ({"query": "a", "explain": "yes"}, "explain: expected true or false"),
        ({"query": "a", "tags": "x"}, "tags: expected a list"),
        ({"query": "a", "tags": ["x", ""]}, r"tags\[1\]: is empty"),
        ({"query": "a", "as_of": "2026-13"}, "as_of: '2026-13' is not a valid date"),
        ({"query": "a", "as_of": "2026-02-30"}, "as_of: '2026-02-30' is not a valid date"),
        ({"query": "a", "mode": "hibrid"}, "mode: 'hibrid' is not known; did you mean 'hybrid'"),
        ({"query": "a", "deadline_ms": 0}, "deadline_ms: expected a number above 0"),
        ({"query": "a", "aliases": {"db": "database"}}, "aliases.db: expected a list"),
        ({"query": "a", "profile": "/etc/passwd"}, "profile: '/etc/passwd' is not known"),
    ],
)
@pytest.mark.fault("F2")
def test_a_wrong_value_is_refused_by_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        OPERATIONS["recall"].bind(values)


def test_an_item_that_is_misspelt_is_told_the_nearest_key() -> None:
    with pytest.raises(UnknownNameError, match=r"^items\[1\]\.txt: 'txt' is not known; did you mean 'text'"):
        OPERATIONS["retain"].bind({"items": ["a", {"txt": "b"}]})


@pytest.mark.parametrize("name", ["retain", "retain_conversation"])
def test_what_has_a_text_is_no_message_whatever_its_role(name: str) -> None:
    entries = next(each.schema for each in OPERATIONS[name].parameters if each.name in {"items", "turns"})
    value = [{"text": "a", "role": "nobody"}]
    published_schema = published(entries)
    assert not jsonschema_rs.is_valid(published_schema, value)
    assert jsonschema_rs.is_valid(published_schema, [{"content": "a", "role": "nobody"}])
    for key in ("role", "type"):
        assert not jsonschema_rs.is_valid(published_schema, [{"content": "a", key: "us\0er"}])
    with pytest.raises(UnknownNameError, match="nobody"):
        checked(value, entries, "items")
    with pytest.raises(InputError, match="text: is not allowed here"):
        checked(value[0], {"type": "object", "not": {"required": ["text"]}}, "it")


@pytest.mark.parametrize(
    ("operation", "word", "meant"),
    [("retain", "text", "items"), ("retain", "messages", "items"), ("recall", "top_k", "limit")],
)
def test_a_word_of_other_engines_is_told_the_one_here(operation: str, word: str, meant: str) -> None:
    with pytest.raises(
        UnknownNameError, match=f"{word!r} is not known in {operation}; did you mean {meant!r}"
    ):
        OPERATIONS[operation].bind({word: "a"})


def test_a_whole_number_may_be_written_with_a_point() -> None:
    limit = OPERATIONS["recall"].bind({"query": "a", "limit": 5.0})["limit"]
    assert (limit, type(limit)) == (5, int)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text())))
def test_the_check_agrees_with_a_validator_of_json_schema(value: object) -> None:
    text = json.dumps(value)
    value = json.loads(text)
    if isinstance(value, float) and not math.isfinite(value):
        return
    for schema in (
        {"type": "integer", "minimum": 1, "maximum": 100},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string", "minLength": 1, "pattern": NO_NUL}, "maxItems": 2},
        {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
    ):
        try:
            checked(value, schema, "it")
            taken = True
        except InputError:
            taken = False
        assert taken == jsonschema_rs.is_valid(schema, value)


@pytest.mark.parametrize(
    "value", ["2026", "2026-03", "2026-03-10", "2026-03-10T10:00:00Z", "2026-03-10T10:00"]
)
def test_times_of_every_precision_are_taken(value: str) -> None:
    assert checked(value, optional(TIME), "as_of") == value


def test_real_answers_are_what_the_results_say(store: Store, tmp_path: Path, clock: Any) -> None:  # noqa: PLR0915 one bank, every operation
    bank = store.bank("diary")

    def do(name: str, /, **values: Any) -> Any:
        operation = OPERATIONS[name]
        subject = store if operation.scope is Scope.STORE else bank
        extra: tuple[Any, ...] = ()
        if operation.stream is Stream.OUT:
            extra = (file := io.BytesIO(),)
        elif operation.stream is Stream.IN:
            extra = (tmp_path / "export",)
        answer = operation.call(subject, operation.bind(values), *extra)
        jsonschema_rs.validate(operation.result, json.loads(json.dumps(answer)))
        if operation.stream is Stream.OUT:
            (tmp_path / name).write_bytes(file.getvalue())
        done.add(name)
        return answer

    done: set[str] = set()
    items = [
        "Odalys Brenn lives in Norrhav.",
        {"text": "Odalys Brenn works at Tarn Mill.", "tags": ["work"], "metadata": {"page": 3}},
        {"text": "Ivo Skarn moved to Norrhav.", "event_time": "2026-02-03"},
    ]
    ids = do("retain", items=items, idempotency_key="one")["ids"]
    do("retain_document", text="# Figs\n\nWater them.\n\nIn spring, feed them.", document_id="figs")
    do("retain_conversation", turns=[{"text": "Hello", "speaker": "Ivo"}, {"text": "Bye"}], session="s")
    found = do("recall", query="Where does Odalys live?", trace=True, explain=True, include_chunks=True)
    assert found["hits"][0]["text"] == items[0]
    do("recall", query="Where does Odalys live?")
    later = do("recall", query="Where does Odalys live?", tier="async", helpers="hyde")
    bank.get_job(later["job"], wait_seconds=30)
    assert do("get_job", job=later["job"], form="fenced", trace=True)["recall"]["hits"] == found["hits"]
    assert do("explain", query="Where does Odalys live?")["explanations"]
    assert do("reflect", query="Where does Odalys live?", profile="lexical")["context"]
    assert "<<" in do("recall", query="Where does Odalys live?", form="fenced", max_tokens=200)["context"]
    do("why_not", query="Where does Odalys live?", memory=ids[2], max_tokens=None)
    assert do("get_memory", memory=ids[0])["memory"]["id"] == ids[0]
    assert do("get_memory", memory=ids[0], max_tokens=1) == {"memory": None, "omitted": 1}
    do("put_records", space="notes", records=[{"path": ["figs"], "value": {"litres": 2}}])
    do("put_records", space="notes", records=[{"path": ["log"], "value": 1}], append=True)
    assert do("move_records", space="notes", path=["figs"], to=["plants", "figs"]) == {"moved": 1}
    assert [each["value"] for each in do("list_records", space="notes")["records"]] == [{"litres": 2}, 1]
    assert do("pop_record", space="notes", path=["log"])["record"]["path"] == ["log", f"{1:012}"]
    assert do("pop_record", space="notes", path=["log"]) == {"record": None}
    assert do("forget_records", space="notes") == {"forgotten": 1}
    do("used", ids=ids[:1], recall_id=found["id"])
    do("history", memory=ids[0])
    do("source", memory=ids[0])
    assert do("diff", earlier="2020")["begun"]
    entity, other = [each["number"] for each in do("entities")["entities"] if each["kind"] == "person"][:2]
    do("add_alias", entity=entity, name="Oda")
    assert [each["number"] for each in do("entities", named="oda", limit=1)["entities"]] == [entity]
    merge = do("merge_entities", entity=other, into=entity)["merge"]
    shown = do("get_entity", entity=entity, known_at="2100")
    assert (shown["merges"][0]["merge"], shown["entity"]["aliases"], shown["omitted"]) == (merge, ["Oda"], 0)
    assert any(each["relations"] for each in shown["neighbours"])
    assert do("get_entity", entity=entity, max_tokens=1)["omitted"] == len(shown["memories"]) > 0
    do("undo_merge", merge=merge)
    assert do("remove_alias", entity=entity, alias="oda") == {"entity": entity, "alias": "oda"}
    do("settle")
    do("stats")
    assert do("verify")["ok"]
    told = do("activity", most=100)
    assert {"stored", "forgotten", "recalled"} <= {each["what"] for each in told["events"]}
    assert do("activity", after=told["next"])["events"] == []
    assert do("activity", max_tokens=0)["omitted"] > 0
    do("update_memory", memory=ids[1], tags=["home"])
    do("invalidate", memory=ids[2])
    do("list_memories", max_tokens=30)
    newest = do("list_memories", order="newest", include_archived=True)["memories"]
    assert do("facets")["total"] == len(newest) > 0
    assert ids[0] in do("brief", task="Where does Odalys live?", profile="lexical")["text"]
    assert do("pin", memory=ids[0]) == {"memory": ids[0], "pinned": True, "standing": False}
    assert do("pin", memory=ids[0], always=True)["standing"]
    for form in ("plain", "fenced"):
        led = do("recall", query="figs", form=form, standing=True)
        assert [hit["id"] for hit in led["standing"]] == ids[:1]
    do("unpin", memory=ids[0])
    do("update_memory", memory=ids[1], layer="working")
    assert do("set_ttl", ttl="30d")["bank"] == {"ttl": 2_592_000.0, "on_expiry": "archive"}
    assert do("set_ttl", ttl="never", kind="decision")["kinds"] == {
        "decision": {"ttl": "never", "on_expiry": "archive"}
    }
    assert do("set_ttl", ttl="none")["bank"] is None
    do("retain", items="The guest code is 4471.", ttl=60, on_expiry="erase")
    do("put_records", space="notes", records=[{"path": ["code"], "value": 1, "ttl": 60}])
    assert do("list_records", space="notes", refresh=True)["records"][0]["ttl"] == 60
    clock.advance(days=2)
    assert do("maintain", dry_run=True)["steps"] == do("maintain")["steps"] != []
    do("undo_move", number=do("moves")["moves"][0]["number"])
    assert do("archive", ids=ids[:1]) == {"archived": 1}
    do("quarantine", ids=ids[:1])
    assert [each["what"] for each in do("review")["items"]] == ["quarantined"]
    assert do("review", max_tokens=0) == {"items": [], "omitted": 1, "next": None}
    assert do("release", ids=ids[:1]) == {"released": 1}
    bank.start_audit()
    do("audit_entries")
    assert do("audit_verify")["ok"]
    assert do("backup")["memories"]
    do("export")
    assert do("list_banks")["banks"] == ["diary"]
    assert do("create_bank", name="second") == {"bank": "second", "created": True, "zone": "UTC"}
    assert do("create_bank", name="second")["created"] is False
    assert do("delete_bank", name="second", confirm="second") == {"deleted": "second"}
    do("create_bank", name="second")
    bank = store.bank("second")
    do("import_bank")
    would = do("forget", ids=ids, dry_run=True)
    assert (would["asked"], would["forgotten"], would["dry_run"]) == (3, 3, True)
    assert would["rows"]["versions"] > 3 <= would["rows"]["episodes"]
    assert do("forget", ids=ids) == {"asked": 3, "forgotten": 3}
    assert do("verify")["ok"]
    assert done == set(OPERATIONS)


def test_pages_hold_every_memory_once(store: Store) -> None:
    bank = store.bank("diary")
    ids = bank.retain([f"Note {number} about figs." for number in range(25)], deduplicate=False)
    listing = OPERATIONS["list_memories"]

    def pages(**more: Any) -> list[str]:
        seen: list[str] = []
        cursor = None
        for _ in range(100):
            page = listing.call(bank, listing.bind({"cursor": cursor, **more}))
            seen += [memory["id"] for memory in page["memories"]]
            cursor = page["next"]
            if cursor is None:
                return seen
        raise AssertionError("the pages have no end")

    assert pages(limit=7) == sorted(ids)
    assert pages(limit=25) == sorted(ids)
    assert pages(limit=10, max_tokens=20) == sorted(ids)
    assert pages(limit=10, max_tokens=1) == []


def test_verbs_and_hints_are_honest() -> None:
    for operation in OPERATIONS.values():
        assert operation.changes or operation.verb in {Verb.READ, Verb.ADMIN}
        # A record is put in place of another for a token alone that may forget, too: see Grant.check_request.
        asks_more = operation.name == "put_records"
        assert not operation.destructive or asks_more or operation.verb in {Verb.FORGET, Verb.ADMIN}
    assert [name for name, each in OPERATIONS.items() if each.destructive] == [
        "forget", "put_records", "pop_record", "forget_records", "delete_bank",
    ]  # fmt: skip
