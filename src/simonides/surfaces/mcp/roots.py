"""The bank of the project that an MCP client works on.

    the first root that the client names (``roots/list``)
    else the folder that the server was started in, if that can be a project

Asked anew for every call, since a client may open another folder meanwhile.
"""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.shared.exceptions import MCPError, NoBackChannelError

from simonides.errors import InputError
from simonides.surfaces.agents.projects import bank_of, checkout_root, project_root

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from simonides.store import Store

_PATIENCE_SECONDS = 10.0


class ProjectBank:
    """Finds the bank of a client's project, and makes it where it is missing.

    A user's *home* is no project.
    """

    def __init__(self, store: Store, folder: Path, home: Path | None) -> None:
        self._store = store
        self._folder = folder.resolve()
        self._home = None if home is None else home.resolve()

    async def name(self, context: ServerRequestContext[Any, Any]) -> str:
        """The bank's name; ``InputError`` when no project is known."""
        return await asyncio.to_thread(self._bank, await self._root(context))

    def _bank(self, named: Path | None) -> str:
        folder = named or self._folder
        if named is None and checkout_root(folder) is None and folder in {self._home, Path(folder.anchor)}:
            raise InputError(
                "bank",
                "no project is known: the client names no folder, and the server was not started in one; "
                "run `simonides install` with --project inside the project, or with --bank NAME",
            )
        name = bank_of(project_root(folder))
        if not self._store.has_bank(name):
            self._store.bank(name)
        return name

    async def _root(self, context: ServerRequestContext[Any, Any]) -> Path | None:
        """The first root of the client that is a folder here; ``None`` where it names none."""
        able = context.session.client_capabilities
        if able is None or able.roots is None:
            return None
        try:
            with warnings.catch_warnings():
                # Roots are deprecated in the newest protocol; clients of the others say their folder so.
                warnings.simplefilter("ignore")
                asked = context.session.list_roots()
            given = await asyncio.wait_for(asked, _PATIENCE_SECONDS)
        except NoBackChannelError:
            return None
        except (MCPError, TimeoutError) as error:
            raise InputError("bank", "the client did not say which folder it works on; try again") from error
        paths = [urlsplit(str(root.uri)) for root in given.roots]
        folders = [Path(url2pathname(each.path)) for each in paths if each.scheme == "file"]
        return next((each.resolve() for each in folders if each.is_dir()), None)
