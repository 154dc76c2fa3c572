from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, NotFoundError

pytest.importorskip("anthropic.lib.tools")

from anthropic.lib.tools import ToolError

from simonides.integrations.anthropic import BankMemoryTool

if TYPE_CHECKING:
    from simonides.bank import Bank


@pytest.fixture
def tool(bank: Bank) -> Any:
    made = BankMemoryTool(bank)
    made.call(
        {"command": "create", "path": "/memories/people/odalys.md", "file_text": "lives in Norrhav\nsails"}
    )
    made.call({"command": "create", "path": "/memories/figs.md", "file_text": "Figs need water."})
    return made


def test_files_are_viewed_and_folders_listed(tool: Any) -> None:
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    shown = tool.call({"command": "view", "path": "/memories/people/odalys.md"})
    assert "     1\tlives in Norrhav\n     2\tsails" in shown
    part = tool.call({"command": "view", "path": "/memories/people/odalys.md", "view_range": [2, -1]})
    assert "lives" not in part
    listed = tool.call({"command": "view", "path": "/memories"})
    assert "/memories/figs.md" in listed
    assert "/memories/people/odalys.md" in listed
    assert "figs" not in tool.call({"command": "view", "path": "/memories/people"})


def test_files_are_changed_moved_and_erased(tool: Any, bank: Bank) -> None:
    path = "/memories/people/odalys.md"
    tool.call({"command": "str_replace", "path": path, "old_str": "Norrhav", "new_str": "Tarn"})
    tool.call({"command": "insert", "path": path, "insert_line": 0, "insert_text": "Odalys\n"})
    assert "     1\tOdalys\n     2\tlives in Tarn" in tool.call({"command": "view", "path": path})
    assert "Tarn" in bank.recall("Who lives in Tarn?").context
    tool.call({"command": "rename", "old_path": "/memories/people", "new_path": "/memories/friends"})
    with pytest.raises(NotFoundError):
        tool.call({"command": "view", "path": path})
    with pytest.raises(InputError, match="already exists"):
        tool.call({"command": "rename", "old_path": "/memories/figs.md", "new_path": "/memories/friends"})
    tool.call({"command": "delete", "path": "/memories/friends"})
    assert bank.stats()["memories"] == 1
    with pytest.raises(InputError, match="did not appear verbatim"):
        tool.call({"command": "str_replace", "path": "/memories/figs.md", "old_str": "x", "new_str": "y"})


@pytest.mark.fault("F1")
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/memories/../etc", "memories/a", "/memories", "/memories/\0"]
)
def test_no_path_leads_out(tool: Any, path: str) -> None:
    with pytest.raises(InputError):
        tool.call({"command": "create", "path": path, "file_text": "x"})


@pytest.mark.fault("N46")
def test_a_file_may_be_as_long_as_promised(tool: Any, bank: Bank) -> None:
    text = "Figs: é\n" * 25_000
    tool.call({"command": "create", "path": "/memories/long.md", "file_text": text})
    shown = tool.call({"command": "view", "path": "/memories/long.md", "view_range": [24_999, 25_000]})
    assert shown.endswith(" 24999\tFigs: é\n 25000\tFigs: é")
    with pytest.raises(InputError, match="200,000"):
        tool.call({"command": "create", "path": "/memories/longer.md", "file_text": text + "x"})
    assert bank.verify().ok


@pytest.mark.fault("N67")
def test_a_file_and_a_folder_never_have_one_name(tool: Any) -> None:
    for path in ("/memories/people", "/memories/figs.md", "/memories"):
        with pytest.raises(ToolError, match=f"File {path} already exists"):
            tool.call({"command": "create", "path": path, "file_text": "x"})
    with pytest.raises(ToolError, match=r"figs\.md is a file"):
        tool.call({"command": "create", "path": "/memories/figs.md/deeper", "file_text": "x"})
    with pytest.raises(ToolError, match=r"figs\.md is a file"):
        tool.call(
            {"command": "rename", "old_path": "/memories/people", "new_path": "/memories/figs.md/people"}
        )
    tool.call({"command": "delete", "path": "/memories/figs.md"})
    assert "sails" in tool.call({"command": "view", "path": "/memories/people/odalys.md"})


def test_an_empty_file_is_a_file_and_no_memory_to_recall(tool: Any, bank: Bank) -> None:
    tool.call({"command": "create", "path": "/memories/empty.md", "file_text": ""})
    assert tool.call({"command": "view", "path": "/memories/empty.md"}).endswith("     1\t")
    assert not [hit for hit in bank.recall("empty", precision="wide") if not hit.text.strip('"')]
    assert tool.clear_all_memory() == "All memory cleared"
    assert bank.list_records("anthropic") == []
