"""A program that speaks to the memory over MCP, as an agent's client does: list, retain, recall, forget.

    python examples/mcp_client.py

It starts `simonides mcp` itself, on a store in a temporary folder and without a model. Needs the extra `mcp`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile

from mcp import Client, StdioServerParameters

PROGRAM = "from simonides.surfaces.cli.main import main; main()"


async def main() -> None:
    """One session."""
    with tempfile.TemporaryDirectory() as folder:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-c", PROGRAM, "mcp", "--store", folder, "--bank", "agent"],
            env={**os.environ, "SIMONIDES_EMBEDDER": "none"},
        )
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            print("tools:", ", ".join(tool.name for tool in tools))

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                print("progress:", message if total is None else f"{message} {progress:g}/{total:g}")

            kept = await client.call_tool(
                "retain",
                {"items": "Odalys moved the weekly review to Thursday.", "kind": "decision"},
                progress_callback=hear,
            )
            [memory] = (kept.structured_content or {})["ids"]
            found = await client.call_tool("recall", {"query": "When is the weekly review?"})
            print((found.structured_content or {})["context"])
            gone = await client.call_tool("forget", {"ids": [memory]})
            print("forgotten:", (gone.structured_content or {})["forgotten"])


if __name__ == "__main__":
    asyncio.run(main())
