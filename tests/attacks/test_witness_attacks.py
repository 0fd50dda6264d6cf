"""A prover who knows the whole circuit and changes the run: every story breaks a row, and no proof is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import TIER, count

from circuitize import SGD, dense, mean_squared_error, program_digest, quantize, relu, sequential, training_step
from circuitize.backends.field import BN254, Limbs
from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.system import WireBlock
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.hypergraph import fold
from circuitize.circuits.operation import Edge
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.groth16.errors import Unsatisfied
from circuitize.provers.groth16.keys import ProvingKey, setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.verifier import verify
from circuitize.sims import integer

Integers = NDArray[np.int64]
MODEL = sequential(dense(2, 3), relu(), dense(3, 2))
BATCH: Mapping[str, NDArray[np.float64]] = {
    **MODEL.initial(seed=1),
    "dense1.bias": np.array([0.25, -2.0, 0.125]),
    "inputs": np.array([[0.0, 1.0], [0.75, 0.5]]),
    "targets": np.array([[1.0, 0.0], [0.0, 1.0]]),
    "learning_rate": np.array(0.25),
}


@dataclass(frozen=True)
class Made:
    """A step, its circuit, and an honest run of it."""

    program: IntegerProgram
    emission: Emission
    salts: dict[str, int]
    trace: list[Integers]
    witness: Limbs

    def edges(self, kind: type[integers.IntegerOperation]) -> list[Edge]:
        return [edge for edge in self.program.arrow.edges() if isinstance(edge.operation, kind)]

    def wire(self, side: str, name: str) -> int:
        """The arrow's wire of a port."""
        arrow = self.program.arrow
        ports, wires = {
            "input": (self.program.inputs, arrow.inputs),
            "output": (self.program.outputs, arrow.outputs),
        }[side]
        return int(wires[[port.name for port in ports].index(name)])

    def rerun(self, changes: Mapping[int, Integers]) -> list[Integers]:
        """The run in which some wires have other values, and all that follows is computed from those; unchecked."""
        arrow = self.program.arrow

        def interpret(index: int, operation: integers.IntegerOperation, sources: list[Integers]) -> list[Integers]:
            (target,) = arrow.edge(index).targets
            if target in changes:
                return [changes[target]]
            return [sources[0]] if isinstance(operation, integers.Check) else list(operation.run(*sources))

        inputs = [changes.get(wire, self.trace[wire]) for wire in arrow.inputs.tolist()]
        return [np.asarray(v) for v in fold(arrow, inputs, interpret, keep=True)]  # type: ignore[arg-type]

    def forged(self, changes: Mapping[int, Integers]) -> Limbs:
        """The witness of such a run, which is its honest witness everywhere but where the lie is."""
        return witness(self.emission.plan, self.rerun(changes), self.salts)

    def block(self, role: str, edge: int = -1) -> WireBlock:
        return next(b for b in self.emission.system.wire_blocks if b.edge == edge and b.role == role)

    def broken(self, found: Limbs) -> set[int]:
        """The edges whose rows break; -1 for the program's own ports."""
        system = self.emission.system
        return {
            next(b.edge for b in reversed(system.blocks) if b.first_row <= row)
            for row in failing_rows(system, found).tolist()
        }


@pytest.fixture(scope="module")
def made() -> Made:
    given = quantize(training_step(MODEL, mean_squared_error, SGD(), batch=2, examples=[BATCH]))
    emission = emit(given)
    salts = random_salts(emission.plan)
    trace = integer.trace(given, integer.rounded(given, BATCH))
    return Made(given, emission, salts, trace, witness(emission.plan, trace, salts))


@pytest.fixture(scope="module")
def key(made: Made, tmp_path_factory: pytest.TempPathFactory) -> ProvingKey:
    return setup(made.emission.system, program_digest(made.program), tmp_path_factory.mktemp("keys"))


def refused(made: Made, key: ProvingKey, found: Limbs) -> None:
    """No proof comes of it, and the honest proof does not carry its public values."""
    with pytest.raises(Unsatisfied):
        prove(made.emission.system, found, key, program_digest(made.program))


def test_the_honest_run_is_proved_and_nothing_else_is_said_by_its_proof(made: Made, key: ProvingKey) -> None:
    assert not len(failing_rows(made.emission.system, made.witness))
    digest = program_digest(made.program)
    proof = prove(made.emission.system, made.witness, key, digest)
    publics = public_values(made.emission.system, made.witness)
    assert verify(proof, key.verifying_key, publics, digest)
    assert made.rerun({})[made.wire("output", "loss")] == made.trace[made.wire("output", "loss")]
    for name in ("dense1.weight", "dense2.bias", "loss"):
        wire = made.wire("output", name)
        other = public_values(made.emission.system, made.forged({wire: made.trace[wire] + 1}))
        assert other != publics
        assert not verify(proof, key.verifying_key, other, digest)


