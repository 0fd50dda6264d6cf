"""The contract of a key with a commitment, run in an EVM, accepts what our verifier accepts and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiers
from contracts import FALSE, TRUE, changed, in_evm
from groth16_cases import DIGEST, R
from groth16_curves import add, multiply, negative, twist_points
from mirage_cases import Permutation, random_case
from mirage_prover import ONE, Parts, Prover, holds_with, split

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.mirage.keys import setup
from circuitize.provers.mirage.prover import prove, public_values
from circuitize.provers.mirage.solidity import verifier_contract

pytestmark = pytest.mark.interop

COORDINATES = range(0, 10, tiers.count(3, deep=1))
"""Of the points of a proof, those that are changed."""

SEED = b"everybody knows"


def words(parts: Parts, publics: list[int]) -> list[int]:
    """a, b with its imaginary parts first, c, d, publics."""
    points = [point for point in (parts.a, parts.b, parts.c, parts.d) if point is not None]
    a, b, c, d = ((x[0], y[0]) for x, y in points)
    (x0, x1), (y0, y1) = points[1]
    assert b == (x0, y0)
    return [*a, x1, x0, y1, y0, *c, *d, *publics]


@pytest.mark.parametrize("inputs", [2, pytest.param(65, marks=pytest.mark.deep)])
def test_the_contract_accepts_the_proof_and_nothing_near_it(tmp_path: Path, inputs: int) -> None:
    """With the fewest publics and the most, where only `make deep` tries what no public has a part in."""
    system, witness = random_case(7, outputs=0, inputs=inputs)
    key = setup(system, DIGEST, tmp_path)
    publics = list(public_values(system, witness(lambda first: 0)))
    parts = split(prove(system, witness, key, DIGEST))
    again = split(prove(system, witness, key, DIGEST))
    valid = words(parts, publics)
    (x, y) = next(twist_points())
    malleated = replace(parts, a=negative(parts.a), b=negative(parts.b))
    wrong = {
        "another public": changed(valid, len(valid) - 1, (publics[-1] + 1) % R),
        "a public that is not canonical": changed(valid, len(valid) - 1, publics[-1] + R),
        **{f"coordinate {i} is another": changed(valid, i, (valid[i] + 1) % Q) for i in COORDINATES},
        **{f"coordinate {i} is not canonical": changed(valid, i, valid[i] + Q) for i in COORDINATES},
        **{
            f"{name} is the identity": words(replace(parts, **{name: ((0, 0), (0, 0))}), publics)
            for name in ("a", "b", "c", "d")
        },
        **{f"-{name}": words(replace(parts, **{name: negative(getattr(parts, name))}), publics) for name in "abcd"},
        "D of another proof": words(replace(parts, d=again.d), publics),
        "C and D swapped": words(replace(parts, c=parts.d, d=parts.c), publics),
        "D + 1": words(replace(parts, d=add(parts.d, ONE)), publics),
        "B outside its group": words(replace(parts, b=(x, y)), publics),
        "other publics": words(parts, [0] * len(publics)),
    }
    if inputs > 2:
        kept = tiers.count(4, deep=len(wrong))
        wrong = dict(sorted(wrong.items(), key=lambda item: "public" not in item[0])[:kept])
    calls = [valid, words(again, publics), words(malleated, publics), valid[:-1], *wrong.values()]
    answer = in_evm(verifier_contract(key.verifying_key), calls)
    answers = answer["calls"]
    assert [entry["value"] for entry in answers[:3]] == [f"0x{TRUE}"] * 3
    assert answers[3]["reverted"], "a public is missing"
    found = {name: (entry["reverted"], entry["value"]) for name, entry in zip(wrong, answers[4:], strict=True)}
    assert found == dict.fromkeys(wrong, (False, f"0x{FALSE}"))
    print(f"{len(publics)} publics: {answers[0]['execution_gas']:,} gas of execution, {answer['code_bytes']} bytes")
    assert answers[0]["execution_gas"] < 240_000 + 8_000 * len(publics)


def test_a_challenge_that_the_prover_chose(tmp_path: Path) -> None:
    """The equation holds for the challenge that was chosen, and for committed wires chosen after a drawn one."""
    case, y = Permutation(3), [1, 7, 9]
    key = setup(case.system, DIGEST, tmp_path, seed=SEED).verifying_key
    forger = Prover((tmp_path / "proving.key").read_bytes(), key, case.system)

    def values(x: list[int], challenge: int) -> list[int]:
        return [int.from_bytes(value.tobytes(), "little") for value in case.whole(x, y, challenge)]

    def forged(challenge: int) -> Parts:
        product = 1
        for value in y:
            product = product * (value + challenge) % R
        x = [42, 5, (product * pow((42 + challenge) * (5 + challenge), -1, R) - challenge) % R]
        parts = forger.prove(values(x, challenge), forger.commit(values(x, 0), 17), 17)
        assert holds_with(parts, key, [*y, challenge], SEED)
        return parts

    honest = [9, 1, 7]
    d = forger.commit(values(honest, 0), 17)
    drawn = forger.challenge(values(honest, 0), d)
    true = forger.prove(values(honest, drawn), d, 17)
    late = forged(drawn)
    blinded = replace(
        true, d=add(d, multiply(forger.delta, 3)), c=add(true.c, negative(multiply(forger.committed_delta, 3)))
    )
    calls = [words(parts, y) for parts in (true, forged(5), late, replace(late, d=d), blinded)]
    answers = in_evm(verifier_contract(key), calls)["calls"]
    assert [entry["value"] for entry in answers] == [f"0x{TRUE}"] + [f"0x{FALSE}"] * 4


def test_more_publics_are_refused(tmp_path: Path) -> None:
    key = setup(random_case(8, outputs=0, inputs=66)[0], DIGEST, tmp_path).verifying_key
    with pytest.raises(CircuitizeError, match=r"expected 1 to 64 public values in a contract, found 65; .*"):
        verifier_contract(key)
