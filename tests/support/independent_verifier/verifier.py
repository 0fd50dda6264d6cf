"""The protocol as the verifier sees it, written from its description, apart from the native code."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial

import numpy as np

from circuitize.backends.tensor.forms import Column, Public, padded_bits
from circuitize.backends.tensor.groups import GroupName
from circuitize.backends.tensor.ports import PortList
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.security import require_secure
from circuitize.provers.tensor.statement import Statement, fault, untrusted

from .arithmetic import Elements, Field, dot, multiply, numbers, powers, stack, words
from .checks import Clear
from .geometry import Geometry, fit, table, vectors
from .joint import Oracle, check_joint
from .masked import Masked, extension_from, pad_words
from .numbered import Mix
from .reductions import Reductions
from .transcript import Refused, hashed
from .weights import Separable, at_point


def refusal(
    program: IntegerProgram,
    statement: Statement,
    proof: Proof,
    made: Plan | None = None,
    context: bytes = b"",
    trusted: Mapping[GroupName, bytes] | None = None,
) -> str | None:
    """None where the proof is valid, else why it is not: the same answer as the native verifier's, by other code.

    Raise Unprovable where no proof of this program could be trusted.
    """
    made = made or plan(program)
    require_secure(made)
    if proof.digest != made.program:
        return f"the proof is for program {proof.digest}, expected {made.program}"
    if proof.zero_knowledge != made.hidden:
        kinds = ("not zero-knowledge", "zero-knowledge")
        return f"the proof is {kinds[proof.zero_knowledge]}, expected one that is {kinds[made.hidden]}"
    reason = fault(program, statement, made.dataset) or untrusted(statement, made.assumed, trusted or {})
    if reason is not None:
        return reason
    try:
        Verifier(made, statement, proof.messages).check(context)
    except Refused as error:
        return str(error)
    return None


def ports_hash(ports: PortList, openings: int | None = None) -> bytes:
    """The hash of the list of ports that a root is of; in zero knowledge, of how many openings it is made for too."""
    kind = (0, 1) if openings is None else (1, 1, openings)
    content = struct.pack(f"<{len(kind) + 1}q", *kind, len(ports))
    for port in sorted(ports, key=lambda port: port.name):
        name = port.name.encode("utf-8", "surrogatepass")
        numbers = (port.fraction_bits, port.low, port.high, len(port.shape), *port.shape, port.blocks)
        content += struct.pack("<q", len(name)) + name + struct.pack(f"<{len(numbers)}q", *numbers)
    return hashed("ports", content)


def published(made: Plan, commitment: int, top: bytes) -> bytes:
    """The root that stands for the top of a commitment's tree: the last one is of what the proof itself commits to."""
    if commitment == len(made.lists):
        return hashed("columns", top)
    openings = made.openings[commitment] if made.openings else None
    return hashed("root", ports_hash(made.lists[commitment], openings) + top)


class Verifier(Reductions):
    """One check of one proof; raises Refused."""

    tables: list[Geometry]
    """Sizes of the tables, once they are known."""

    def check(self, context: bytes) -> None:
        made, transcript = self.plan, self.transcript
        transcript.absorb("statement", made.digest)
        transcript.absorb("context", context)
        for base in made.bases:
            if isinstance(base, Public):
                transcript.absorb("public", words(numbers(self._public(base))).astype("<u8").tobytes())
        for key in made.groups:
            transcript.absorb("root", self.statement.roots[key])
        own = transcript.bytes("columns", 32)
        masked = Masked(transcript)
        self.checks = masked if made.hidden else Clear(transcript)
        self.reduce()
        roots = [*(self.statement.roots[key] for key in made.groups), own]
        self._opening(roots, masked if made.hidden else None)
        transcript.finish()

    def _opening(self, roots: list[bytes], checks: Masked | None) -> None:
        """All claims on all commitments at once, and, where numbers are masked, the equation of the pads."""
        made, last, start = self.plan, len(self.plan.lists), self._end(len(self.plan.lists))
        own = None if checks is None else checks.finish()
        gamma, values = self.transcript.challenge("openings"), [value for *_, value in self.openings]
        factors = np.concatenate([self.one[None], powers(gamma, len(values))])
        behind, target = Field.zeros((0, made.degree)), self.zero
        if checks is None or own is None:
            target = dot(stack([self.zero, *values])[1:], factors[:-1])
        else:
            claimed, _ = checks.equation(values, -factors[:-1])
            target = -(claimed.constant + multiply(own.constant, factors[-1]))
            pads = multiply(own.pads, factors[-1])
            pads[: len(claimed.pads)] = pads[: len(claimed.pads)] + claimed.pads
            behind = pad_words(pads)
        openings = made.openings or [0] * last
        self.tables = [table(self._end(number), most) for number, most in enumerate(openings)]
        self.tables.append(table(start + len(behind), 1 if made.hidden else 0))
        if not fit(self.tables, vectors(self.tables, made.hidden)):
            raise Refused("the plan's tables do not fit the field's domains")
        mine: list[list[tuple[Elements, Column, Mix]]] = [[] for _ in roots]
        for factor, (base, mix, _) in zip(factors, self.openings, strict=False):
            column = made.bases[base]
            assert isinstance(column, Column) and column.commitment is not None
            mine[column.commitment].append((factor, column, mix))

        def weight_at(number: int, point: Elements) -> Elements:
            weight = self._weight(mine[number], point)
            return weight + extension_from(start, behind, point) if number == last else weight

        carried = made.degree * made.hidden
        oracles = [
            Oracle(
                own,
                1 << own.fold,
                carried * (number == last),
                root,
                True,
                partial(published, made, number),
            )
            for number, (own, root) in enumerate(zip(self.tables, roots, strict=True))
        ]
        check_joint(self.transcript, oracles, target, weight_at, made.hidden)

    def _end(self, commitment: int) -> int:
        """Where the columns of a commitment end."""
        own = (base for base in self.plan.bases if isinstance(base, Column) and base.commitment == commitment)
        return max((column.offset + (1 << padded_bits(column.shape)) for column in own), default=0)

    def _weight(self, mine: list[tuple[Elements, Column, Mix]], point: Elements) -> Elements:
        """The extension of the weights of all claims on a commitment, each at its column's place."""
        if not mine:
            return self.zero
        points: dict[tuple[int, ...], Separable] = {}
        for _, column, _ in mine:
            if column.shape not in points:
                points[column.shape] = at_point(column.shape, point[: padded_bits(column.shape)])
        places = self._places(point, [padded_bits(c.shape) for _, c, _ in mine], [c.offset for _, c, _ in mine])
        values = stack([self._extension(mix, points[column.shape]) for _, column, mix in mine])
        return dot(multiply(stack([factor for factor, _, _ in mine]), places), values)