def bumped(values: Integers, amount: int, place: int = 0) -> Integers:
    changed = values.copy()
    changed.reshape(-1)[place] += amount
    return changed


@pytest.mark.parametrize("amount", [1, pytest.param(-1, marks=pytest.mark.deep)])
def test_quotients_one_off(made: Made, key: ProvingKey, amount: int) -> None:
    """q + 1 with r - 2^s, q - 1 with r + 2^s: everything after is consistent, the remainder alone gives it away."""
    for edge in made.edges(integers.Shift):
        (target,) = edge.targets
        changed = bumped(made.trace[target], amount)
        found = made.forged({target: changed})
        # The Shift's own wires as if x were 2^s more, which makes its quotient the forged one.
        moved = list(made.rerun({target: changed}))
        moved[edge.sources[0]] = bumped(moved[edge.sources[0]], amount << edge.operation.bits)  # type: ignore[attr-defined]
        bits = witness(made.emission.plan, moved, made.salts)
        block = made.block("shift", edge.index)
        each = slice(block.first, block.first + block.shape[-1])
        found[each] = bits[each]
        rows = failing_rows(made.emission.system, found)
        assert len(rows), edge
        named = {describe(made.emission.system, int(row), lambda index: f"edge {index}") for row in rows}
        assert any(f"edge {edge.index}, element 0, shift" in name for name in named), named
        assert made.broken(found) == {edge.index}, "all but the Shift is in order"
    refused(made, key, found)


def test_quotients_that_only_the_field_knows(made: Made) -> None:
    """q + d with d = (r - r') / 2^s modulo p for other remainders r': a bit wire that holds d is no bit."""
    for edge in made.edges(integers.Shift):
        block, by = made.block("shift", edge.index), edge.operation.bits  # type: ignore[attr-defined]
        if by < 2 or block.shape[-1] < by:
            continue
        # Wire i - 1 of an element is bit i; bit `by` is the quotient's lowest.
        lowest, quotient = block.first, block.first + by - 1
        low, high = BN254.to_integers(made.witness[[lowest, quotient]])
        for change in (1, -1, 3)[: count(2, deep=3)]:
            found = made.witness.copy()
            share = 2 * change * pow(pow(2, by, BN254.prime), -1, BN254.prime)
            found[[lowest, quotient]] = BN254.from_integers([low - change, high + share])
            assert edge.index in made.broken(found)


def test_the_sign_of_zero(made: Made, key: ProvingKey) -> None:
    """The derivative of ReLU where a unit is off: 1 for 0, -1 for 0, 0 for 1."""
    (edge,) = made.edges(integers.IsNegative)
    (target,) = edge.targets
    honest = made.trace[target]
    assert {0, 1} == set(honest.reshape(-1).tolist()), "some units are on, some off"
    for place, value in enumerate(honest.reshape(-1).tolist()):
        found = made.forged({target: bumped(honest, 1 - 2 * value, place)})
        # Whatever the inverse is said to be, and whichever of its wires is changed with it.
        for other in (0, 1, 12345):
            inverse = made.block("inverse", edge.index).first + place
            flag = made.block("nonzero", edge.index).first + place
            repaired = found.copy()
            repaired[[flag, inverse]] = BN254.from_integers([1 - value, other])
            assert edge.index in made.broken(repaired)
    refused(made, key, repaired)


def test_activation_masks(made: Made) -> None:
    """A unit that is off passes its value, or one that is on passes none."""
    (edge,) = made.edges(integers.ReLU)
    (source,), (target,) = edge.sources, edge.targets
    for place in range(made.trace[target].size):
        before, after = (made.trace[wire].reshape(-1)[place] for wire in (source, target))
        flipped = before - after if before != after else -after
        if flipped:
            assert edge.index in made.broken(made.forged({target: bumped(made.trace[target], flipped, place)}))


def swapped(values: Integers) -> Integers:
    return values[::-1].copy()


def doubled_gradient(values: Integers) -> Integers:
    return 2 * values


