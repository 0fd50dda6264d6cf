"""Instances: files that a verifier in Rust holds to check a tensor proof (docs/verifying.md)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from circuitize.backends.tensor.groups import GroupName
from circuitize.circuits.encode import program_digest
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.binding import digest_bytes
from circuitize.provers.statement import Unproved

from .plan import Plan
from .security import require_secure
from .statement import Statement, fault, untrusted

MAGIC = b"circuitize-tenin"
VERSION = 1
PLAN_ITEMS = 10


def encode(
    program: IntegerProgram,
    statement: Statement,
    made: Plan,
    context: bytes = b"",
    trusted: Mapping[GroupName, bytes] | None = None,
) -> bytes:
    """Return an instance: the plan and the statement that a proof must match, in the form in which the Rust crate
    `circuitize-tensor` reads them.

    All arguments come from the verifier: `made` is the plan of the verifier's `program`, `context` and `trusted` are
    those of `verifier.refusal`, and `statement` is what the verifier expects. Raise Unproved for a plan or a statement
    of another program, or if the plan assumes that a root is in format which is not trusted; raise Unprovable if no
    proof of the program could be trusted.
    """
    return b"".join(parts(program, statement, made, context, trusted))


def parts(
    program: IntegerProgram,
    statement: Statement,
    made: Plan,
    context: bytes = b"",
    trusted: Mapping[GroupName, bytes] | None = None,
    planned: bytes | None = None,
) -> tuple[bytes, bytes, bytes]:
    """Return the three parts of an instance, which `encode` joins: its subject, the plan, and the roots with the public
    values.

    Instances with the same plan share the part that encodes the plan; the argument `planned` is the encoded plan, if it
    was made before. Raise Unproved and Unprovable for the same reasons as `encode`.
    """
    require_secure(made)
    digest = program_digest(program)
    if made.program != digest:
        raise Unproved(f"the plan is of program {made.program}, expected {digest}")
    reason = fault(program, statement, made.dataset) or untrusted(statement, made.assumed, trusted or {})
    if reason is not None:
        raise Unproved(reason)
    named = (digest_bytes(made.program), made.digest, context)
    stated = ([statement.roots[key] for key in made.groups], made.public_values(statement.publics))
    start = MAGIC + _number(VERSION) + _number(len(named) + PLAN_ITEMS + len(stated))
    return (
        start + b"".join(map(_encoded, named)),
        _planned(made) if planned is None else planned,
        b"".join(map(_encoded, stated)),
    )


def _planned(made: Plan) -> bytes:
    """Return the part of an instance that encodes the plan."""
    commitments, bases, views, forms, lookups, tables, zeros = made.records
    content = (
        made.degree,
        made.encoded_lists,
        commitments,
        bases,
        views,
        forms,
        [(table, key, None if value is None else (value,)) for table, key, value in lookups],
        tables,
        zeros,
        None if made.openings is None else (made.openings,),
    )
    assert len(content) == PLAN_ITEMS
    return b"".join(map(_encoded, content))


def _number(value: int) -> bytes:
    return (value % (1 << 64)).to_bytes(8, "little")


def _encoded(value: object) -> bytes:
    """Return a value encoded for an instance: a number in 8 bytes, and any other value after its length. None is
    encoded as an empty tuple.
    """
    match value:
        case None:
            return _number(0)
        case int() | np.integer():
            return _number(int(value))
        case str():
            return _encoded(value.encode())
        case bytes():
            return _number(len(value)) + value
        case np.ndarray():
            return _number(value.size) + np.ascontiguousarray(value, "<i8").tobytes()
        case list() | tuple():
            return _number(len(value)) + b"".join(map(_encoded, value))
        case _:
            raise TypeError(f"an instance holds no {type(value).__name__}")
