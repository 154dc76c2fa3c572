"""The entities that the query asks about: the caller's hints first, then the names in its words.

Fills ``query.entities``, each once, in that order. Only entities that a visible memory mentions are known
here, so a name tells nobody what others have stored. A hint that names none is noted, and so is a query in
which nothing was found: graph channels then have only likeness to start from.
Cost: one look-up per word of the query, see ``KnownNames``. Weakness: "she" and "my manager" name nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query

NONE_FOUND = "no entity"


@dataclass(frozen=True, slots=True)
class QueryEntities:
    """Understander.

    Attributes:
        silent: whether a query that names nothing goes without a note, in a profile that needs no name.
    """

    silent: bool = False

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its entities."""
        hinted = {hint: view.find_entities(hint) for hint in query.hints}
        named = [entity for entities in hinted.values() for entity in entities]
        entities = tuple(dict.fromkeys([*query.entities, *named, *view.find_entities(query.text)]))
        notes = [f"{NONE_FOUND} is named {shown(hint)}" for hint, found in hinted.items() if not found]
        if not entities and not self.silent:
            notes = [NONE_FOUND, *notes]
        return replace(query, entities=entities, notes=(*query.notes, *notes))
