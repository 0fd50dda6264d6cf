"""The inputs and outputs of a program as Plonkish variables: public ports are in the instance, and committed ports have
their digest there.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Fixed

from .. import terminal as ports
from ..r1cs.commitments import PACKED, WIDTH, layout, tag
from ..terminal import Public, in_order
from ..values import Salt
from .assembly import Assembly, Handle, single_forms
from .ranges import entering
from .tasks import Permutations, Sum, Variables


class Terminal(ports.Terminal):
    """A port of a program, with the way in which its value enters or leaves a Plonkish circuit."""

    def enter(self, assembly: Assembly) -> Handle:
        """Return the Plonkish variables of a program's input, which are checked to be in the input's format."""
        made = single_forms(assembly.hint(self.value, self.format.size))
        return entering(assembly, made, self.value, self.format, f"input range {self.port.name}")

    def show(self, assembly: Assembly, handle: Handle) -> Variables:
        """Return the variables of a port that are public: its elements, or the digest of a committed port."""
        if self.committed:
            return commit(assembly, handle, self.format, self.label)
        return assembly.single(handle.forms, self.label)


def commit(assembly: Assembly, handle: Handle, format: Fixed, label: str) -> Variables:
    """Return the variable of a commitment's digest: the same hash of the handle's elements that
    `r1cs.commitments.commit` computes.

    Soundness: each element minus the least value of its format is in [0, 2^width), so that packing is injective, and
    packed values are at most 2^253 - 1, below the prime. In a commitment, the row of a sum determines each packed
    value, and the rows of a Poseidon permutation determine its outputs.
    """
    plan = layout(format)
    role = f"{label} commitment"
    packed = _packed(assembly, handle, format, f"{role} packed")
    salt = assembly.hint(Salt(label), 1)
    outputs = assembly.fresh(plan.permutations, wide=True)
    inputs = np.full((PACKED + 2, plan.permutations), assembly.constant(0), np.int32)
    inputs[0] = assembly.constant(tag(format))
    inputs[1] = np.append(salt, outputs[:-1])
    filled = np.full(plan.permutations * PACKED, assembly.constant(0), np.int32)
    filled[: len(packed)] = packed
    inputs[2:] = filled.reshape(plan.permutations, PACKED).T
    before, after = (
        assembly.fresh(WIDTH * plan.permutations, wide=True).reshape(WIDTH, plan.permutations) for _ in range(2)
    )
    assembly.tasks.append(Permutations(assembly.edge, role, outputs, inputs, before, after))
    return outputs[-1:]


def _packed(assembly: Assembly, handle: Handle, format: Fixed, role: str) -> Variables:
    """Return the packed values of a commitment: sums of elements minus their format's least value, each element at its
    own place in bits.
    """
    plan = layout(format)
    if not plan.elements:
        return np.zeros(0, np.int32)
    variables = assembly.single(handle.forms, role)
    whole, rest = divmod(len(variables), plan.per_element)
    made = []
    for first, count, terms in ((0, whole, plan.per_element), (whole * plan.per_element, 1, rest)):
        if not count or not terms:
            continue
        chosen = variables[first : first + count * terms].reshape(count, terms).T
        factors = tuple(1 << (plan.width * place) for place in range(terms))
        targets = assembly.fresh(count, wide=True)
        assembly.tasks.append(Sum(assembly.edge, role, targets, chosen, factors, -format.low * sum(factors)))
        made.append(targets)
    return np.concatenate(made)


def shown(
    assembly: Assembly, inputs: list[Terminal], entered: list[Handle], outputs: list[Terminal], results: list[Handle]
) -> tuple[tuple[Public, ...], Variables]:
    """Return the instance of a Plonkish system: the meaning of each part, in order, and its variables.

    The field `Public.first` counts from 1, as in a rank-one system, where wire 0 is the constant.
    """
    handles = dict(zip([*inputs, *outputs], [*entered, *results], strict=True))
    publics, variables, first = [], [], 1
    for terminal in in_order(inputs, outputs):
        own = terminal.show(assembly, handles[terminal])
        publics.append(terminal.visible(first, len(own)))
        variables.append(own)
        first += len(own)
    return tuple(publics), np.concatenate(variables)
