"""Tables in zero knowledge, whose leaves hold 2, 4, 8 or 16 symbols: sizes, bounds, and forgeries of each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from independent_verifier import geometry
from independent_verifier.arithmetic import Field, dot, equality, numbers, same, scale, total
from independent_verifier.joint import Folded, Powers
from independent_verifier.opening import powers_at
from r1cs_programs import single
from tensor_proofs import committed_inputs, proved, refusals
from tensor_victims import drawn

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits import integers
from circuitize.circuits.errors import FormatError
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.openings import HIDING, Opening, join, write_openings
from circuitize.provers.tensor import proof
from circuitize.provers.tensor.config import FOLD, Geometry
from circuitize.provers.tensor.cost import most_bytes
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import commit, prove_values
from circuitize.provers.tensor.security import bounds

WIDTHS = {2: (4, 4), 4: (250, 1), 8: (500, 1), 16: (1000, 1)}
"""By width of a leaf a number of elements, and how often their root is opened."""

KEY = ("input", "data")
FOREIGN = "an opened leaf does not belong to its commitment"
VALUES = "a commitment does not open to the claimed values"


@lru_cache
def summed(count: int, openings: int, degree: int = 2) -> tuple[IntegerProgram, Plan]:
    """The sum of so many committed numbers."""
    total = integers.Sum(View.broadcast((count,), (0,)))
    made = committed_inputs(single(total, Fixed((count,), 0, 0, 3)))
    return made, plan(made, openings=openings, degree=degree)


def asked(end: int, openings: int, k: int, n: int, s: int) -> int | None:
    """The least q whose length L is at most 2^n, with ((1 + L / 2^(n + s)) / 2)^q at most 2^-106: in integers."""
    for queries in range(106, 2**n):
        length = max(end, 8 * 2**k) + 2**k * openings * queries
        if length > 2**n:
            return None
        if (2 ** (n + s) + length) ** queries * 2**106 <= 2 ** ((n + s + 1) * queries):
            return queries
    return None


@lru_cache
def least(words: int, openings: int) -> tuple[int, ...]:
    """A table's sizes as docs/zero-knowledge.md says them: end, random words, k, variables, s and queries."""
    end = -(-words // 16) * 16
    for s in (2, 1):
        n = next(n for n in range(8, 40) if asked(end, openings, 4, n, s))
        if n + s <= 17:
            break
    k, queries = next((k, q) for k in range(1, 5) if (q := asked(end, openings, k, n - 4 + k, s)))
    return end, 2**k * openings * queries, k, n - 4 + k, s, queries


@pytest.mark.parametrize("openings", [1, 2, 4, 16, 65, 300])
def test_sizes_are_those_that_the_text_says(openings: int) -> None:
    """By the native prover and by the independent verifier, to which no plan tells them."""
    for words in [*range(1, 70), *(2**i + j for i in range(6, 15) for j in (-1, 0, 1)), 600, 3000, 6000, 12000, 24000]:
        own = geometry.table(words, openings)
        assert (own.end, own.random, own.fold, own.bits, own.rate, own.queries) == least(words, openings)
        assert own.random % (openings * own.queries) == 0 and own.end % 16 == 0
        assert own.end + own.random <= 2**own.bits
    for count, _ in WIDTHS.values():
        _, made = summed(count, openings)
        assert made.native.layout()[0][0] == least(2 ** (count - 1).bit_length(), openings)


def folding(table: Geometry) -> int:
    """What a fold of a table may cost in challenges: each step twice the domain that it is onto; four rounds."""
    return sum(2 << (table.bits + table.rate - step) for step in range(1, table.fold + 1)) + 2 * FOLD


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("width", WIDTHS)
def test_each_width_is_proved_and_its_errors_are_counted(width: int, degree: int) -> None:
    program, made = summed(*WIDTHS[width], degree)
    assert 2 ** made.layout.tables[0].fold == width
    found = proved(program, drawn(program), made)
    assert len(found.proof.encode()) <= most_bytes(made)
    said = {bound.name: bound.bits for bound in bounds(made)}
    for number, table in enumerate(made.layout.tables):
        expected = degree * math.log2(PRIME) - math.log2(folding(table))
        assert said[f"commitment {number}: folding"] == pytest.approx(expected)
        assert said[f"commitment {number}: queries"] >= 106


@pytest.mark.parametrize(("count", "openings"), [(4, 17), (256, 17), (4, 33)])
def test_a_root_that_fills_less_than_half_of_its_table_is_proved(count: int, openings: int) -> None:
    """The next vector may then be smaller than the table's fold: the verifier's point has fewer variables."""
    program, made = summed(count, openings)
    (root, _), (vector, *_) = made.layout.tables, made.layout.vectors
    assert root.length <= 2 ** (root.bits - 1) and vector.bits < root.bits - root.fold
    proved(program, drawn(program), made)


def forged(width: int, label: str, number: int, change: Callable[[list[int]], list[int]]) -> str | None:
    """What is said of a proof of which one message is changed; the prover goes on with it."""
    program, made = summed(*WIDTHS[width])
    seen: list[str] = []

    def hook(own: str, words: list[int]) -> Sequence[int]:
        seen.append(own)
        return change(words) if own == label and seen.count(own) == number + 1 else words

    trace = made.trace(drawn(program))
    found = prove_values(program, made, trace, made.values(trace), hook=hook)
    assert seen.count(label) > number
    return refusals(program, found.statement, found.proof, made)[0]


@pytest.mark.parametrize("width", [2, 4, 8])
def test_rounds_in_which_a_table_has_no_variable_are_not_free(width: int) -> None:
    """Another constant is sent there, in place of its own."""

    def moved(words: list[int]) -> list[int]:
        return [(word + by) % PRIME for word, by in zip(words, (1, 0, 1, 0), strict=True)]

    for number in range(width.bit_length() - 1, FOLD):
        assert forged(width, "whir.fold", number, moved) == VALUES, number


@pytest.mark.parametrize("width", WIDTHS)
def test_leaves_stay_in_their_places(width: int) -> None:
    """Two leaves, with what they hash to, in each other's place; two symbols of one leaf."""

    def leaves(words: list[int]) -> list[int]:
        return words[width : 2 * width] + words[:width] + words[2 * width :]

    def symbols(words: list[int]) -> list[int]:
        return [words[1], words[0], *words[2:]]

    assert {forged(width, "whir.leaves", 0, change) for change in (leaves, symbols)} == {FOREIGN}


@pytest.mark.parametrize("width", WIDTHS)
def test_a_root_of_each_width_opens_to_its_own_values_alone(width: int) -> None:
    """A commitment to other values, and one to the same that is made for another number of openings."""
    count, openings = WIDTHS[width]
    program, made = summed(count, openings)
    trace, secret = made.trace(drawn(program)), bytes(32)
    other = made.trace({"in0": (drawn(program)["in0"] + 1) % 4})
    values = made.values(trace)
    for of, reason in ((trace, None), (other, VALUES)):
        kept = {KEY: commit(made, of, KEY, secret)}
        found = prove_values(program, made, trace, values, kept=kept, hook=lambda _, words: words)
        assert refusals(program, found.statement, found.proof, made)[0] == reason
    _, more = summed(count, openings + 1)
    with pytest.raises(Exception, match="of another size or of other ports"):
        prove_values(program, made, trace, values, kept={KEY: commit(more, trace, KEY, secret)})


def test_openings_of_an_earlier_version_are_refused_and_not_spent(tmp_path: Path) -> None:
    """The same values and secret have another root now, of other random words."""
    assert f"tensor in zero knowledge {proof.HIDING.version}" == HIDING
    _, made = summed(4, 4)
    lists = dict(zip(made.groups, made.lists, strict=True))
    path = tmp_path / "openings.json"
    write_openings(path, "tensor in zero knowledge", made.program, {KEY: Opening(1, 2, lists[KEY], 3)})
    before = path.read_bytes()
    with pytest.raises(FormatError, match=f"scheme 'tensor in zero knowledge', expected {HIDING!r}") as raised:
        join(path, HIDING, lists, lambda key, salt: 2)
    assert "\n" not in str(raised.value) and path.read_bytes() == before
    path.write_text(json.dumps({**json.loads(before), "scheme": HIDING}))
    with pytest.raises(Exception, match="has other values"):
        join(path, HIDING, lists, lambda key, salt: 5)
    assert json.loads(path.read_bytes())["openings"]["input:data"]["left"] == 3


def test_powers_below_a_length_are_extended() -> None:
    """By the independent verifier: the extension of weights on the first elements of a block, written out."""
    random = np.random.default_rng(3)
    z = numbers([int(x) for x in random.integers(0, PRIME, 3, np.uint64)])
    own, point = (numbers(random.integers(0, PRIME, (size, 2), np.uint64).astype(object)) for size in (3, 4))
    for length in range(17):
        weights = Field.zeros((16, 2))
        for b in range(length):
            power = numbers([pow(int(x), b, PRIME) for x in z])
            weights[b] = total(scale(own, power))
        assert same(powers_at(own, z, length, point), dot(equality(point), weights))


def test_answers_and_pads_weigh_blocks_as_far_as_their_lengths() -> None:
    """By the independent verifier: weights on a vector with one block among the zeros of another, written out."""
    random = np.random.default_rng(4)
    pads, own, at = (numbers(random.integers(0, PRIME, (size, 2), np.uint64).astype(object)) for size in (8, 3, 7))
    z = numbers([int(x) for x in random.integers(0, PRIME, 3, np.uint64)])
    blocks, end = geometry.placed([33, 5, 11])
    assert [(block.offset, block.bits) for block in blocks] == [(0, 6), (64, 3), (48, 4)] and end == 69
    weights = Field.zeros((1 << len(at), 2))
    weights[48:56] = pads
    for block in blocks:
        for b in range(block.length):
            power = numbers([pow(int(x), b, PRIME) for x in z])
            weights[block.offset + b] = weights[block.offset + b] + total(scale(own, power))
    (*folds, carried), size = blocks, geometry.Geometry(80, 0, 0, len(at), 1, 0)
    vector = geometry.Vector(tuple(folds), carried, size, True)
    folded = Folded(vector, at, pads, [Powers(block, z, own) for block in blocks])
    assert same(folded.weight(at), dot(equality(at), weights))
