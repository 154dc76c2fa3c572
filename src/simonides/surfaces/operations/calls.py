"""How each operation is done with a bank or a store: one short function each, named like the operation.

A function takes the bank or store, what a stream reads or writes, and every option by name.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from simonides.errors import ConflictError, InputError
from simonides.recall.packing.as_data import pack_as_data
from simonides.records.interval import read_zone
from simonides.records.recall import STANDING
from simonides.retain.conversations import left_out_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from simonides.bank import Bank
    from simonides.recall.packing.as_data import Form
    from simonides.records.memory import Memory
    from simonides.records.recall import Recall
    from simonides.store import Store

Answer = dict[str, Any]

PAGE_BYTES = 512 * 1024
"""Of one page of memories (``Memory.size``); the memory that passes it is the last one of its page."""


def _given(options: Mapping[str, Any]) -> Answer:
    """Options that are given: for a method of ``Bank``, which has the defaults of the others."""
    return {name: value for name, value in options.items() if value is not None}


def _asked(options: Mapping[str, Any]) -> Answer:
    """Options of ``Bank.recall``; a budget of ``null`` is none, not the default one."""
    return {name: value for name, value in options.items() if value is not None or name == "max_tokens"}


def retain(bank: Bank, **options: Any) -> Answer:
    return _retained(bank.retain(**_given(options)), options["items"])


def retain_document(bank: Bank, **options: Any) -> Answer:
    return {"ids": bank.retain_document(**_given(options))}


def retain_conversation(bank: Bank, **options: Any) -> Answer:
    return _retained(bank.retain_conversation(**_given(options)), options["turns"])


def _retained(ids: list[str], items: object) -> Answer:
    left_out = left_out_of(items)
    return {"ids": ids, "left_out": left_out} if left_out else {"ids": ids}


def recall(bank: Bank, *, form: str, trace: bool, **options: Any) -> Answer:
    found = bank.recall(**_asked(options))
    return _in_form(bank, found, form, options["max_tokens"]).to_dict(trace=trace)


def _in_form(bank: Bank, answer: Recall, form: str, max_tokens: int | None) -> Recall:
    if form == "plain":
        return answer
    pack = pack_as_data(answer, bank.count_tokens, form=cast("Form", form), max_tokens=max_tokens)
    standing = tuple(hit for hit in pack.hits if hit.scored_by == STANDING)
    # Hits that are not told stay, as in the plain form, after those that are (``Recall.told``).
    told, packed = answer.told, pack.hits[len(standing) :]
    hits = (*packed, *(answer.hits[len(told) :] if len(packed) == len(told) else ()))
    numbered = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, len(standing) + 1))
    # For ``activity``, which tells the exact text.
    recent = bank._context.rows.recent_recalls  # noqa: SLF001 the form is of interfaces alone
    recent.amend(answer.id, context=pack.text)
    return replace(answer, standing=standing, hits=numbered, context=pack.text, omitted=pack.omitted)


def get_job(bank: Bank, *, job: str, trace: bool, form: str) -> Answer:
    found = bank.get_job(job)
    if found.recall is not None:
        found = replace(found, recall=_in_form(bank, found.recall, form, found.max_tokens))
    return found.to_dict(trace=trace)


def reflect(bank: Bank, on_text: Callable[[str], object] | None = None, **options: Any) -> Answer:
    return bank.reflect(**_asked(options), on_text=on_text).to_dict()


def explain(bank: Bank, **options: Any) -> Answer:
    answer = bank.recall(**_asked(options), explain=True)
    whole = answer.to_dict()
    return {
        "id": answer.id,
        "no_match": answer.no_match,
        "no_match_reasons": list(answer.no_match_reasons),
        "confidence": answer.confidence,
        "band": answer.band,
        "explanations": [each.to_dict() for each in answer.explanations],
        "omitted": whole["omitted"],
        "trace": whole["trace"],
    }


def why_not(bank: Bank, **options: Any) -> Answer:
    return bank.why_not(**_asked(options)).to_dict()


def get_memory(bank: Bank, *, memory: str, max_tokens: int | None) -> Answer:
    return _one(bank, bank.get_memory(memory), max_tokens)


def _one(bank: Bank, memory: Memory, budget: int | None) -> Answer:
    kept, omitted = _fitted([memory.to_dict()], bank.count_tokens, budget)
    return {"memory": kept[0] if kept else None, "omitted": omitted}


def list_memories(
    bank: Bank, *, limit: int, cursor: str | None, max_tokens: int | None, **filters: Any
) -> Answer:
    found = bank.list_memories(after=cursor, limit=limit + 1, max_bytes=PAGE_BYTES, **_given(filters))
    page = [memory.to_dict() for memory in found[:limit]]
    kept, left_out = _fitted(page, bank.count_tokens, max_tokens, whole=False)
    # A budget too small for even one memory moves on over that one, so that paging comes to an end.
    passed = max(len(kept), 1 if left_out else 0)
    # A page that ends by its bytes may be the last one; the next one is empty then.
    more = len(found) > passed or sum(memory.size for memory in found) >= PAGE_BYTES
    return {
        "memories": kept,
        "omitted": passed - len(kept),
        "next": page[passed - 1]["id"] if more and page else None,
    }


def facets(bank: Bank, **among: Any) -> Answer:
    return dict(bank.facets(**_given(among)))


def update_memory(bank: Bank, *, max_tokens: int | None, **changes: Any) -> Answer:
    return _one(bank, bank.update_memory(**_given(changes)), max_tokens)


def invalidate(bank: Bank, *, memory: str, at: str | None, max_tokens: int | None) -> Answer:
    bank.invalidate(memory, at=at)
    return _one(bank, bank.get_memory(memory), max_tokens)


def forget(bank: Bank, *, ids: Sequence[str], dry_run: bool) -> Answer:
    asked = list(dict.fromkeys(ids))
    if not dry_run:
        return {"asked": len(asked), "forgotten": bank.forget(asked)}
    would: Answer = {"asked": len(asked), "dry_run": True}
    if bank.principal is not None:
        # What else rests on them, others may have written.
        return {**would, "forgotten": bank.forget(asked, dry_run=True)}
    receipt = bank.forget_where(asked, dry_run=True)
    rows = {"versions" if name == "memories" else name: count for name, count in receipt.rows.items()}
    return {**would, "forgotten": receipt.memories, "rows": rows}


def list_records(bank: Bank, *, limit: int, cursor: str | None, **options: Any) -> Answer:
    found = bank.list_records(**_given(options))
    start = 0
    if cursor is not None:
        ids = [record.id for record in found]
        if cursor not in ids:
            raise ConflictError("the record where the page before ended is gone; read from the first page")
        start = ids.index(cursor) + 1
    page: list[Answer] = []
    size = 0
    for record in found[start : start + limit]:
        page.append(record.to_dict())
        size += len(json.dumps(page[-1]))
        if size > PAGE_BYTES:
            break
    more = start + len(page) < len(found)
    return {"records": page, "next": page[-1]["id"] if more else None}


def put_records(bank: Bank, **options: Any) -> Answer:
    return {"ids": bank.put_records(**options)}


def move_records(bank: Bank, **options: Any) -> Answer:
    return {"moved": bank.move_records(**options)}


def pop_record(bank: Bank, **options: Any) -> Answer:
    record = bank.pop_record(**options)
    return {"record": None if record is None else record.to_dict()}


def forget_records(bank: Bank, **options: Any) -> Answer:
    return {"forgotten": bank.forget_records(**options)}


def used(bank: Bank, **options: Any) -> Answer:
    return {"recorded": bank.used(**options)}


def history(bank: Bank, *, memory: str, max_tokens: int | None) -> Answer:
    versions = [version.to_dict() for version in bank.history(memory)]
    kept, omitted = _fitted(versions, bank.count_tokens, max_tokens)
    return {"id": memory, "versions": kept, "omitted": omitted}


def source(bank: Bank, *, memory: str, max_tokens: int | None) -> Answer:
    kept, omitted = _fitted([bank.source(memory).to_dict()], bank.count_tokens, max_tokens)
    return {"source": kept[0] if kept else None, "omitted": omitted}


def diff(bank: Bank, *, earlier: str, later: str | None, max_tokens: int | None) -> Answer:
    found = bank.diff(earlier, later).to_dict()
    # One budget for all three lists, in this order.
    marked = [(name, each) for name in ("ended", "begun", "changed") for each in found[name]]
    texts = [{"text": _texts(each)} for _, each in marked]
    kept, omitted = _fitted(
        [{**text, "at": at} for at, text in enumerate(texts)], bank.count_tokens, max_tokens
    )
    places = {each["at"] for each in kept}
    answer: Answer = {"ended": [], "begun": [], "changed": [], "omitted": omitted}
    for at, (name, each) in enumerate(marked):
        if at in places:
            answer[name].append(each)
    return answer


def _texts(change: Mapping[str, Any]) -> str:
    if "before" in change:
        return f"{change['before']['text']}\n{change['after']['text']}"
    return str(change["text"])


def entities(bank: Bank, *, limit: int, named: str | None) -> Answer:
    return {"entities": [entity.to_dict() for entity in bank.entities(limit, named=named)]}


def get_entity(bank: Bank, *, max_tokens: int | None, **options: Any) -> Answer:
    answer = bank.get_entity(**options).to_dict()
    kept, omitted = _fitted(answer["memories"], bank.count_tokens, max_tokens)
    return {**answer, "memories": kept, "omitted": omitted}


def add_alias(bank: Bank, *, entity: int, name: str) -> Answer:
    bank.add_alias(entity, name)
    return {"entity": entity, "alias": name}


def remove_alias(bank: Bank, *, entity: int, alias: str) -> Answer:
    bank.remove_alias(entity, alias)
    return {"entity": entity, "alias": alias}


def merge_entities(bank: Bank, *, entity: int, into: int) -> Answer:
    return {"merge": bank.merge_entities(entity, into), "entity": entity, "into": into}


def undo_merge(bank: Bank, *, merge: int) -> Answer:
    bank.undo_merge(merge)
    return {"undone": merge}


def settle(bank: Bank, *, most: int | None) -> Answer:
    return {"compared": bank.settle(most)}


def brief(bank: Bank, **options: Any) -> Answer:
    return bank.brief(**_given(options)).to_dict()


def pin(bank: Bank, *, memory: str, always: bool) -> Answer:
    bank.pin(memory, always=always)
    return {"memory": memory, "pinned": True, "standing": always}


def unpin(bank: Bank, *, memory: str) -> Answer:
    bank.unpin(memory)
    return {"memory": memory, "pinned": False, "standing": False}


def set_ttl(bank: Bank, *, ttl: float | str, kind: str | None, on_expiry: str) -> Answer:
    none = isinstance(ttl, str) and ttl.strip().lower() == "none"
    return bank.set_ttl(None if none else ttl, kind=kind, on_expiry=on_expiry).to_dict()


def maintain(bank: Bank, **options: Any) -> Answer:
    return bank.maintain(**options).to_dict()


def activity(bank: Bank, *, max_tokens: int | None, **options: Any) -> Answer:
    found = bank.activity(**options)
    events = [event.to_dict() for event in found.events]
    # The newest are kept, so that the cursor holds.
    newest = [{"text": _said(event), "event": event} for event in reversed(events)]
    kept, omitted = _fitted(newest, bank.count_tokens, max_tokens, whole=False)
    return {"events": [each["event"] for each in reversed(kept)], "omitted": omitted, "next": found.next}


def _said(event: Mapping[str, Any]) -> str:
    return "\n".join([event["query"], event["context"], event["memory"]["text"] if event["memory"] else ""])


def review(bank: Bank, *, max_tokens: int | None, **options: Any) -> Answer:
    found = bank.review(**options)
    items = [item.to_dict() for item in found.items]
    texts = [{"text": _pair(item), "item": item} for item in items]
    kept, left_out = _fitted(texts, bank.count_tokens, max_tokens, whole=False)
    # As in list_memories: a budget too small for even one moves on over that one.
    passed = max(len(kept), 1 if left_out else 0)
    return {
        "items": [each["item"] for each in kept],
        "omitted": passed - len(kept),
        "next": items[passed - 1]["key"] if passed < len(items) else found.next,
    }


def _pair(item: Mapping[str, Any]) -> str:
    return "\n".join(each["text"] for each in (item["memory"], item["other"]) if each)


def moves(bank: Bank, *, memory: str | None) -> Answer:
    return {"moves": [move.to_dict() for move in bank.moves(memory)]}


def undo_move(bank: Bank, *, number: int) -> Answer:
    bank.undo_move(number)
    return {"undone": number}


def archive(bank: Bank, *, ids: Sequence[str]) -> Answer:
    return {"archived": bank.archive(ids)}


def quarantine(bank: Bank, *, ids: Sequence[str]) -> Answer:
    return {"quarantined": bank.quarantine(ids)}


def release(bank: Bank, *, ids: Sequence[str], kind: str) -> Answer:
    return {"released": bank.release(ids, kind=kind)}


def audit_entries(bank: Bank, *, most: int, recalls: bool) -> Answer:
    return {"entries": [entry.to_dict() for entry in bank.audit_entries(most, recalls=recalls)]}


def audit_verify(bank: Bank, **options: Any) -> Answer:
    return bank.audit_verify(**options).to_dict()


def stats(bank: Bank) -> Answer:
    return dict(bank.stats())


def verify(bank: Bank) -> Answer:
    return bank.verify().to_dict()


def export(bank: Bank, target: IO[bytes]) -> Answer:
    return {"counts": bank.export(target).to_dict()}


def backup(bank: Bank, target: IO[bytes]) -> Answer:
    return bank.backup(target).to_dict()


def import_bank(bank: Bank, path: Path) -> Answer:
    return dict(bank.import_bank(path).to_dict())


def list_banks(store: Store) -> Answer:
    return {"banks": store.list_banks()}


def create_bank(store: Store, *, name: str, zone: str | None) -> Answer:
    taken_away = zone is not None and zone.strip().lower() == "none"
    if zone is not None and not taken_away:
        read_zone(zone)  # before anything is made
    created = name not in store.list_banks()
    bank = store.bank(name)
    bank.stats()
    if zone is not None:
        bank.set_zone(None if taken_away else zone)
    return {"bank": name, "created": created, "zone": str(bank.zone)}


def delete_bank(store: Store, *, name: str, confirm: str) -> Answer:
    if confirm != name:
        raise InputError("confirm", "is not the bank's name; give the name once more to delete the bank")
    store.delete_bank(name)
    return {"deleted": name}


def _fitted(
    entries: Sequence[dict[str, Any]], count: Callable[[str], int], budget: int | None, *, whole: bool = True
) -> tuple[list[dict[str, Any]], int]:
    """Entries that fit, in order, and how many do not.

    Args:
        entries: each with a ``text``.
        count: tokens of a text.
        budget: tokens of all texts together; ``None`` = none.
        whole: whether later entries are tried after one that does not fit.
    """
    if budget is None:
        return list(entries), 0
    kept: list[dict[str, Any]] = []
    left = budget
    for entry in entries:
        size = count(entry["text"])
        if size <= left:
            kept.append(entry)
            left -= size
        elif not whole:
            break
    return kept, len(entries) - len(kept)
