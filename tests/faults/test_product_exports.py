"""Ten exports of six products, invented, with five bad items each: what is stored, cleaned, skipped and left out."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.surfaces.conftest import cli, store_path

import simonides

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.surfaces.conftest import Cli

__all__ = ["cli", "store_path"]  # fixtures

WHO = ("Ilse", "Odalys", "Tove", "Ambrose")
DOES = ("waters", "prunes", "moves", "sells", "weighs", "counts")
WHAT = ("figs", "pears", "quinces", "medlars", "hazels", "currants")

HALF, NUL, LATE = "half \ud83d of it", "Zero\0 tolerance", "never"


def sentences(draw: random.Random, count: int) -> list[str]:
    """So many different ones."""
    said = [f"{who} {does} the {what}." for who in WHO for does in DOES for what in WHAT]
    return draw.sample(said, count)


def mixed(draw: random.Random, good: list[Any], bad: list[Any]) -> list[Any]:
    """The bad ones among the good ones, in their order."""
    every = list(good)
    for each in bad:
        every.insert(draw.randrange(1, len(every)), each)
    return every


def chatgpt(draw: random.Random, said: list[str]) -> tuple[str, str]:
    def message(text: str, **changes: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {"author": {"role": "user"}, "create_time": 1772000000.0, "content": content} | changes

    good = [message(text) for text in said]
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
    bad = [
        message(HALF),
        message(NUL, create_time=LATE),
        message("\0\0"),
        message("", content={"content_type": "multimodal_text", "parts": [picture]}),
        5,
    ]
    mapping: dict[str, Any] = {"n0": {"id": "n0", "parent": None, "message": None, "children": ["n1"]}}
    every = mixed(draw, good, bad)
    for number, each in enumerate(every, 1):
        below = [f"n{number + 1}"] if number < len(every) else []
        mapping[f"n{number}"] = {
            "id": f"n{number}", "parent": f"n{number - 1}", "message": each, "children": below,
        }  # fmt: skip
    chat = {"title": "Garden", "id": "c", "create_time": 1772000000.0, "current_node": f"n{len(every)}"}
    return "conversations.json", json.dumps([{**chat, "mapping": mapping}])


def claude_ai(draw: random.Random, said: list[str]) -> tuple[str, str]:
    def message(text: str, **changes: Any) -> dict[str, Any]:
        parts = [{"type": "text", "text": text}]
        made = {"uuid": f"m{draw.random()}", "text": text, "content": parts, "sender": "human"}
        return made | {"created_at": "2026-02-25T06:13:21.500000Z"} | changes

    good = [message(text) for text in said]
    bad = [
        message(HALF),
        message(NUL, created_at=LATE),
        message("\0\0"),
        message("", content=[{"type": "hologram"}]),
        5,
    ]
    chat = {"uuid": "c", "name": "Garden", "created_at": "2026-02-25T06:13:20.100000Z"}
    return "conversations.json", json.dumps([{**chat, "chat_messages": mixed(draw, good, bad)}])


def claude_code(draw: random.Random, said: list[str]) -> tuple[str, str]:
    def line(content: Any, **changes: Any) -> str:
        made: dict[str, Any] = {"type": "user", "sessionId": "s", "uuid": f"u{draw.random()}"}
        made |= {"timestamp": "2026-03-01T09:00:00Z", "message": {"role": "user", "content": content}}
        return json.dumps(made | changes)

    good = [line(text) for text in said]
    bad = [
        line(HALF),
        line(NUL, timestamp=LATE),
        line("\0\0"),
        line([{"type": "hologram"}]),
        '{"type": "user", "sess',
    ]
    return "session.jsonl", "\n".join(mixed(draw, good, bad)) + "\n"


def mem0(draw: random.Random, said: list[str]) -> tuple[str, str]:
    def memory(text: Any, **changes: Any) -> dict[str, Any]:
        made = {"id": f"i{draw.random()}", "memory": text, "user_id": "ilse", "categories": ["garden"]}
        return made | {"created_at": "2026-02-01T00:00:00Z"} | changes

    good = [memory(text) for text in said]
    bad = [memory(HALF), memory(NUL, created_at=LATE), memory("\0\0"), memory(None), 5]
    return "mem0.json", json.dumps({"results": mixed(draw, good, bad)})


def knowledge_graph(draw: random.Random, said: list[str]) -> tuple[str, str]:
    def entity(name: str, *said: Any) -> str:
        return json.dumps({"type": "entity", "name": name, "entityType": "person", "observations": said})

    good = [entity(f"Person {number}", text) for number, text in enumerate(said)]
    bad = [
        entity("Half", HALF), entity("Zero", NUL), entity("Blank", "\0\0"), entity("Five", 5), '{"type": "ent',
    ]  # fmt: skip
    return "memory.jsonl", "\n".join(mixed(draw, good, bad)) + "\n"


def obsidian(draw: random.Random, said: list[str]) -> dict[str, bytes]:
    notes = [text.encode() for text in said]
    bad = [
        b"---\ndate: 31/31/2026\n---\nHalf past nine.",
        b"Zero\0 tolerance.",
        b"\0\0",
        b"The pump gives vier Liter f\xfcr alle.",
        b"---\ndate: never\n---\nThe gate is red.",
    ]
    return {f"note {number}.md": note for number, note in enumerate(mixed(draw, notes, bad))}


# Of each product: how many of the five bad items are stored, cleaned and skipped, and what is left out.
EXPORTS: list[tuple[Any, int, dict[str, int], dict[str, int]]] = [
    (product, seed, {"stored": stored, "cleaned": cleaned, "skipped": skipped}, left_out)
    for product, exports, stored, cleaned, skipped, left_out in (
        (chatgpt, 2, 2, 3, 2, {"image": 1}),
        (claude_ai, 2, 2, 3, 2, {"part 'hologram'": 1}),
        (claude_code, 2, 2, 3, 2, {"part 'hologram'": 1}),
        (mem0, 2, 2, 3, 3, {}),
        (knowledge_graph, 1, 3, 3, 2, {}),
        (obsidian, 1, 3, 4, 1, {}),
    )
    for seed in range(exports)
]


@pytest.mark.fault("N41")
@pytest.mark.parametrize(("product", "seed", "counts", "left_out"), EXPORTS)
def test_of_an_export_only_what_is_bad_is_lost(
    cli: Cli,
    tmp_path: Path,
    store_path: Path,
    product: Callable[..., Any],
    seed: int,
    counts: dict[str, int],
    left_out: dict[str, int],
) -> None:
    draw = random.Random(f"{product.__name__} {seed}")
    said = sentences(draw, draw.randrange(8, 30))
    made = product(draw, said)
    folder = tmp_path / "export"
    (folder / ".obsidian").mkdir(parents=True)
    files = made if isinstance(made, dict) else {made[0]: made[1].encode()}
    for name, body in files.items():
        (folder / name).write_bytes(body)
    path = folder if len(files) > 1 else folder / next(iter(files))
    result = cli("import", str(path), "--skip-malformed", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    wanted = {**counts, "stored": len(said) + counts["stored"]}
    assert {name: answer[name] for name in wanted} == wanted, result.stderr
    found: Counter[str] = sum((Counter(each["left_out"]) for each in answer["files"]), Counter())
    assert found == left_out
    told = [line for line in result.stderr.splitlines() if line.startswith(("skipped ", "cleaned "))]
    assert len(told) == counts["skipped"] + counts["cleaned"]
    assert all(str(folder) in line for line in told)
    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        texts = "\n".join(memory.text for memory in bank.list_memories())
        assert all(text in texts for text in said)
        assert "Zero tolerance" in texts
        assert "\0" not in texts
        assert bank.verify().ok
    again = json.loads(cli("import", str(path), "--skip-malformed", "--json").stdout)
    assert (again["stored"], again["unchanged"]) == (0, wanted["stored"])
