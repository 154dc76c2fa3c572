"""Where each operation is found; what is not listed is ``POST /v1/banks/{bank}/its-name``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.deprecations import OPERATIONS as OLD_OPERATIONS
from simonides.surfaces.operations.table import OPERATIONS, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

BANKS = "/v1/banks"
ONE_BANK = "/v1/banks/{bank}"


@dataclass(frozen=True, slots=True)
class Place:
    """Method and path; parameters that the path names are taken from there."""

    method: str
    path: str


_PLACES: Mapping[str, tuple[str, str]] = {
    "retain": ("POST", "/memories"),
    "retain_document": ("POST", "/documents"),
    "retain_conversation": ("POST", "/conversations"),
    "get_job": ("GET", "/jobs/{job}"),
    "list_memories": ("GET", "/memories"),
    "facets": ("GET", "/facets"),
    "get_memory": ("GET", "/memories/{memory}"),
    "update_memory": ("PATCH", "/memories/{memory}"),
    "history": ("GET", "/memories/{memory}/history"),
    "source": ("GET", "/memories/{memory}/source"),
    "invalidate": ("POST", "/memories/{memory}/invalidate"),
    "entities": ("GET", "/entities"),
    "get_entity": ("GET", "/entity"),
    "diff": ("GET", "/diff"),
    "stats": ("GET", "/stats"),
    "verify": ("GET", "/verify"),
    "activity": ("GET", "/activity"),
    "review": ("GET", "/review"),
    "moves": ("GET", "/moves"),
    "audit_entries": ("GET", "/audit/entries"),
    "audit_verify": ("GET", "/audit/verify"),
    "pin": ("POST", "/memories/{memory}/pin"),
    "unpin": ("POST", "/memories/{memory}/unpin"),
    "import_bank": ("POST", "/import"),
    "export": ("GET", "/export"),
    "backup": ("GET", "/backup"),
    "list_banks": ("GET", ""),
    "create_bank": ("POST", ""),
    "delete_bank": ("POST", "/{name}/delete"),
}


def old_place_of(name: str) -> Place:
    """Where an operation was found by its old name."""
    place = place_of(OLD_OPERATIONS[name])
    return Place(place.method, f"{place.path.rpartition('/')[0]}/{name.replace('_', '-')}")


def place_of(name: str) -> Place:
    """Where an operation is found."""
    method, rest = _PLACES.get(name, ("POST", f"/{name.replace('_', '-')}"))
    return Place(method, (ONE_BANK if OPERATIONS[name].scope is Scope.BANK else BANKS) + rest)
