"""Consent of the user to a proof that hides nothing, for a program that has values to hide."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram


class NotZeroKnowledge(CircuitizeError):
    """The error raised if a program has values to hide and the chosen kind of proof does not hide them."""


def require_consent(program: IntegerProgram, proofs: str, consent: str, other: str) -> None:
    """Raise NotZeroKnowledge if a program has inputs that are not public, for which a proof that hides nothing needs
    consent.

    The argument `proofs` says which kind of proof hides nothing, `consent` how to allow that kind, and `other` which
    kind hides values.
    """
    hidden = [port.name for port in program.inputs if port.visibility is not Visibility.PUBLIC]
    if hidden:
        raise NotZeroKnowledge(
            f"expected public inputs only, found {hidden[0]!r}: {proofs} are NOT zero-knowledge and tell others about "
            f"hidden values; {consent} if that is no harm, or {other}"
        )
