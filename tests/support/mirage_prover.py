"""A second prover with a commitment, in Python integers, from a key's file alone: it proves what it is told to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from groth16_cases import DIGEST, R, limbs
from groth16_curves import Point, Sum, add, multiply, negative, pack, scaled, unpack

from circuitize._native import Groth16VerifyingKey, groth16_verify
from circuitize.backends.r1cs.system import ConstraintSystem, Matrix
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.mirage.challenge import challenge
from circuitize.provers.mirage.keys import VerifyingKey
from circuitize.provers.mirage.proof import Proof

FROM_MONTGOMERY = pow(1 << 256, -1, Q)
SECRETS = ("tau", "alpha", "beta", "gamma", "delta", "committed")
ONE = ((1, 0), (2, 0))


def secrets(seed: bytes) -> dict[str, int]:
    """The secrets of keys that were made with a seed."""

    def scalar(place: int) -> int:
        halves = (sha256((2 * place + half).to_bytes(8, "little") + seed).digest() for half in (0, 1))
        return int.from_bytes(b"".join(halves), "little") % R

    return {name: scalar(place) for place, name in enumerate(SECRETS)}


class Reader:
    """Takes a proving key's file apart, as the documentation describes it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]

    def numbers(self, count: int, size: int = 8) -> list[int]:
        return [int.from_bytes(self.take(size), "little") for _ in range(count)]

    def points(self, count: int, size: int = 64) -> list[Point]:
        return [unpack(self.take(size)) for _ in range(count)]

    def raw(self, count: int, size: int = 64) -> list[Point]:
        return [scaled(point, FROM_MONTGOMERY) for point in self.points(count, size)]

    def query(self, count: int) -> dict[int, Point]:
        wires = self.numbers(count, 4)
        return dict(zip(wires, self.raw(count), strict=True))


@dataclass(frozen=True)
class Parts:
    """The elements of a proof, before they are bytes."""

    a: Sum
    b: Sum
    c: Sum
    d: Sum

    def proof(self) -> Proof:
        return Proof(DIGEST, pack(self.a, 64) + pack(self.b, 128) + pack(self.c, 64) + pack(self.d, 64))


def split(proof: Proof) -> Parts:
    points = proof.points
    return Parts(unpack(points[:64]), unpack(points[64:192]), unpack(points[192:256]), unpack(points[256:]))


def total(points: Iterable[Sum]) -> Sum:
    result: Sum = None
    for point in points:
        result = add(result, point)
    return result


class Prover:
    """A prover that holds a key's file and a system, and is bound by nothing."""

    def __init__(self, content: bytes, verifying: VerifyingKey, system: ConstraintSystem) -> None:
        read = Reader(content)
        assert read.take(16) == b"circuitize-mirpk"
        assert read.numbers(2, 4) == [1, 1]
        assert read.take(32).hex() == DIGEST
        self.public, self.committed = read.numbers(2)
        self.wires, self.rows, a, b, private, d = read.numbers(6)
        (self.alpha,) = read.points(1)
        self.beta_g2, self.gamma_g2, self.delta_g2, self.committed_g2 = read.points(4, 128)
        self.inputs = read.points(self.public + 1)
        self.beta, self.delta, self.committed_delta = read.points(3)
        self.a = read.query(a)
        self.b = read.query(b)
        self.b_g2 = dict(zip(self.b, read.raw(b, 128), strict=True))
        self.private = read.query(private)
        self.size = 1 << (self.rows + self.public).bit_length()
        self.h = read.raw(self.size)
        self.d = read.query(d)
        assert len(content) - read.at == 32
        self.verifying, self.system = verifying, system

    def commit(self, values: Sequence[int], kappa: int) -> Sum:
        """D, of the committed wires among `values`."""
        return add(self._sum(self.d, values), multiply(self.delta, kappa))

    def challenge(self, values: Sequence[int], d: Sum) -> int:
        """What a verifier computes from the publics among `values` and D."""
        return challenge(self.verifying, values[1 : self.public], pack(d, 64))

    def prove(self, values: Sequence[int], d: Sum, kappa: int, r: int = 11, s: int = 13) -> Parts:
        """A, B and C for these values of all wires, right or not, beside a D that was made with kappa."""
        quotient = dict(enumerate(self._numerator(values)))
        a = total([self.alpha, self._sum(self.a, values), multiply(self.delta, r)])
        b_g1 = total([self.beta, self._sum(self.b, values), multiply(self.delta, s)])
        b = total([self.beta_g2, self._sum(self.b_g2, values), multiply(self.delta_g2, s)])
        c = total(
            [
                self._sum(self.private, values),
                self._sum(dict(enumerate(self.h)), quotient),
                multiply(a, s),
                multiply(b_g1, r),
                negative(multiply(self.delta, r * s)),
                negative(multiply(self.committed_delta, kappa)),
            ]
        )
        return Parts(a, b, c, d)

    def _sum(self, points: Mapping[int, Point], values: Sequence[int] | Mapping[int, int]) -> Sum:
        return total(multiply(point, values[wire] % R) for wire, point in points.items())

    def _numerator(self, values: Sequence[int]) -> list[int]:
        """A B - C at the odd powers of a root of order 2n, by Lagrange's formula."""
        n, odd = self.size, pow(5, (R - 1) // (2 * self.size), R)
        root = odd * odd % R
        columns = [self._column(matrix, values) for matrix in (self.system.a, self.system.b, self.system.c)]
        columns[0][self.rows : self.rows + self.public + 1] = [value % R for value in values[: self.public + 1]]
        found = []
        for i in range(n):
            x = odd * pow(root, i, R) % R
            scale = (pow(x, n, R) - 1) * pow(n, -1, R) % R
            basis = [scale * pow(root, j, R) * pow(x - pow(root, j, R), -1, R) % R for j in range(n)]
            a, b, c = (sum(map(int.__mul__, basis, column)) for column in columns)
            found.append((a * b - c) % R)
        return found

    def _column(self, matrix: Matrix, values: Sequence[int]) -> list[int]:
        terms = list(zip(matrix.wires.tolist(), matrix.coefficients.tolist(), strict=True))
        ends = matrix.offsets.tolist()
        rows = [sum(k * values[wire] for wire, k in terms[start:end]) % R for start, end in pairwise(ends)]
        return rows + [0] * (self.size - len(rows))


def holds_with(parts: Parts, key: VerifyingKey, publics: Sequence[int], seed: bytes) -> bool:
    """Whether the pairing equation holds for all publics as given, the challenge included: what no verifier may ask.

    With the setup's secrets D moves into C, and plain Groth16 decides.
    """
    known = secrets(seed)
    points = key.native.points()
    plain = Groth16VerifyingKey.build("development", bytes.fromhex(DIGEST), points[:448] + points[576:])
    moved = multiply(parts.d, known["committed"] * pow(known["delta"], -1, R) % R)
    content = pack(parts.a, 64) + pack(parts.b, 128) + pack(add(parts.c, moved), 64)
    return groth16_verify(plain, limbs(publics), content) is None
