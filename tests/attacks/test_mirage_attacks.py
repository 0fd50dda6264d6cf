"""Every way to get a false statement past a commitment, or to tamper with a proof that has one, is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from groth16_cases import DIGEST, R, limbs
from groth16_curves import Sum, add, multiply, negative
from mirage_cases import Limbs, Witness
from mirage_keys import CASE, SEED, Proved
from mirage_prover import ONE, Parts, Prover, holds_with, secrets

from circuitize import _native
from circuitize.provers.mirage.keys import ProvingKey, VerifyingKey, committing, setup
from circuitize.provers.mirage.proof import Proof
from circuitize.provers.mirage.prover import prove
from circuitize.provers.mirage.verifier import refusal, verify

UNEQUAL = "the pairing equation does not hold"
TRUE, FALSE = [42, 7, 9], [1, 7, 9]


def integers(whole: np.ndarray) -> list[int]:
    return [int.from_bytes(value.tobytes(), "little") for value in whole]


def values(x: list[int], y: list[int], challenge: int) -> list[int]:
    return integers(CASE.whole(x, y, challenge))


def fitting(y: list[int], challenge: int) -> list[int]:
    """An x that begins with 42 and passes for this challenge, whatever y is."""
    product = 1
    for value in y:
        product = product * (value + challenge) % R
    rest = product * pow((42 + challenge) * (5 + challenge), -1, R)
    return [42, 5, (rest - challenge) % R]


def honest(forger: Prover, extra: Sum = None, kappa: int = 17) -> tuple[list[int], Parts]:
    """A true statement, with a point added to D before the challenge is drawn; all values, and the proof."""
    x = [42, 9, 7]
    d = add(forger.commit(values(x, TRUE, 0), kappa), extra)
    whole = values(x, TRUE, forger.challenge(values(x, TRUE, 0), d))
    return whole, forger.prove(whole, d, kappa)


@pytest.fixture(scope="module")
def second(forger: Prover) -> tuple[list[int], Parts]:
    return honest(forger)


def test_two_provers_agree(forger: Prover, second: tuple[list[int], Parts]) -> None:
    """What the Python prover makes honestly passes, so its forgeries fail for their own sake."""
    known = secrets(SEED)
    assert multiply(ONE, known["committed"]) == forger.committed_delta
    whole, parts = second
    assert verify(parts.proof(), forger.verifying, TRUE)
    assert holds_with(parts, forger.verifying, whole[1:5], SEED)
    assert not holds_with(parts, forger.verifying, [*whole[1:4], whole[4] ^ 1], SEED)


def test_a_challenge_that_the_prover_chose(forger: Prover) -> None:
    """All rows hold and the equation does, for a false statement: only the hash is in the way."""
    x = fitting(FALSE, 5)
    d = forger.commit(values(x, FALSE, 0), 17)
    parts = forger.prove(values(x, FALSE, 5), d, 17)
    assert holds_with(parts, forger.verifying, [*FALSE, 5], SEED)
    assert refusal(parts.proof(), forger.verifying, FALSE) == UNEQUAL


def test_committed_wires_chosen_after_the_challenge(forger: Prover) -> None:
    """With the old D the equation fails; with the new one it holds for the old challenge, and there is another."""
    before = [42, 5, 6]
    d = forger.commit(values(before, FALSE, 0), 17)
    drawn = forger.challenge(values(before, FALSE, 0), d)
    x = fitting(FALSE, drawn)
    old = forger.prove(values(x, FALSE, drawn), d, 17)
    new = replace(old, d=forger.commit(values(x, FALSE, 0), 17))
    assert not holds_with(old, forger.verifying, [*FALSE, drawn], SEED)
    assert holds_with(new, forger.verifying, [*FALSE, drawn], SEED)
    for parts in (old, new):
        assert refusal(parts.proof(), forger.verifying, FALSE) == UNEQUAL


def test_points_that_a_commitment_must_not_hold(forger: Prover) -> None:
    """Publics, wires of the second phase and H, put into D before the challenge, with C paying or not."""
    for point in (forger.inputs[0], forger.inputs[4], next(iter(forger.private.values())), forger.h[3]):
        extra = multiply(point, 3)
        whole, parts = honest(forger, extra)
        paying = replace(parts, c=add(parts.c, negative(extra)))
        for made in (parts, paying):
            assert not holds_with(made, forger.verifying, whole[1:5], SEED)
            assert refusal(made.proof(), forger.verifying, TRUE) == UNEQUAL


def test_what_re_randomises_and_what_does_not(forger: Prover, second: tuple[list[int], Parts]) -> None:
    """A, B and C are malleable as in Groth16; whoever changes D has changed the challenge."""
    _, parts = second
    s, t = 0x1234567890ABCDEF, 0xFEDCBA0987654321
    for same in (
        replace(parts, a=negative(parts.a), b=negative(parts.b)),
        replace(parts, a=multiply(parts.a, pow(s, -1, R)), b=multiply(parts.b, s)),
        replace(parts, b=add(parts.b, multiply(forger.delta_g2, t)), c=add(parts.c, multiply(parts.a, t))),
    ):
        assert refusal(same.proof(), forger.verifying, TRUE) is None
    blinded = replace(
        parts,
        d=add(parts.d, multiply(forger.delta, t)),
        c=add(parts.c, negative(multiply(forger.committed_delta, t))),
    )
    moved = replace(parts, b=add(parts.b, multiply(forger.committed_g2, t)), d=add(parts.d, multiply(parts.a, t)))
    drawn = forger.challenge([1, *TRUE, 0], parts.d)
    for allowed_by_the_algebra in (blinded, moved):
        assert holds_with(allowed_by_the_algebra, forger.verifying, [*TRUE, drawn], SEED)
    for other in (
        blinded,
        moved,
        replace(parts, d=negative(parts.d)),
        replace(parts, d=add(parts.d, ONE)),
        replace(parts, d=ONE),
        replace(parts, c=parts.d, d=parts.c),
        replace(parts, a=parts.d),
        replace(parts, c=add(parts.c, ONE)),
        replace(parts, a=negative(parts.a)),
        replace(parts, b=negative(parts.b)),
    ):
        assert refusal(other.proof(), forger.verifying, TRUE) == UNEQUAL


def test_who_knows_the_secrets_simulates(forger: Prover) -> None:
    """Zero knowledge: a proof with A, B and D drawn at random, made without any witness, is one like every other."""
    known = secrets(SEED)
    random = np.random.default_rng(1)
    for y in (TRUE, FALSE):
        a, b, d = (int.from_bytes(random.bytes(32), "little") % R for _ in range(3))
        point = multiply(ONE, d)
        drawn = forger.challenge([1, *y, 0], point)
        publics = None
        for value, entry in zip([1, *y, drawn], forger.inputs, strict=True):
            publics = add(publics, multiply(entry, value))
        exponent = (a * b - known["alpha"] * known["beta"] - d * known["committed"]) % R
        paid = add(multiply(ONE, exponent), negative(multiply(publics, known["gamma"])))
        c = multiply(paid, pow(known["delta"], -1, R))
        g2 = multiply(forger.gamma_g2, pow(known["gamma"], -1, R) * b % R)
        assert verify(Parts(multiply(ONE, a), g2, c, point).proof(), forger.verifying, y)


def test_a_commitment_serves_one_proof(proved: Proved) -> None:
    system, witness, key, _, _ = proved
    arguments = committing(system)
    for spoil in (False, True):
        held: list[_native.MirageCommitment] = []

        def draw(first: Limbs, held: list[_native.MirageCommitment] = held) -> int:
            held.append(_native.mirage_commit(key.native, first))
            return int.from_bytes(held[0].challenge, "little")

        whole = witness(draw)
        if spoil:
            wrong = whole.copy()
            wrong[-1] = limbs([integers(whole[-1:])[0] + 1])[0]
            with pytest.raises(_native.Unsatisfied):
                _native.mirage_prove(key.native, arguments, wrong, held[0])
        else:
            _native.mirage_prove(key.native, arguments, whole, held[0])
        with pytest.raises(ValueError, match="has served a proof already"):
            _native.mirage_prove(key.native, arguments, whole, held[0])


def test_a_witness_other_than_the_one_committed_to(proved: Proved, tmp_path: Path) -> None:
    """Each wire of the first part, publics and the challenge included."""
    system, witness, key, _, _ = proved
    arguments = committing(system)
    public = system.public
    for wire in range(1, 1 + public + system.committed):
        held = _commit(key, witness)
        whole = witness(partial(_drawn, held))
        whole[wire] = limbs([integers(whole[wire : wire + 1])[0] + 1])[0]
        reason = "expected the one that follows" if wire == public else "differs from what was committed to"
        with pytest.raises(ValueError, match=reason):
            _native.mirage_prove(key.native, arguments, whole, held)
    other = setup(system, DIGEST, tmp_path)
    held = _commit(key, witness)
    whole = witness(partial(_drawn, held))
    with pytest.raises(ValueError, match="made with another key"):
        _native.mirage_prove(other.native, arguments, whole, held)


def _drawn(held: _native.MirageCommitment, first: Limbs) -> int:
    return int.from_bytes(held.challenge, "little")


def _commit(key: ProvingKey, witness: Witness) -> _native.MirageCommitment:
    held = []

    def draw(first: Limbs) -> int:
        held.append(_native.mirage_commit(key.native, first))
        return 0

    witness(draw)
    return held[0]


def test_the_challenge_of_another_proof_or_key(proved: Proved, tmp_path: Path) -> None:
    system, witness, key, proof, publics = proved
    again = prove(system, witness, key, DIGEST)
    for one, two in ((proof, again), (again, proof)):
        mixed = Proof(DIGEST, one.points[:256] + two.points[256:])
        assert refusal(mixed, key.verifying_key, publics) == UNEQUAL
    other = setup(system, DIGEST, tmp_path).verifying_key
    assert refusal(proof, other, publics) == UNEQUAL
    # The same points for another circuit are another key, and draw another challenge.
    digest = "00" * 32
    renamed = _native.Groth16VerifyingKey.build("development", bytes(32), key.verifying_key.native.points(), 6)
    assert refusal(Proof(digest, proof.points), VerifyingKey(renamed), publics) == UNEQUAL
