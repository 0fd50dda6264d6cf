"""Checking a tensor proof against the verifier's own program and a statement."""

from __future__ import annotations

from collections.abc import Mapping

import circuitize._native as _native
from circuitize.backends.tensor.groups import GroupName
from circuitize.circuits.program import IntegerProgram

from .instructions import instructions
from .plan import Plan, plan
from .proof import Proof
from .security import require_secure
from .statement import Statement, fault, untrusted


def verify(program: IntegerProgram, statement: Statement, proof: Proof, made: Plan | None = None) -> bool:
    """Return whether `proof` shows the statement; if it does not, the function `refusal` says why."""
    return refusal(program, statement, proof, made) is None


def refusal(
    program: IntegerProgram,
    statement: Statement,
    proof: Proof,
    made: Plan | None = None,
    context: bytes = b"",
    trusted: Mapping[GroupName, bytes] | None = None,
) -> str | None:
    """Return None if the proof is valid, or else a text of one line that says why it is not.

    The plan of a proof, and with it every parameter and the length of every message, follows from the verifier's own
    program; the digest in the proof is only compared with that of the plan. The argument `context` is the context for
    which the proof must have been made. The argument `trusted` holds, by group, the roots that the caller knows to be
    in format: every group that the plan assumes to be in format must have such a root. Raise Unprovable if no proof of
    the verifier's program could be trusted.
    """
    made = made or plan(program)
    require_secure(made)
    instructions()
    if proof.digest != made.program:
        return f"the proof is for program {proof.digest}, expected {made.program}"
    if proof.zero_knowledge != made.hidden:
        return f"the proof is {_kind(proof.zero_knowledge)}, expected one that is {_kind(made.hidden)}"
    reason = fault(program, statement, made.dataset) or untrusted(statement, made.assumed, trusted or {})
    if reason is not None:
        return reason
    roots = [statement.roots[key] for key in made.groups]
    values = made.public_values(statement.publics)
    return _native.tensor_verify(made.native, made.digest, context, roots, values, proof.messages)


def _kind(hidden: bool) -> str:
    return "zero-knowledge" if hidden else "not zero-knowledge"
