"""How each operation is done with a bank or a store: one short function each, no rule of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from simonides.errors import ConflictError, InputError
from simonides.recall.packing.as_data import pack_as_data
from simonides.records.interval import read_zone
from simonides.records.recall import STANDING
from simonides.retain.conversations import left_out_of
from simonides.surfaces.operations.fitting import fitted
from simonides.surfaces.operations.parameters import given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import IO

    from simonides.bank import Bank
    from simonides.recall.packing.as_data import Form
    from simonides.records.memory import Memory
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.surfaces.operations import requests

Answer = dict[str, Any]

PAGE_BYTES = 512 * 1024
"""Of one page of memories (``Memory.size``); the memory that passes it is the last one of its page."""


def retain(bank: Bank, request: requests.Retain) -> Answer:
    return _retained(bank.retain(**given(request)), request.items)


def retain_document(bank: Bank, request: requests.RetainDocument) -> Answer:
    return {"ids": bank.retain_document(**given(request))}


def retain_conversation(bank: Bank, request: requests.RetainConversation) -> Answer:
    return _retained(bank.retain_conversation(**given(request)), request.turns)


def _retained(ids: list[str], items: object) -> Answer:
    left_out = left_out_of(items)
    return {"ids": ids, "left_out": left_out} if left_out else {"ids": ids}


def _asked(request: requests.Asked) -> dict[str, Any]:
    """Arguments of ``Bank.recall``; a budget of ``null`` is none, not the default one."""
    return {**given(request), "max_tokens": request.max_tokens}


def recall(bank: Bank, request: requests.Recall) -> Answer:
    asked = _asked(request)
    del asked["trace"], asked["form"]
    return _in_form(bank, bank.recall(**asked), request.form, request.max_tokens).to_dict(trace=request.trace)


def _in_form(bank: Bank, answer: Recall, form: str, max_tokens: int | None) -> Recall:
    if form == "plain":
        return answer
    pack = pack_as_data(answer, bank.count_tokens, form=cast("Form", form), max_tokens=max_tokens)
    standing = tuple(hit for hit in pack.hits if hit.scored_by == STANDING)
    # Hits that are not told stay, as in the plain form, after those that are (``Recall.told``).
    told, packed = answer.told, pack.hits[len(standing) :]
    hits = (*packed, *(answer.hits[len(told) :] if len(packed) == len(told) else ()))
    numbered = tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, len(standing) + 1))
    return replace(answer, standing=standing, hits=numbered, context=pack.text, omitted=pack.omitted)


def get_job(bank: Bank, request: requests.GetJob) -> Answer:
    job = bank.job(request.job)
    if job.recall is not None:
        job = replace(job, recall=_in_form(bank, job.recall, request.form, job.max_tokens))
    return job.to_dict(trace=request.trace)


def reflect(bank: Bank, request: requests.Reflect, on_text: Callable[[str], object] | None = None) -> Answer:
    return bank.reflect(**_asked(request), on_text=on_text).to_dict()


def explain(bank: Bank, request: requests.Explain) -> Answer:
    answer = bank.recall(**_asked(request), explain=True)
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


def why_not(bank: Bank, request: requests.WhyNot) -> Answer:
    return bank.why_not(**_asked(request)).to_dict()


def get_memory(bank: Bank, request: requests.OneMemory) -> Answer:
    return _one(bank, bank.get(request.memory), request.max_tokens)


def _one(bank: Bank, memory: Memory, budget: int | None) -> Answer:
    kept, omitted = fitted([memory.to_dict()], bank.count_tokens, budget)
    return {"memory": kept[0] if kept else None, "omitted": omitted}


def list_memories(bank: Bank, request: requests.ListMemories) -> Answer:
    among = {name: value for name, value in given(request).items() if name not in {"cursor", "max_tokens"}}
    found = bank.memories(after=request.cursor, **{**among, "limit": request.limit + 1}, max_bytes=PAGE_BYTES)
    page = [memory.to_dict() for memory in found[: request.limit]]
    kept, left_out = fitted(page, bank.count_tokens, request.max_tokens, whole=False)
    # A budget too small for even one memory moves on over that one, so that paging comes to an end.
    passed = max(len(kept), 1 if left_out else 0)
    # A page that ends by its bytes may be the last one; the next one is empty then.
    more = len(found) > passed or sum(memory.size for memory in found) >= PAGE_BYTES
    return {
        "memories": kept,
        "omitted": passed - len(kept),
        "next": page[passed - 1]["id"] if more and page else None,
    }


def update_memory(bank: Bank, request: requests.UpdateMemory) -> Answer:
    changes = {name: value for name, value in given(request).items() if name != "max_tokens"}
    return _one(bank, bank.update(**changes), request.max_tokens)


def invalidate(bank: Bank, request: requests.Invalidate) -> Answer:
    bank.invalidate(request.memory, at=request.at)
    return _one(bank, bank.get(request.memory), request.max_tokens)


def forget(bank: Bank, request: requests.Forget) -> Answer:
    asked = list(dict.fromkeys(request.ids))
    return {"asked": len(asked), "forgotten": bank.forget(asked)}


def list_records(bank: Bank, request: requests.ListRecords) -> Answer:
    found = bank.list_records(
        request.space,
        list(request.path),
        exact=request.exact,
        newest=request.newest,
        refresh=request.refresh,
    )
    start = 0
    if request.cursor is not None:
        ids = [record.id for record in found]
        if request.cursor not in ids:
            raise ConflictError("the record where the page before ended is gone; read from the first page")
        start = ids.index(request.cursor) + 1
    page: list[Answer] = []
    size = 0
    for record in found[start : start + request.limit]:
        page.append(record.to_dict())
        size += len(json.dumps(page[-1]))
        if size > PAGE_BYTES:
            break
    more = start + len(page) < len(found)
    return {"records": page, "next": page[-1]["id"] if more else None}


def put_records(bank: Bank, request: requests.PutRecords) -> Answer:
    return {"ids": bank.put_records(**given(request))}


def move_records(bank: Bank, request: requests.MoveRecords) -> Answer:
    return {"moved": bank.move_records(**given(request))}


def pop_record(bank: Bank, request: requests.RecordsBelow) -> Answer:
    record = bank.pop_record(**given(request))
    return {"record": None if record is None else record.to_dict()}


def forget_records(bank: Bank, request: requests.ForgetRecords) -> Answer:
    return {"forgotten": bank.forget_records(**given(request))}


def used(bank: Bank, request: requests.Used) -> Answer:
    return {"recorded": bank.used(request.ids, recall_id=request.recall_id)}


def history(bank: Bank, request: requests.OneMemory) -> Answer:
    versions = [memory.to_dict() for memory in bank.history(request.memory)]
    kept, omitted = fitted(versions, bank.count_tokens, request.max_tokens)
    return {"id": request.memory, "versions": kept, "omitted": omitted}


def source(bank: Bank, request: requests.OneMemory) -> Answer:
    kept, omitted = fitted([bank.source(request.memory).to_dict()], bank.count_tokens, request.max_tokens)
    return {"source": kept[0] if kept else None, "omitted": omitted}


def diff(bank: Bank, request: requests.Diff) -> Answer:
    found = bank.diff(request.earlier, request.later).to_dict()
    # One budget for all three lists, in this order.
    marked = [(name, each) for name in ("ended", "begun", "changed") for each in found[name]]
    texts = [{"text": _texts(each)} for _, each in marked]
    kept, omitted = fitted(
        [{**text, "at": at} for at, text in enumerate(texts)], bank.count_tokens, request.max_tokens
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


def entities(bank: Bank, request: requests.Entities) -> Answer:
    return {"entities": [entity.to_dict() for entity in bank.entities(request.limit)]}


def add_alias(bank: Bank, request: requests.AddAlias) -> Answer:
    bank.add_alias(request.entity, request.name)
    return {"entity": request.entity, "alias": request.name}


def merge_entities(bank: Bank, request: requests.MergeEntities) -> Answer:
    merge = bank.merge_entities(request.entity, request.into)
    return {"merge": merge, "entity": request.entity, "into": request.into}


def undo_merge(bank: Bank, request: requests.UndoMerge) -> Answer:
    bank.undo_merge(request.merge)
    return {"undone": request.merge}


def settle(bank: Bank, request: requests.Settle) -> Answer:
    return {"compared": bank.settle(request.most)}


def brief(bank: Bank, request: requests.Brief) -> Answer:
    return bank.brief(**given(request)).to_dict()


def pin(bank: Bank, request: requests.Pin) -> Answer:
    bank.pin(request.memory, always=request.always)
    return {"memory": request.memory, "pinned": True, "standing": request.always}


def unpin(bank: Bank, request: requests.Unpin) -> Answer:
    bank.pin(request.memory, pinned=False)
    return {"memory": request.memory, "pinned": False, "standing": False}


def set_ttl(bank: Bank, request: requests.SetTtl) -> Answer:
    none = isinstance(request.ttl, str) and request.ttl.strip().lower() == "none"
    ttl = None if none else request.ttl
    return bank.set_ttl(ttl, kind=request.kind, on_expiry=request.on_expiry).to_dict()


def maintain(bank: Bank, request: requests.Maintain) -> Answer:
    return bank.maintain(**given(request)).to_dict()


def moves(bank: Bank, request: requests.Moves) -> Answer:
    return {"moves": [move.to_dict() for move in bank.moves(request.memory)]}


def undo(bank: Bank, request: requests.Undo) -> Answer:
    bank.undo_move(request.number)
    return {"undone": request.number}


def quarantine(bank: Bank, request: requests.Quarantine) -> Answer:
    return {"quarantined": bank.quarantine(request.ids)}


def release(bank: Bank, request: requests.Release) -> Answer:
    return {"released": bank.release(request.ids, kind=request.kind)}


def audit_entries(bank: Bank, request: requests.AuditEntries) -> Answer:
    return {
        "entries": [entry.to_dict() for entry in bank.audit_entries(request.most, recalls=request.recalls)]
    }


def audit_verify(bank: Bank, request: requests.AuditVerify) -> Answer:
    return bank.audit_verify(anchor=request.anchor, recalls_anchor=request.recalls_anchor).to_dict()


def stats(bank: Bank, request: requests.Nothing) -> Answer:  # noqa: ARG001 every call has the same shape
    return dict(bank.stats())


def verify(bank: Bank, request: requests.Nothing) -> Answer:  # noqa: ARG001 see stats
    return bank.verify().to_dict()


def export(bank: Bank, request: requests.Nothing, target: IO[bytes]) -> Answer:  # noqa: ARG001 see stats
    return {"counts": bank.export(target).to_dict()}


def backup(bank: Bank, request: requests.Nothing, target: IO[bytes]) -> Answer:  # noqa: ARG001 see stats
    return bank.backup(target).to_dict()


def import_bank(bank: Bank, request: requests.Nothing, path: Path) -> Answer:  # noqa: ARG001 see stats
    return dict(bank.import_bank(path).to_dict())


def list_banks(store: Store, request: requests.Nothing) -> Answer:  # noqa: ARG001 see stats
    return {"banks": store.banks()}


def create_bank(store: Store, request: requests.CreateBank) -> Answer:
    taken_away = request.zone is not None and request.zone.strip().lower() == "none"
    if request.zone is not None and not taken_away:
        read_zone(request.zone)  # before anything is made
    created = request.name not in store.banks()
    bank = store.bank(request.name)
    bank.stats()
    if request.zone is not None:
        bank.set_zone(None if taken_away else request.zone)
    return {"bank": request.name, "created": created, "zone": str(bank.zone)}


def delete_bank(store: Store, request: requests.DeleteBank) -> Answer:
    if request.confirm != request.name:
        raise InputError("confirm", "is not the bank's name; give the name once more to delete the bank")
    store.delete_bank(request.name)
    return {"deleted": request.name}