STORIES: dict[str, Callable[[Made], dict[int, Integers]]] = {
    "rows of a new weight swapped": lambda made: {
        made.wire("output", "dense1.weight"): swapped(made.trace[made.wire("output", "dense1.weight")])
    },
    "a layer not updated": lambda made: {
        made.wire("output", "dense2.weight"): made.trace[made.wire("input", "dense2.weight")]
    },
    "nothing updated": lambda made: {
        made.wire("output", port.name): made.trace[made.wire("input", port.name)]
        for port in made.program.outputs
        if port.name != "loss"
    },
    "gradients of zero": lambda made: {
        edge.targets[0]: 0 * made.trace[edge.targets[0]]
        for edge in made.edges(integers.Contract)
        if "derivative" in edge.provenance.part
    },
    "a better loss": lambda made: {made.wire("output", "loss"): np.array(0)},
    "labels left out": lambda made: {
        edge.targets[0]: made.trace[edge.sources[0]]
        for edge in made.edges(integers.Subtract)
        if edge.provenance.part == "loss"
    },
    "half the batch": lambda made: {
        edge.targets[0]: made.trace[edge.targets[0]] * np.array([[1], [0]])
        for edge in made.edges(integers.Contract)
        if edge.provenance.part.startswith("dense2") and made.trace[edge.targets[0]].shape == (2, 2)
    },
}


@pytest.mark.parametrize("story", STORIES)
def test_stories(made: Made, key: ProvingKey, story: str) -> None:
    changes = STORIES[story](made)
    assert changes
    assert any((made.trace[wire] != values).any() for wire, values in changes.items())
    found = made.forged(changes)
    assert made.broken(found)
    refused(made, key, found)


def test_another_learning_rate(made: Made, key: ProvingKey) -> None:
    """Trained at 0.5, said to be trained at 0.25; and the other way about."""
    faster = witness(
        made.emission.plan,
        integer.trace(made.program, integer.rounded(made.program, {**BATCH, "learning_rate": np.array(0.5)})),
        made.salts,
    )
    assert not len(failing_rows(made.emission.system, faster))
    wire = made.block("input learning_rate").first
    for found, other in ((faster.copy(), made.witness), (made.witness.copy(), faster)):
        assert (found[wire] != other[wire]).any()
        found[wire] = other[wire]
        assert made.broken(found)
        refused(made, key, found)


def test_another_datum(made: Made) -> None:
    """Each element of each input in turn is one more than what was committed to, and all that follows is in order.

    In `make test` the first and the last element.
    """
    for port in made.program.inputs:
        wire = made.wire("input", port.name)
        size = made.trace[wire].size
        for place in range(size) if TIER == "deep" else {0, size - 1}:
            found = made.forged({wire: bumped(made.trace[wire], 1, place)})
            assert port.format is not None
            if port.name == "learning_rate" or made.trace[wire].reshape(-1)[place] == port.format.high:
                continue
            # The circuit is satisfied, by another statement: the digest is another.
            before, after = (public_values(made.emission.system, w) for w in (made.witness, found))
            changed = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
            digest = made.block(f"input {port.name} commitment").first - 1
            assert digest in changed
            found[1 + digest] = made.witness[1 + digest]
            assert made.broken(found)


def test_every_wire_one_off(made: Made) -> None:
    """Salts, and some of the others, private inputs included: none is free."""
    system = made.emission.system
    random = np.random.default_rng(7)
    salts = [block.first for block in system.wire_blocks if block.role.endswith(" salt")]
    for wire in [*salts, *random.choice(np.arange(1, system.wires), count(8, deep=20), replace=False).tolist()]:
        found = made.witness.copy()
        found[wire] = BN254.from_integers([BN254.to_integers(found[wire : wire + 1])[0] + 1])[0]
        assert len(failing_rows(system, found)), f"wire {wire}"


def test_a_proof_for_other_values_cannot_be_had_by_swapping_files(made: Made, key: ProvingKey, tmp_path: Path) -> None:
    """Two honest proofs: neither carries the other's public values, in part or whole."""
    digest = program_digest(made.program)
    other = witness(made.emission.plan, made.trace, random_salts(made.emission.plan))
    proofs = [prove(made.emission.system, found, key, digest) for found in (made.witness, other)]
    publics = [public_values(made.emission.system, found) for found in (made.witness, other)]
    assert verify(proofs[0], key.verifying_key, publics[0], digest)
    assert not verify(proofs[0], key.verifying_key, publics[1], digest)
    for place, (a, b) in enumerate(zip(*publics, strict=True)):
        if a != b:
            mixed = [*publics[0][:place], b, *publics[0][place + 1 :]]
            assert not any(verify(proof, key.verifying_key, mixed, digest) for proof in proofs)
