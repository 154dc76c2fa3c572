"""The texts in the parts of a message as chat programs write them; what holds none is counted by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simonides.retain.importing.item import ImportReport

# Parts whose ``text`` was said: by voice to ChatGPT it is an "audio_transcription", to Claude a "voice_note".
_SAID = frozenset({"text", "audio_transcription", "voice_note"})
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("image", "image_asset_pointer", "image_url"), "image"),
    **dict.fromkeys(("audio", "audio_asset_pointer", "real_time_user_audio_video_asset_pointer"), "audio"),
    **dict.fromkeys(("video", "video_container_asset_pointer"), "video"),
    **dict.fromkeys(("document", "file", "container_upload"), "file"),
    **dict.fromkeys(("thinking", "redacted_thinking", "thoughts", "reasoning_recap"), "thought"),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use", "code"), "tool call"),
    **dict.fromkeys(
        (
            "tool_result",
            "web_search_tool_result",
            "execution_output",
            "tether_browsing_display",
            "tether_quote",
            "sonic_webpage",
            "computer_output",
            "system_error",
        ),
        "tool output",
    ),
    **dict.fromkeys(("user_editable_context", "model_editable_context"), "custom instructions"),
    "token_budget": "token budget",
}


def part_kind(kind: object) -> str:
    """What a part of a type is counted as; an unknown type keeps its name."""
    if not isinstance(kind, str):
        return "part without a type"
    return _KINDS.get(kind) or f"part {shown(kind)}"


def texts_of(parts: list[Any], report: ImportReport) -> Iterator[str]:
    """The texts of a message's parts, none of them blank.

    Args:
        parts: texts, or objects with a ``type`` or ``content_type``.
        report: counts what is left out.
    """
    for part in parts:
        if isinstance(part, str):
            text: object = part
        else:
            kind = part.get("type") or part.get("content_type") if isinstance(part, dict) else None
            text = part.get("text") if kind in _SAID else None
            if not isinstance(text, str):
                report.left_out[part_kind(kind)] += 1
                continue
        if isinstance(text, str) and text.strip():
            yield text
