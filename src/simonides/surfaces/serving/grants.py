"""What a caller may do: which banks, which verbs, as whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import SimonidesError
from simonides.surfaces.operations.table import Scope, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.bank import Bank
    from simonides.surfaces.operations.table import Operation

EVERY_BANK = "*"
LEAVE_OUT = "; leave it out"
ERASES = "erases"
OF_PARAMETERS = {
    "count_returned": (Verb.WRITE, LEAVE_OUT),
    "refresh": (Verb.WRITE, LEAVE_OUT),
    "always": (Verb.ADMIN, LEAVE_OUT),
    ERASES: (Verb.FORGET, " to replace a value; append, or put with replaces=[]"),
}
"""What parameters need beside the verbs of their operation, and what else to do; and whether records are
put that may replace others."""
OTHER_BANKS = "the token is not valid for this bank; ask with its own token, or make one for this bank"


class ForbiddenError(SimonidesError):
    """The caller's token does not allow it; says nothing about what there is."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token allows.

    Attributes:
        name: the token's public part, for logs and limits.
        principal: who acts; ``None`` = the owner of the banks.
        banks: names; ``("*",)`` = every bank of the store.
        verbs: what may be done in them.
    """

    name: str
    principal: str | None
    banks: tuple[str, ...]
    verbs: frozenset[Verb]

    def covers(self, bank: str) -> bool:
        """Whether a bank is inside the scope."""
        return EVERY_BANK in self.banks or bank in self.banks

    def check(self, operation: Operation, bank: str | None) -> None:
        """Raise ``ForbiddenError`` unless the operation is allowed on *bank*.

        ``None`` = it is about the store.
        """
        for verb in operation.verbs:
            if verb not in self.verbs:
                raise ForbiddenError(f"this token does not allow to {verb}, which {operation.name} needs")
        if operation.scope is Scope.BANK and (bank is None or not self.covers(bank)):
            raise ForbiddenError(OTHER_BANKS)
        if operation.owner_only and self.principal is not None:
            raise ForbiddenError(f"{operation.name} is for a token of the owner, without a principal")

    def check_request(self, operation: Operation, request: Mapping[str, Any]) -> None:
        """Raise ``ForbiddenError`` where the parameters ask for more than the operation's own verb allows."""
        for parameter, (verb, instead) in OF_PARAMETERS.items():
            asked = (
                "records" in request and _erases(request) if parameter == ERASES else request.get(parameter)
            )
            if asked and verb not in self.verbs:
                what = f"{parameter} of {operation.name}" if instead is LEAVE_OUT else operation.name
                raise ForbiddenError(f"this token does not allow to {verb}, which {what} needs{instead}")

    def check_metrics(self) -> None:
        """Raise ``ForbiddenError`` unless the token is the owner's, for every bank or for administration."""
        if self.principal is not None or not (EVERY_BANK in self.banks or Verb.ADMIN in self.verbs):
            raise ForbiddenError(
                "the metrics count the requests of all tokens; ask with a token of the owner for every bank "
                f"(--bank '{EVERY_BANK}'), or one that allows to {Verb.ADMIN}"
            )

    def check_memory(self, memory: str | None, bank: Bank) -> None:
        """Raise ``ForbiddenError`` where the memory to be changed is a standing one.

        For operations that ``alter`` one; a memory that the caller cannot read is a ``NotFoundError``.
        """
        if Verb.ADMIN in self.verbs:
            return
        if memory is not None and bank.get_memory(memory).standing:
            raise ForbiddenError(
                f"this token does not allow to {Verb.ADMIN}, as a change of a standing memory needs"
            )


def _erases(request: Mapping[str, Any]) -> bool:
    """Whether a value may be erased for one of the records that are put."""
    return not request.get("append") and any(each.get("replaces") != [] for each in request["records"])


LOCAL = Grant("local", None, (EVERY_BANK,), frozenset(Verb))
"""Of a process that the owner runs, such as a server on standard input and output."""
