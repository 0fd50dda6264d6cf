"""Making a tensor proof that a program was run on public values, and on committed values that only the prover knows."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import circuitize._native as _native
from circuitize.backends.tensor.dataset import ROWS
from circuitize.backends.tensor.forms import Column, Integers, Trace
from circuitize.backends.tensor.groups import INPUT, OUTPUT, PortKey
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.consent import require_consent

from .instructions import instructions
from .plan import Plan, plan
from .proof import Proof
from .security import require_secure
from .statement import Statement

SECRET_BYTES = 32

Hook = Callable[[str, list[int]], Sequence[int]]
"""A function that sees each message by its label, as 64-bit words, and returns the words to send: for tests that attack
the verifier.
"""


@dataclass(frozen=True)
class Proved:
    """A tensor proof, its statement, the program's outputs, and the secret and the commitment of each group, which
    later proofs can use.
    """

    proof: Proof
    statement: Statement
    outputs: Mapping[str, Integers]
    secrets: Mapping[PortKey, bytes]
    commitments: Mapping[PortKey, _native.TensorCommitment]


def draw_secrets(made: Plan, known: Mapping[PortKey, bytes] | None = None) -> dict[PortKey, bytes]:
    """Return a secret for each group of committed ports: the known one, or a new one from the operating system's
    randomness.
    """
    known = known or {}
    return {key: known.get(key) or secrets.token_bytes(SECRET_BYTES) for key in made.groups}


def commit(made: Plan, trace: Trace, key: PortKey, secret: bytes) -> _native.TensorCommitment:
    """Return the commitment to a group's values that a proof by the given plan would make; it can be kept and used for
    several proofs.
    """
    instructions()
    number = made.groups.index(key)
    tensors = [
        (base.shape, base.offset, np.ascontiguousarray(base.recipe(trace), np.int64))
        for base in made.bases
        if isinstance(base, Column) and base.commitment == number and base.recipe is not None
    ]
    openings = made.openings[number] if made.openings else None
    return _native.tensor_commit(made.commitments[number], tensors, secret, made.encoded_lists[number], openings)


def prove(
    program: IntegerProgram,
    inputs: Mapping[str, Integers],
    *,
    not_zero_knowledge: bool = False,
    made: Plan | None = None,
    salts: Mapping[PortKey, bytes] | None = None,
    hook: Hook | None = None,
    progress: Callable[[str], object] | None = None,
) -> Proved:
    """Return a succinct proof that the program maps the given inputs to the outputs that are returned with the proof;
    it is zero-knowledge if its plan is.

    The inputs and outputs are integers of their formats, as `to_integers` makes them from real values. Raise Unprovable
    for a program that cannot be proved, Undefined if the program has no value on the inputs, and NotZeroKnowledge if
    the program has hidden inputs and the caller has not accepted that the proof may disclose something about them. The
    same values and secret always give the same root, so that an output of one proof can be an input of another.
    """
    made = made or plan(program)
    if not (made.hidden or not_zero_knowledge):
        require_consent(program, "proofs by this plan", "say not_zero_knowledge=True", "make a plan with openings")
    trace = made.trace(inputs)
    return prove_values(program, made, trace, made.values(trace), salts=salts, hook=hook, progress=progress)


def prove_values(
    program: IntegerProgram,
    made: Plan,
    trace: Trace,
    values: Iterable[Integers],
    *,
    salts: Mapping[PortKey, bytes] | None = None,
    secret: bytes | None = None,
    kept: Mapping[PortKey, _native.TensorCommitment] | None = None,
    context: bytes = b"",
    hook: Hook | None = None,
    progress: Callable[[str], object] | None = None,
) -> Proved:
    """Return the proof that results from the given values of all bases of the tensor system, whether or not the program
    computes these values.

    A group whose commitment is given in `kept` is not committed to again. A tensor proof is valid only in the `context`
    for which it was made. If `secret` and `salts` are given, the same proof is made again; otherwise they are drawn at
    random. The prover takes the values of the bases one by one and keeps none: if they come from an iterator, each
    value is freed before the next one is made.
    """
    require_secure(made)
    instructions()
    drawn = draw_secrets(made, salts)
    own = [*drawn.values(), secret or secrets.token_bytes(SECRET_BYTES)]
    known = [(kept or {}).get(key) for key in made.groups] + [None]
    sides = {INPUT: (program.inputs, made.arrow.inputs), OUTPUT: (program.outputs, made.arrow.outputs)}
    named = {
        (side, port.name): (port, np.asarray(trace[wire], np.int64))
        for side, (ports, wires) in sides.items()
        for port, wire in zip(ports, wires.tolist(), strict=True)
    }
    publics = {key: value for key, (port, value) in named.items() if port.visibility is Visibility.PUBLIC}
    labels, rows = {base: label for label, base in made.indices.items()}, dict[PortKey, Integers]()

    def passed() -> Iterator[Integers]:
        for base, value in enumerate(values):
            if base in labels:
                rows[ROWS, labels[base]] = value
            yield value

    try:
        messages, commitments, phases = _native.tensor_prove(
            made.native, made.digest, context, passed(), own, known, hook, progress
        )
    except RuntimeError as error:
        raise CircuitizeError(f"cannot prove: {error}") from error
    publics |= rows
    made_commitments = dict(zip(made.groups, commitments, strict=True))
    statement = Statement(publics, {key: commitment.root for key, commitment in made_commitments.items()})
    outputs = {name: value for (side, name), (_, value) in named.items() if side == OUTPUT}
    return Proved(Proof(made.program, messages, phases, made.hidden), statement, outputs, drawn, made_commitments)
