"""Mutated tensor proofs: none is accepted, none makes a verifier panic. `python tests/tensor_mutations.py 100000`."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from tensor_attack import built
from tensor_proofs import example_inputs, planned, refusals

from circuitize.circuits import integers
from circuitize.circuits.errors import FormatError
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor import verifier
from circuitize.provers.tensor.config import PRIME
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import HEADER_BYTES, Proof
from circuitize.provers.tensor.prover import Proved, prove

PANIC = "the verifier failed on a malformed proof"
Random = np.random.Generator


@dataclass(frozen=True)
class Victim:
    """A program with two proofs, of different inputs."""

    program: Program
    made: Plan
    found: Proved
    other: Proved


def victims() -> list[Victim]:
    """Small proofs with every kind of message, and that of a training step."""
    small, table = Fixed((4,), 0, -20, 19), integers.Lookup(-20, np.arange(40) ** 2, 0)
    programs = [
        built([small], (integers.Shift(2), (0,))),
        built([small, small], (integers.Multiply(), (0, 1)), (integers.Shift(3), (2,)), (integers.ReLU(), (3,))),
        built([small], (table, (0,))),
    ]
    made = []
    for program in programs:
        random = np.random.default_rng(1)
        drawn = [
            {p.name: random.integers(p.format.low, p.format.high, p.format.shape) for p in program.inputs if p.format}
            for _ in range(2)
        ]
        own = plan(program)
        made.append(Victim(program, own, *(prove(program, x, not_zero_knowledge=True, made=own) for x in drawn)))
    program, own = planned("iris.py:step")
    inputs = example_inputs(program)
    moved = {**inputs, "inputs": inputs["inputs"][::-1].copy()}
    made.append(Victim(program, own, *(prove(program, x, not_zero_knowledge=True, made=own) for x in (inputs, moved))))
    return made


# Mutations of messages.


def flip(random: Random, x: bytearray, _: bytes) -> None:
    for place in random.integers(0, len(x), random.integers(1, 5)):
        x[place] ^= 1 << int(random.integers(8))


def large(random: Random, x: bytearray, _: bytes) -> None:
    """Words of p and more, of which one may stand for the number that was there."""
    at = 8 * int(random.integers(len(x) // 8))
    word = int.from_bytes(x[at : at + 8], "little")
    choices = [PRIME, (1 << 64) - 1, PRIME + int(random.integers(1 << 32)) % ((1 << 64) - PRIME)]
    choices += [word + PRIME] if word + PRIME < 1 << 64 else []
    x[at : at + 8] = int(choices[int(random.integers(len(choices)))]).to_bytes(8, "little")


def small(random: Random, x: bytearray, _: bytes) -> None:
    at = 8 * int(random.integers(len(x) // 8))
    x[at : at + 8] = int(random.integers(3)).to_bytes(8, "little")


def truncate(random: Random, x: bytearray, _: bytes) -> None:
    del x[int(random.integers(len(x))) :]


def extend(random: Random, x: bytearray, _: bytes) -> None:
    x += random.bytes(int(random.integers(1, 200)))


def swap(random: Random, x: bytearray, _: bytes) -> None:
    i, j = (8 * int(at) for at in random.integers(0, len(x) // 8, 2))
    x[i : i + 8], x[j : j + 8] = x[j : j + 8], x[i : i + 8]


def neighbours(random: Random, x: bytearray, _: bytes) -> None:
    """The two coordinates of an element, or two digests, exchanged."""
    size = int(random.choice([8, 16, 32]))
    at = size * int(random.integers(len(x) // size - 1))
    x[at : at + 2 * size] = x[at + size : at + 2 * size] + x[at : at + size]


def splice(random: Random, x: bytearray, other: bytes) -> None:
    at = 8 * int(random.integers(1, len(x) // 8))
    x[at:] = other[at:]


def graft(random: Random, x: bytearray, other: bytes) -> None:
    """A piece of another proof."""
    at = 8 * int(random.integers(len(x) // 8))
    size = 8 * int(random.integers(1, 64))
    x[at : at + size] = other[at : at + size]


def move(random: Random, x: bytearray, _: bytes) -> None:
    """A word left out, or put in twice."""
    at = 8 * int(random.integers(len(x) // 8))
    x[at : at + 8] = b"" if random.integers(2) else x[at : at + 8] * 2


def blank(random: Random, x: bytearray, _: bytes) -> None:
    at, size = (int(n) for n in random.integers(0, len(x), 2))
    x[at : at + size] = bytes(len(x[at : at + size]))


MESSAGES: list[Callable[[Random, bytearray, bytes], None]] = [
    flip, large, small, truncate, extend, swap, neighbours, splice, graft, move, blank,
]  # fmt: skip


def header(random: Random, content: bytearray) -> None:
    """The framing of a file: a flipped bit, or a length of its own choosing."""
    if random.integers(2):
        content[int(random.integers(HEADER_BYTES))] ^= 1 << int(random.integers(8))
    else:
        bombs = [0, 1 << 63, (1 << 64) - 1, 1 << 40, len(content), int(random.integers(1 << 62))]
        content[HEADER_BYTES - 8 : HEADER_BYTES] = int(random.choice(np.array(bombs, object))).to_bytes(8, "little")


@dataclass
class Tally:
    """What was tried, by the kind of mutation, and what was wrong."""

    tried: Counter[str]
    wrong: list[str]


def mutated(given: list[Victim], random: Random, count: int) -> Iterator[tuple[str, Victim, bytes]]:
    """Files that differ from a valid one."""
    weights = np.array([4.0] * (len(given) - 1) + [1.0])
    made = 0
    while made < count:
        victim = given[int(random.choice(len(given), p=weights / weights.sum()))]
        whole = victim.found.proof.encode()
        if random.random() < 0.05:
            content = bytearray(whole)
            header(random, content)
            name = "header"
        else:
            kind = MESSAGES[int(random.integers(len(MESSAGES)))]
            messages = bytearray(victim.found.proof.messages)
            kind(random, messages, victim.other.proof.messages)
            content, name = bytearray(replace(victim.found.proof, messages=bytes(messages)).encode()), kind.__name__
        if bytes(content) != whole:
            made += 1
            yield name, victim, bytes(content)


def check(given: list[Victim], random: Random, count: int, both: float) -> Tally:
    """Decodes and verifies mutated files; a share of them, `both`, by both verifiers."""
    found = Tally(Counter(), [])
    for name, victim, content in mutated(given, random, count):
        found.tried[name] += 1
        try:
            proof = Proof.decode(content)
        except FormatError:
            continue
        arguments = victim.program, victim.found.statement, proof, victim.made
        reason = refusals(*arguments)[0] if random.random() < both else verifier.refusal(*arguments)
        if reason is None or reason == PANIC:
            found.wrong.append(f"{name}: {reason}")
    return found


def peak() -> int:
    """The most memory that the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    given = victims()
    before, start = peak(), time.process_time()
    tally = check(given, np.random.default_rng(0), int(sys.argv[1]), 0.01)
    print(f"{tally.tried.total()} mutated proofs, {len(tally.wrong)} accepted or panicked: {tally.wrong[:5]}")
    print(f"{time.process_time() - start:.0f} processor seconds, {(peak() - before) >> 20} MiB more than before")
    print(dict(sorted(tally.tried.items())))
