"""Consent to a proof that hides nothing, for a program that hides something."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram


class NotZeroKnowledge(CircuitizeError):
    """The error that a program hides values which the chosen kind of proof does not hide."""


def require_consent(program: IntegerProgram, proofs: str, consent: str, other: str) -> None:
    """Raise NotZeroKnowledge if a program has inputs that are not public.

    The argument `proofs` says which kind hides nothing, `consent` how to allow that kind, `other` which kind hides
    values.
    """
    hidden = [port.name for port in program.inputs if port.visibility is not Visibility.PUBLIC]
    if hidden:
        raise NotZeroKnowledge(
            f"expected public inputs only, found {hidden[0]!r}: {proofs} are NOT zero-knowledge and tell others about "
            f"hidden values; {consent} if that is no harm, or {other}"
        )
