"""What stays at the machine that holds the banks, and why; everything else is an operation of the table.

Commands of the command line, and the methods of ``Bank`` that no server offers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MACHINE = "is about this machine, its files or its settings, and not about a bank that others use"
_REPLACES = "replaces every row by a file's: whoever may do that may as well write the files"
_READS_FOLDERS = "reads a folder of the machine, which is not a caller's to name"
_LEARNS = "works for minutes on files of the machine that hold questions, and writes a file"
_KEY = "makes a key whose file only the machine's owner should see"
_WATCH = "decides who is watched, and with which key, which is for the machine's owner"
_ENCODES = "loads another model and encodes the whole bank with it; recalls elsewhere go on meanwhile"
_ASKS = "asks a language model about whole banks, which costs money; a scheduled job does that"

LOCAL_COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "when",
            "demo",
            "models",
            "profiles",
            "bench",
            "serve",
            "ui",
            "token",
            "mcp",
            "hook",
            "install",
            "uninstall",
            "config",
        ),
        _MACHINE,
    ),
    "restore": _REPLACES,
    "check": _READS_FOLDERS,
    "tune": _LEARNS,
    "train-reranker": _LEARNS,
    "enrich": _ASKS,
    "reembed": _ENCODES,
    "audit start": _KEY,
    "audit recalls": _WATCH,
}
"""Command → why no other interface has it."""

LOCAL_METHODS: Mapping[str, str] = {
    "restore": _REPLACES,
    "check_references": _READS_FOLDERS,
    "start_audit": _KEY,
    "audit_recalls": _WATCH,
    **dict.fromkeys(("adopt_reranker", "samples", "used_by_recall", "last_write"), _LEARNS),
    **dict.fromkeys(("enrich", "queue_enrichment"), _ASKS),
    **dict.fromkeys(
        ("import_items", "sync_documents"), "is what reads files of other systems on this machine"
    ),
    "count_tokens": "is asked for every line; a caller elsewhere counts for itself",
    **dict.fromkeys(
        ("forget_where", "purge"),
        "erases by condition, or rewrites whole files; elsewhere ids are named, which cannot catch too much",
    ),
    **dict.fromkeys(("reembed", "abandon_reembedding", "embedder"), _ENCODES),
    "ttl_defaults": "stands in the answers of set_ttl and stats",
    "load": "takes arrays of vectors, which no request holds",
    "warm": "is what a server does by itself when it starts",
    "repair": "rewrites the index, which the server does by itself when it finds damage",
}
"""Method of ``Bank`` → why no server offers it."""
