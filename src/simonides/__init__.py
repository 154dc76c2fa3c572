"""simonides: an embedded memory engine for AI agents.

    import simonides

    with simonides.open("memories") as store:
        bank = store.bank("assistant")
        bank.retain("Odalys moved the weekly review to Thursday.", kind="decision")
        print(bank.recall("When is the review?").context)

Names are loaded at first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.errors import SimonidesError
    from simonides.integrations.clients import remember, without_memory
    from simonides.records.memory import Memory
    from simonides.records.recall import Hit, Recall
    from simonides.store import Store
    from simonides.store import open_store as open  # noqa: A004 the library's verb, used as simonides.open
    from simonides.surfaces.client.asynchronous import AsyncBank
    from simonides.surfaces.client.remote import connect

__all__ = [
    "AsyncBank",
    "Bank",
    "Hit",
    "Memory",
    "Recall",
    "SimonidesError",
    "Store",
    "__version__",
    "connect",
    "open",
    "remember",
    "without_memory",
]

__version__ = "0.1.0"

_HOMES = {
    "AsyncBank": "simonides.surfaces.client.asynchronous:AsyncBank",
    "Bank": "simonides.bank:Bank",
    "Hit": "simonides.records.recall:Hit",
    "Memory": "simonides.records.memory:Memory",
    "Recall": "simonides.records.recall:Recall",
    "SimonidesError": "simonides.errors:SimonidesError",
    "Store": "simonides.store:Store",
    "connect": "simonides.surfaces.client.remote:connect",
    "open": "simonides.store:open_store",
    "remember": "simonides.integrations.clients:remember",
    "without_memory": "simonides.integrations.clients:without_memory",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'simonides' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value
