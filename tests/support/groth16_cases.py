"""Random satisfiable constraint systems over BN254, for the tests of Groth16."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from tiers import count

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.r1cs.system import LARGE, ConstraintSystem, Matrix

R = BN254.prime
DIGEST = hashlib.sha256(b"a circuit").hexdigest()
AWKWARD = [0, 1, -1, 2, 1 << 7, -(1 << 7), (1 << 62) - 1, 1 - (1 << 62), 1 << 62, (1 << 63) - 1, -(1 << 63)]
AWKWARD += [1 << 64, -(1 << 64), 1 << 127, -(1 << 200), R // 2, R // 2 + 1, R - 1]

Terms = Mapping[int, int]


def limbs(values: Iterable[int]) -> Limbs:
    content = b"".join((value % R).to_bytes(32, "little") for value in values)
    return np.frombuffer(content, np.uint64).reshape(-1, 4).copy()


def matrix(rows: Sequence[Terms], large: list[int]) -> Matrix:
    """Rows of {wire: integer}, with `large` collecting the coefficients that need it."""
    wires, codes = [], []
    for row in rows:
        for wire, value in sorted(row.items()):
            signed = BN254.signed(value)
            if abs(signed) >= LARGE:
                large.append(value % R)
                signed = LARGE + len(large) - 1
            wires.append(wire)
            codes.append(signed)
    offsets = np.cumsum([0, *map(len, rows)])
    return Matrix(offsets.astype(np.int64), np.array(wires, np.uint32), np.array(codes, np.int64))


def random_system(
    seed: int, rows: int = 40, outputs: int = 2, inputs: int = 3, awkward: bool = True
) -> tuple[ConstraintSystem, Limbs]:
    """A system and a witness: each row's product is a new wire, the factors random combinations."""
    random = np.random.default_rng(seed)

    def draw() -> int:
        return AWKWARD[random.integers(len(AWKWARD))] if awkward else int(random.integers(-9, 10))

    values = [1, *(draw() % R for _ in range(outputs + inputs + 4))]
    a, b, c = [], [], []
    for _ in range(rows):
        chosen = [
            {int(wire): draw() for wire in random.choice(len(values), random.integers(0, 4), replace=False)}
            for _ in range(3)
        ]
        left, right, rest = (sum(k * values[wire] for wire, k in row.items()) for row in chosen)
        a.append(chosen[0])
        b.append(chosen[1])
        c.append(chosen[2] | {len(values): 1})
        values.append((left * right - rest) % R)
    large: list[int] = []
    one, other, product = (matrix(rows, large) for rows in (a, b, c))
    table = limbs(large) if large else np.zeros((0, 4), np.uint64)
    return ConstraintSystem(BN254, one, other, product, table, len(values), outputs, inputs, 4), limbs(values)


def damage(content: bytes) -> Iterator[bytes]:
    """Truncations and flipped bytes: in the deep tier every one near the start, else every third; some elsewhere."""
    step = max(1, len(content) // count(50, deep=150))
    places = [*range(0, min(300, len(content)), count(3, deep=1)), *range(0, len(content), step), len(content) - 1]
    for place in places:
        yield content[:place]
        for mask in (1, 0x80, 0xFF):
            damaged = bytearray(content)
            damaged[place] ^= mask
            yield bytes(damaged)
    yield content + b"\0"
    yield content * 2
