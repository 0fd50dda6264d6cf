"""Square roots over prime fields: two algorithms, the audit's and the attacks' own, against all squares."""

from __future__ import annotations

import numpy as np
import pytest
import witness_search

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.audit import roots


@pytest.mark.parametrize("prime", [3, 5, 7, 11, 13, 17, 41, 97, 193, 257, 577])
def test_every_number_of_a_small_field(prime: int) -> None:
    for number in range(prime):
        squared = {x for x in range(prime) if x * x % prime == number}
        for found in (roots.square_root(number, prime), witness_search.square_root(number, prime)):
            assert found in squared if squared else found is None, number


def test_both_agree_over_bn254() -> None:
    random = np.random.default_rng(0)
    both = (roots.square_root, witness_search.square_root)
    residues = 0
    for _ in range(20):
        number = int.from_bytes(random.bytes(32), "big") % BN254.prime
        first, second = (of(number, BN254.prime) for of in both)
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert first * first % BN254.prime == number and second in (first, BN254.prime - first)
            residues += 1
    assert 0 < residues < 20
