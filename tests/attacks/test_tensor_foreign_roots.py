"""A prover who opens the root of another list of ports: the same numbers at the same places, and nothing else wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from independent_verifier.verifier import published
from tensor_attack import at_every_degree, attack, built, small_plan
from tensor_cheat import Cheat
from tensor_proofs import opinions, refusals

from circuitize.backends.tensor.groups import INPUT
from circuitize.backends.tensor.ports import Listed, PortList
from circuitize.circuits import integers
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan
from circuitize.provers.tensor.prover import prove_values

KEY = INPUT, "parameters"
BELONGS = "an opened leaf does not belong to its commitment"
VALUES = {"weight": np.array([[1, 2, 3], [4, 5, 6]]), "bias": np.array([7, 0, 1])}
WEIGHT, BIAS = Listed("weight", (2, 3), 4, 0, 7, 1), Listed("bias", (3,), 4, 0, 7, 1)

LISTS: dict[str, PortList] = {
    "a name": (BIAS, replace(WEIGHT, name="weighs")),
    "a name in another form of the same letters": (BIAS, replace(WEIGHT, name="weight\ufe0f")),
    "names exchanged": (replace(WEIGHT, name="bias"), replace(BIAS, name="weight")),
    "fraction bits": (BIAS, replace(WEIGHT, fraction_bits=3)),
    "the sign of fraction bits": (BIAS, replace(WEIGHT, fraction_bits=-4)),
    "an interval": (BIAS, replace(WEIGHT, high=8)),
    "a shape of the same size": (BIAS, replace(WEIGHT, shape=(3, 2))),
    "an axis more": (BIAS, replace(WEIGHT, shape=(2, 3, 1))),
    "padding among the values": (BIAS, replace(WEIGHT, shape=(2, 4))),
    "an example of zeros more": (BIAS, replace(WEIGHT, shape=(3, 3))),
    "blocks": (BIAS, replace(WEIGHT, blocks=2)),
    "a port of zeros more": (BIAS, WEIGHT, Listed("zeros", (4,), 4, 0, 7, 1)),
    "a port fewer": (WEIGHT,),
    "another order": (WEIGHT, BIAS),
}


def model() -> IntegerProgram:
    """Two parameters, whose doubles are public."""
    formats = [Fixed(port.shape, 4, port.low, port.high) for port in (WEIGHT, BIAS)]
    made = built(formats, *((integers.Scale(2, 0), (place,)) for place in range(2)))
    inputs = tuple(
        replace(port, name=name, role=Role.PARAMETER, visibility=Visibility.COMMITTED)
        for name, port in zip(VALUES, made.inputs, strict=True)
    )
    return replace(made, inputs=inputs)


def foreign(made: Plan, ports: PortList) -> Plan:
    """The plan of a prover whose root is of other ports, and whose transcript is the verifier's."""
    other = replace(made, lists=(ports,))
    other.__dict__["digest"] = made.digest
    return other


class Foreign(Cheat):
    """Its root is of another list; all that it opens is honest."""

    ports: PortList

    def roots(self, honest: list[bytes]) -> list[bytes]:
        return [published(replace(self.plan, lists=(self.ports,)), 0, self.trees[0].top), *honest[1:]]

    def published(self) -> list[bytes]:
        return self.roots(super().published())


@pytest.mark.parametrize("name", LISTS)
def test_the_root_of_another_list_is_not_opened(name: str) -> None:
    """By the prover of this package, whose proof holds for a verifier who has that list."""
    program = model()
    made = small_plan(program, 2)
    theirs = foreign(made, LISTS[name])
    assert made.lists == ((BIAS, WEIGHT),)
    trace = made.trace(VALUES)
    values, salts = made.values(trace), {KEY: bytes(32)}
    own, found = (prove_values(program, plan, trace, values, salts=salts) for plan in (made, theirs))
    assert refusals(program, own.statement, own.proof, made) == (None, None)
    assert opinions(program, found.statement, found.proof, theirs)[0] is None
    assert own.statement.roots != found.statement.roots
    assert refusals(program, found.statement, found.proof, made) == (BELONGS, BELONGS)
    assert None not in refusals(program, own.statement, found.proof, made)


@at_every_degree
def test_a_cheat_does_not_open_it_either(degree: int) -> None:
    program = model()
    made = small_plan(program, degree)
    for name in ("a name", "fraction bits", "an example of zeros more", "another order"):
        ports = LISTS[name]
        kind = type("Foreign", (Foreign,), {"ports": ports})
        forgery, _ = attack(program, made, VALUES, kind)
        if name == "another order":
            assert not forgery.is_refused()
        else:
            assert forgery.is_refused() and not forgery.passes(), name
