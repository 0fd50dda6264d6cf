"""Plans of tensor proofs: a plan says what the proof of an integer program consists of, and follows from the program
alone, so that prover and verifier make the same plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from circuitize._native import TensorPlan, tensor_sizes
from circuitize.backends.tensor.dataset import Dataset
from circuitize.backends.tensor.emit import emit
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.frozen import MOST_OPENINGS
from circuitize.backends.tensor.groups import GroupName, PortKey
from circuitize.backends.tensor.system import TensorSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan

from .config import DEGREES, GEOMETRY, HIDDEN_GEOMETRY, HIDDEN_TYPE, PROOF_TYPE, Layout, parameters
from .flow import Claimed, claimed
from .roots import CHUNKS, FLAGS, HIDDEN, encoded
from .security import least_degree

OPENINGS = 4
"""How often a root may be opened by default: by the proof that makes it, and by three proofs that join it."""

MOST_VARIABLES = 29
"""The variables of the largest commitment, which holds 2^29 elements; larger plans can only be estimated."""

Openings = int | Mapping[PortKey, int]
"""How often the root of each group may be opened; if one number is given for all groups, frozen groups follow their own
budget.
"""


@dataclass(frozen=True)
class Plan(TensorSystem):
    """The plan of a tensor proof: everything on which prover and verifier agree before a proof is made, which follows
    from the program.

    In addition to its tensor system, a plan has the fields `degree`, the degree of the extension field from which
    challenges are drawn, and `openings`, which says how often the root of each group may be opened in zero knowledge.
    """

    degree: int = 2
    openings: tuple[int, ...] | None = None

    @staticmethod
    def of(system: TensorSystem, openings: Openings | None) -> Plan:
        """Return the plan of a tensor system, over the extension field of the least degree for which its proofs are
        sound enough.
        """
        parts = {part.name: getattr(system, part.name) for part in fields(TensorSystem)}
        made = Plan(**parts, openings=None if openings is None else _openings(openings, system))
        _hand_on(system, made)
        return made.over(least_degree(made))

    def over(self, degree: int) -> Plan:
        """Return a plan of the same tensor system over the extension field of another degree."""
        made = replace(self, degree=degree)
        _hand_on(self, made)
        return made

    @cached_property
    def claimed(self) -> Claimed:
        """Return the size of the proof's claims; raise Unprovable for more claims than a proof may have."""
        return claimed(self)

    @cached_property
    def native(self) -> TensorPlan:
        """Return the plan as an object of the native prover; raise Unprovable for more elements than the native prover
        can commit to at once.
        """
        if max(self.commitments) > MOST_VARIABLES:
            raise Unprovable(
                f"expected at most 2^{MOST_VARIABLES} committed elements, found 2^{max(self.commitments)}; "
                "prove fewer steps at once"
            )
        openings = None if self.openings is None else list(self.openings)
        commitments, bases, views, forms, lookups, tables, zeros = self.records
        lists = self.encoded_lists
        return TensorPlan(self.degree, lists, commitments, bases, views, forms, lookups, tables, zeros, openings)

    @property
    def encoded_lists(self) -> list[bytes]:
        """Return, for each group of the plan, the encoded list of ports that its root binds."""
        openings = self.openings or (None,) * len(self.lists)
        return [encoded(ports, most) for ports, most in zip(self.lists, openings, strict=True)]

    def hiding(self, openings: Openings) -> Plan:
        """Return the plan of the same program for proofs in zero knowledge; raise Unprovable if the program has no such
        proofs.
        """
        return Plan.of(self, openings)

    @cached_property
    def layout(self) -> Layout:
        """Return the sizes of the plan's proofs in zero knowledge; raise Unprovable if no sizes are possible."""
        if not self.hidden:
            return Layout.of(*tensor_sizes(list(self.commitments)))
        try:
            return Layout.of(*self.native.layout())
        except ValueError as error:
            raise Unprovable(f"expected a smaller program, found that {error}; prove fewer steps at once") from None

    @property
    def hidden(self) -> bool:
        """Return whether the plan's proofs are in zero knowledge."""
        return self.openings is not None

    @cached_property
    def digest(self) -> bytes:
        """Return the digest that a proof's statement binds: of the type of proof, the parameters, the program, and the
        plan that follows from the program.

        The fields after the proof type in the digest of a statement are reserved for zero knowledge and for proofs in
        chunks.
        """

        def plain(value: object) -> object:
            if isinstance(value, np.ndarray):
                return [value.size, hashlib.sha256(np.ascontiguousarray(value, "<i8").tobytes()).hexdigest()]
            return value

        lists = [ports.hex() for ports in self.encoded_lists]
        tag = (HIDDEN_TYPE, HIDDEN, HIDDEN_GEOMETRY) if self.hidden else (PROOF_TYPE, FLAGS, GEOMETRY)
        kind = [*tag, CHUNKS, parameters(self.degree)]
        said = [*kind, self.program, self.groups, lists, self.assumed, self.records]
        content = json.dumps(said, default=plain, sort_keys=True)
        return hashlib.sha256(content.encode()).digest()


def plan(
    program: IntegerProgram,
    limb_bits: int | None = None,
    assumed: Collection[GroupName] = frozenset(),
    dataset: Dataset | None = None,
    degree: int | None = None,
    openings: Openings | None = None,
    scanned: Scan | None = None,
) -> Plan:
    """Return the plan of an integer program's tensor proofs, made from the program's tensor system.

    The arguments `limb_bits`, `assumed`, `dataset` and `scanned` determine the plan's tensor system in the same way as
    in `emit`. A proof by a plan that assumes groups is valid only for roots that are known to commit to values in
    format; the plan's digest names these groups. Programs with equal digests have equal plans.

    Challenges are drawn from the extension field of the least degree, 2 or 3, for which the proof is sound enough, or
    of the given `degree`, which may not be less. The plan's digest contains the degree of the extension field, so that
    prover and verifier must use the same degree.

    If the plan has `openings`, its proofs are in zero knowledge, and the root of each group may be opened that often:
    `openings` is one number for all groups except frozen ones, or a number for each group.

    Raise Unprovable, naming the operation, its place, the interval and a remedy, for a program that the tensor prover
    cannot prove; raise CircuitizeError for a group that the program does not have, and for an invalid degree.
    """
    made = Plan.of(emit(program, limb_bits, assumed, dataset, scanned), openings)
    least, most = made.degree, DEGREES[-1]
    if degree is not None and not least <= degree <= most:
        raise CircuitizeError(f"expected an extension of degree {least} to {most} for this program, found {degree}")
    return made if degree is None else made.over(degree)


def _hand_on(system: TensorSystem, made: Plan) -> None:
    """Pass on to a plan those results that were already derived from its tensor system, which do not depend on the
    degree or the openings.
    """
    derived = {"records": system.records, **vars(system)}
    vars(made).update({name: derived[name] for name in ("records", "fractions", "claimed") if name in derived})


def _openings(given: Openings, system: TensorSystem) -> tuple[int, ...]:
    """Return, for each group of a plan, how often its root may be opened."""
    counts = tuple(system.budgets.get(key, given) if isinstance(given, int) else given[key] for key in system.groups)
    for count in counts:
        if not 1 <= count <= MOST_OPENINGS:
            raise CircuitizeError(f"expected roots for 1 to {MOST_OPENINGS} openings, found {count}")
    return counts
