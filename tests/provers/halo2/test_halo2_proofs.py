"""Proofs of a hand-made system of two phases: they hold for their own statement, key and program, and no other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from halo2_systems import DIGEST, ROWS, Cells, cells, changed, numbers, running, squares

from circuitize.backends.field import BN254
from circuitize.backends.plonkish.expressions import ExpressionBuilder, Kind
from circuitize.backends.plonkish.system import Gate
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.halo2 import keys, prover, verifier
from circuitize.provers.halo2.errors import Unsatisfied
from circuitize.provers.halo2.proof import Proof

R = BN254.prime


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> keys.ProvingKey:
    return keys.setup(squares(), DIGEST, tmp_path_factory.mktemp("keys"), seed=b"squares")


@pytest.fixture(scope="module")
def proof(key: keys.ProvingKey) -> Proof:
    return prover.prove(squares(), cells(), key, DIGEST)


def refusal(
    key: keys.ProvingKey, proof: Proof, publics: Sequence[int] | None = None, digest: str = DIGEST
) -> str | None:
    return verifier.refusal(proof, key.verifying_key, cells().publics if publics is None else publics, digest)


def test_a_proof_holds_and_each_is_another(key: keys.ProvingKey, proof: Proof) -> None:
    assert refusal(key, proof) is None
    again = prover.prove(squares(), cells(), key, DIGEST)
    assert refusal(key, again) is None
    # Every commitment and every value is blinded: no word of one proof is a word of the other.
    words = [{content[at : at + 32] for at in range(0, len(content), 32)} for content in (proof.content, again.content)]
    assert not words[0] & words[1]


def test_other_publics_are_refused(key: keys.ProvingKey, proof: Proof) -> None:
    x, y = cells().publics
    assert "equations" in str(refusal(key, proof, [x + 1, y]))
    assert "equations" in str(refusal(key, proof, [y, x]))
    assert "equations" in str(refusal(key, proof, [x, R - y]))
    assert "not in [0, r)" in str(refusal(key, proof, [x + R, y]))
    assert "found 3 public values" in str(refusal(key, proof, [x, y, 0]))


@pytest.mark.parametrize("column, row", [(0, 0), (0, ROWS - 1), (1, 5), (2, 0), (2, ROWS - 1)])
def test_each_changed_cell_is_named(key: keys.ProvingKey, column: int, row: int) -> None:
    honest = cells()

    def folded(challenges: Sequence[int]) -> list[list[int]]:
        sums = running(honest.columns[1], challenges[0])
        if column == 2:
            sums[row] += 1
        return [sums]

    columns = [list(values) for values in honest.columns]
    if column < 2:
        columns[column][row] += 1
    with pytest.raises(Unsatisfied, match="no proof was made") as raised:
        prover.prove(squares(), Cells(honest.publics, columns, folded), key, DIGEST)
    assert raised.value.what in ("gate", "copy", "lookup")


def test_what_is_broken_is_named(key: keys.ProvingKey) -> None:
    wrong = cells([16, *numbers()[1:]])
    with pytest.raises(Unsatisfied, match=r"lookup 0 \(range x\) on row 0"):
        prover.prove(squares(), wrong, key, DIGEST)
    negative = numbers()
    negative[2] = R - 1
    with pytest.raises(Unsatisfied, match=r"lookup 0 \(range x\) on row 2"):
        prover.prove(squares(), cells(negative), key, DIGEST)
    uncopied = numbers()
    uncopied[7] = (uncopied[7] + 1) % 16
    with pytest.raises(Unsatisfied, match="copy 2 on row 3"):
        prover.prove(squares(), cells(uncopied), key, DIGEST)
    honest = cells()
    late = Cells(honest.publics, honest.columns, lambda challenges: [running(honest.columns[0], challenges[0])])
    with pytest.raises(Unsatisfied, match=r"gate 1 \(sums\[0\] z' = z c \+ y'\)"):
        prover.prove(squares(), late, key, DIGEST)


def test_the_challenge_follows_from_the_first_phase(key: keys.ProvingKey) -> None:
    drawn: list[int] = []

    def seen(values: list[int]) -> Cells:
        made = cells(values)

        def folded(challenges: Sequence[int]) -> list[list[int]]:
            drawn.append(challenges[0])
            return made.folded(challenges)

        return Cells(made.publics, made.columns, folded)

    first, second = numbers(), numbers()
    second[0] = (second[0] + 1) % 16
    for values in (first, first, second):
        prover.prove(squares(), seen(values), key, DIGEST)
    assert len(set(drawn)) == 3 and all(0 <= challenge < R for challenge in drawn)


def test_what_the_second_phase_raises_is_raised(key: keys.ProvingKey) -> None:
    def failing(_: object) -> NoReturn:
        raise RuntimeError("no second phase")

    honest = cells()
    with pytest.raises(RuntimeError, match="no second phase"):
        prover.prove(squares(), Cells(honest.publics, honest.columns, failing), key, DIGEST)
    with pytest.raises(CircuitizeError, match="0 columns of phase 1, expected 1"):
        prover.prove(squares(), Cells(honest.publics, honest.columns, lambda _: []), key, DIGEST)
    with pytest.raises(CircuitizeError, match="1 columns of phase 0, expected 2"):
        prover.prove(squares(), Cells(honest.publics, honest.columns[:1], honest.folded), key, DIGEST)
    with pytest.raises(CircuitizeError, match="instance columns of lengths"):
        prover.prove(squares(), Cells(honest.publics[:1], honest.columns, honest.folded), key, DIGEST)


def test_a_column_of_the_second_phase_moved_to_the_first_is_another_circuit(
    key: keys.ProvingKey, proof: Proof, tmp_path: Path
) -> None:
    """A prover who fills z in before the challenge is drawn has another key, which no proof of this one fits."""
    system = squares()
    early = changed(system, advice_phases=(0, 0, 0))
    other = keys.setup(early, DIGEST, tmp_path, seed=b"squares")
    honest = cells()
    guess = 5
    columns = [*honest.columns, running(honest.columns[1], guess)]
    with pytest.raises(Unsatisfied):
        prover.prove(early, Cells(honest.publics, columns, lambda _: []), other, DIGEST)
    assert "equations" in str(refusal(other, proof))
    with pytest.raises(CircuitizeError, match="another shape"):
        prover.prove(early, honest, key, DIGEST)


def test_other_fixed_values_and_copies_are_another_circuit(key: keys.ProvingKey, proof: Proof, tmp_path: Path) -> None:
    system = squares()
    table = changed(system, fixed=(system.fixed[0], np.arange(16) * 2, system.fixed[2]))
    copies = changed(system, copies=np.concatenate([system.copies[:2], [[0, 3, 0, 8]]]).astype(np.int32))
    for number, other in enumerate((table, copies)):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = keys.setup(other, DIGEST, folder, seed=b"squares")
        assert "equations" in str(refusal(made, proof))
    even = [2 * (value // 2) for value in numbers()]
    with pytest.raises(CircuitizeError, match="the key is not one for this system"):
        prover.prove(table, cells(even), key, DIGEST)


def test_systems_that_cannot_be_proved_soundly_are_refused(tmp_path: Path) -> None:
    system = squares()

    def refused(match: str, **parts: Any) -> None:
        with pytest.raises(CircuitizeError, match=match):
            keys.setup(changed(system, **parts), DIGEST, tmp_path)

    make = ExpressionBuilder()
    free = make.multiply(make.advice(0), make.advice(1))
    nodes = make.build()
    refused(
        "multiply it by a selector",
        nodes=nodes.rows,
        constants=nodes.constants,
        gates=(Gate("free", free),),
        lookups=(),
    )
    refused("does not hold the tuple", fixed=(system.fixed[0], np.resize(np.arange(1, 17), ROWS), system.fixed[2]))
    refused("binds nothing", instance=(0,), copies=system.copies[2:])
    refused("copy 0 is out of range", copies=np.array([[0, ROWS, 1, 0]], np.int32))
    refused("copied column is out of range", copies=np.array([[0, 0, 7, 0]], np.int32))
    refused("phase 1 without a challenge", challenges=0)
    refused("names a node", gates=(Gate("lost", 10_000),))
    refused("do not fit the rows", rows=10)
    for rotation in (-(1 << 31), -(1 << 10) - 1, (1 << 10) + 1):
        far = system.nodes.copy()
        far[np.flatnonzero(far[:, 0] == Kind.ADVICE)[0], 2] = rotation
        refused("is out of range", nodes=far)
    deep = ExpressionBuilder()
    node = deep.multiply(deep.fixed(0), deep.advice(0))
    for _ in range(30):
        node = deep.add(node, node)
    nodes = deep.build()
    refused(
        "multiply out",
        nodes=nodes.rows,
        constants=nodes.constants,
        gates=(Gate("deep", node),),
        lookups=(),
        advice_phases=(0, 0, 0),
    )


def test_degrees_up_to_nine(tmp_path: Path) -> None:
    """Gates of each degree, whose quotients take 2 to 8 pieces."""
    for degree in (3, 4, 6, 9):
        make = ExpressionBuilder()
        power = make.advice(0)
        for _ in range(degree - 2):
            power = make.multiply(power, make.advice(0))
        gate = make.multiply(make.fixed(0), make.subtract(power, make.advice(1)))
        nodes = make.build()
        system = changed(
            squares(),
            advice_phases=(0, 0),
            fixed=(np.ones(ROWS, np.int64),),
            nodes=nodes.rows,
            constants=nodes.constants,
            gates=(Gate("power", gate),),
            lookups=(),
            challenges=0,
            instance=(1,),
            copies=np.array([[1, 2, 3, 0]], np.int32),
        )
        x = numbers()
        y = [value ** (degree - 1) for value in x]
        key = keys.setup(system, DIGEST, tmp_path / str(degree), seed=b"degrees")
        assert key.native.verifying_key.degree == degree
        proof = prover.prove(system, Cells([y[2]], [x, y], lambda _: []), key, DIGEST)
        assert verifier.refusal(proof, key.verifying_key, [y[2]]) is None
        assert verifier.refusal(proof, key.verifying_key, [y[2] + 1]) is not None
