"""Writes a bank as one page that opens from disk, without a server, and changes nothing.

A browser loads no module from a file, so every module of the page stands in the import map as a data URL.
The policy of the page allows these, and nothing else: no host, and no script that is not among them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from typing import TYPE_CHECKING, Any

import simonides
from simonides.errors import InputError
from simonides.files import write_file
from simonides.records.json_ready import finite
from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.page.routes import operations_of, static_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from simonides.bank import Bank

MOST = 50_000
"""Memories of one page."""
_READ = ("recall", "list_memories", "get_memory", "history", "entities", "stats")
_IMPORT = re.compile(r'((?:from|import)\s*)"(\.{1,2}/[^"]+)"')
_STYLE = re.compile(r'<link rel="stylesheet" href="/ui/([^"]+)">\n?')


def write_page(bank: Bank, path: Path) -> int:
    """Write the page of a bank to a file, which must not be there; returns the number of its memories.

    Raises:
        InputError: the file is there, or the bank holds too many memories.
    """
    if path.exists():
        raise InputError("--export", f"{str(path)!r} is there already; name another file, or remove it")
    held = _asked(bank, "stats")
    if held["current"] > MOST:
        raise InputError(
            "--export", f"the bank holds {held['current']:,} memories, at most {MOST:,} fit into one page"
        )
    memories: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = _asked(bank, "list_memories", limit=1_000, **({"cursor": cursor} if cursor else {}))
        memories += page["memories"]
        cursor = page["next"]
        if cursor is None:
            break
    histories = {
        each["id"]: _asked(bank, "history", memory=each["id"])["versions"]
        for each in memories
        if each["version"] > 1
    }
    exported = {
        "session": {
            "version": simonides.__version__,
            "name": "",
            "principal": None,
            "verbs": [Verb.READ.value],
            "banks": [bank.name],
            "csrf": "",
            "operations": {name: operations_of()[name] for name in _READ},
        },
        "memories": memories,
        "histories": histories,
        "entities": _asked(bank, "entities", limit=1_000)["entities"],
        "stats": {**held, "disk_bytes": None, "problems": []},
    }
    write_file(path, page_with(exported).encode(), mode=0o600)
    return len(memories)


def page_with(exported: Mapping[str, Any]) -> str:
    """The page as one text, with the data of a bank inside."""
    files = {name: body.decode() for name, body in static_files().items()}
    modules = {name: _with_names(name, body) for name, body in files.items() if name.endswith(".js")}
    addresses = {
        f"page/{name}": f"data:text/javascript;base64,{base64.b64encode(body.encode()).decode()}"
        for name, body in modules.items()
    }
    page = files["index.html"]
    style = "\n".join(files[name] for name in _STYLE.findall(page))
    icon = f"data:image/svg+xml;base64,{base64.b64encode(files['icon.svg'].encode()).decode()}"
    imports = json.dumps({"imports": addresses})
    entry = 'import "page/app.js";'
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src data: {_hash(imports)} {_hash(entry)}; require-trusted-types-for 'script'"
    )
    # In a script a "<" could end it, whatever stands around it.
    data = json.dumps(finite(exported), ensure_ascii=False).replace("<", "\\u003c")
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>\n"
        f'<script type="application/json" id="exported-bank">{data}</script>\n'
        f'<script type="importmap">{imports}</script>\n'
    )
    page = _STYLE.sub("", page)
    page = page.replace('href="/ui/icon.svg"', f'href="{icon}"')
    page = page.replace('<script type="module" src="/ui/app.js"></script>\n', "")
    page = page.replace('<meta charset="utf-8">\n', f'<meta charset="utf-8">\n{head}')
    return page.replace("</body>", f'<script type="module">{entry}</script>\n</body>')


def _with_names(name: str, body: str) -> str:
    """A module whose imports name others by the names of the import map."""
    folder = posixpath.dirname(name)

    def named(found: re.Match[str]) -> str:
        return f'{found[1]}"page/{posixpath.normpath(posixpath.join(folder, found[2]))}"'

    return _IMPORT.sub(named, body)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asked(bank: Bank, name: str, **values: object) -> Any:
    operation = OPERATIONS[name]
    return operation.call(bank, operation.bind(values))
