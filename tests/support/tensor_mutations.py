"""Mutated tensor proofs, which both verifiers refuse. `python tests/support/tensor_mutations.py 100000 [SEED]`."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from tensor_proofs import opinions
from tensor_victims import Victim, hidden_victims, victims

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits.errors import FormatError
from circuitize.provers.tensor.proof import HEADER_BYTES, Proof
from circuitize.provers.tensor.statement import Statement

PANIC = "the verifier failed on a malformed proof"
Random = np.random.Generator


# Mutations of messages, somewhere in a span of them: the bytes of one message, or all.


def word(random: Random, span: range) -> int:
    return span.start + 8 * int(random.integers(len(span) // 8))


def flip(random: Random, x: bytearray, span: range, _: bytes) -> None:
    for place in random.integers(span.start, span.stop, random.integers(1, 5)):
        x[place] ^= 1 << int(random.integers(8))


def large(random: Random, x: bytearray, span: range, _: bytes) -> None:
    """Words of p and more, of which one may stand for the number that was there."""
    at = word(random, span)
    there = int.from_bytes(x[at : at + 8], "little")
    choices = [PRIME, (1 << 64) - 1, PRIME + int(random.integers(1 << 32)) % ((1 << 64) - PRIME)]
    choices += [there + PRIME] if there + PRIME < 1 << 64 else []
    x[at : at + 8] = int(choices[int(random.integers(len(choices)))]).to_bytes(8, "little")


def small(random: Random, x: bytearray, span: range, _: bytes) -> None:
    at = word(random, span)
    x[at : at + 8] = int(random.integers(3)).to_bytes(8, "little")


def add(random: Random, x: bytearray, span: range, _: bytes) -> None:
    """One more or one less, modulo p."""
    at = word(random, span)
    moved = int.from_bytes(x[at : at + 8], "little") + int(random.choice([-1, 1]))
    x[at : at + 8] = (moved % PRIME).to_bytes(8, "little")


def truncate(random: Random, x: bytearray, span: range, _: bytes) -> None:
    del x[int(random.integers(span.start, span.stop)) :]


def extend(random: Random, x: bytearray, _: range, __: bytes) -> None:
    x += random.bytes(int(random.integers(1, 200)))


def swap(random: Random, x: bytearray, span: range, _: bytes) -> None:
    i, j = word(random, span), word(random, span)
    x[i : i + 8], x[j : j + 8] = x[j : j + 8], x[i : i + 8]


def neighbours(random: Random, x: bytearray, span: range, _: bytes) -> None:
    """The two coordinates of an element, or two digests, exchanged."""
    size = int(random.choice([8, 16, 32]))
    size = size if 2 * size <= len(span) else 8
    at = span.start + size * int(random.integers(len(span) // size - 1))
    x[at : at + 2 * size] = x[at + size : at + 2 * size] + x[at : at + size]


def splice(random: Random, x: bytearray, span: range, other: bytes) -> None:
    at = max(8, word(random, span))
    x[at:] = other[at:]


def graft(random: Random, x: bytearray, span: range, other: bytes) -> None:
    """A piece of another proof."""
    at = word(random, span)
    end = min(span.stop, at + 8 * int(random.integers(1, 64)))
    x[at:end] = other[at:end]


def move(random: Random, x: bytearray, span: range, _: bytes) -> None:
    """A word left out, or put in twice."""
    at = word(random, span)
    x[at : at + 8] = b"" if random.integers(2) else x[at : at + 8] * 2


def blank(random: Random, x: bytearray, span: range, _: bytes) -> None:
    start, end = sorted(int(n) for n in random.integers(span.start, span.stop + 1, 2))
    x[start:end] = bytes(end - start)


MESSAGES: list[Callable[[Random, bytearray, range, bytes], None]] = [
    flip, large, small, add, truncate, extend, swap, neighbours, splice, graft, move, blank,
]  # fmt: skip


def exchange(random: Random, x: bytearray, messages: list[range]) -> None:
    """Two messages of one label, two rounds of a sumcheck for instance, in each other's place."""
    first = messages[int(random.integers(len(messages)))]
    alike = [span for span in messages if len(span) == len(first)]
    second = alike[int(random.integers(len(alike)))]
    a, b = slice(first.start, first.stop), slice(second.start, second.stop)
    x[a], x[b] = x[b], x[a]


def header(random: Random, content: bytearray) -> None:
    """The framing of a file: a flipped bit, or a length of its own choosing."""
    if random.integers(2):
        content[int(random.integers(HEADER_BYTES))] ^= 1 << int(random.integers(8))
    else:
        bombs = [0, 1 << 63, (1 << 64) - 1, 1 << 40, len(content), int(random.integers(1 << 62))]
        content[HEADER_BYTES - 8 : HEADER_BYTES] = int(random.choice(np.array(bombs, object))).to_bytes(8, "little")


def statement(random: Random, given: Statement) -> Statement:
    """A flipped bit of a root, or a public integer that is one more or one less."""
    key = [*given.publics, *given.roots][int(random.integers(len(given.publics) + len(given.roots)))]
    if key in given.roots:
        root = bytearray(given.roots[key])
        root[int(random.integers(32))] ^= 1 << int(random.integers(8))
        return replace(given, roots={**given.roots, key: bytes(root)})
    values = np.array(given.publics[key])
    values.reshape(-1)[int(random.integers(values.size))] += int(random.choice([-1, 1]))
    return replace(given, publics={**given.publics, key: values})


@dataclass(frozen=True)
class Mutant:
    """A statement, a proof's file, and what it is for; one is not what is valid, and first differs at `label`."""

    kind: str
    label: str
    victim: Victim
    statement: Statement
    content: bytes
    context: bytes


def first_label(victim: Victim, messages: bytes | bytearray) -> str:
    """The message in which these first differ from the victim's; "end" where they go on after all of them."""
    own = victim.found.proof.messages
    shared = min(len(own), len(messages))
    differ = np.flatnonzero(np.frombuffer(own, np.uint8, shared) != np.frombuffer(messages, np.uint8, shared))
    place = int(differ[0]) if len(differ) else shared
    return next((label for label, own in victim.spans.items() if any(place in span for span in own)), "end")


def mutated(given: list[Victim], random: Random, count: int) -> Iterator[Mutant]:
    """One label after the other, of some victim that has it; most are changed within one message of that label.

    Proofs in zero knowledge are never the same twice, and neither is what is drawn to mutate them. Each mutant draws
    from a generator of its own, so that the victims and the kinds of all others depend on the seed alone.
    """
    labels = sorted({label for victim in given for label in victim.spans})
    for made in range(count):
        own = random.spawn(1)[0]
        label = labels[made % len(labels)]
        having = [victim for victim in given if label in victim.spans]
        weights = np.array([victim.weight for victim in having])
        victim = having[int(own.choice(len(having), p=weights / weights.sum()))]
        mutant = mutation(victim, label, own)
        while mutant.content == victim.found.proof.encode() and mutant.kind not in ("statement", "context"):
            mutant = mutation(victim, label, own)
        yield mutant


def mutation(victim: Victim, label: str, random: Random) -> Mutant:
    found, drawn, own = victim.found, random.random(), victim.spans[label]
    whole = found.proof.encode()
    if drawn < 0.01:
        other = victim.context[:-1] if victim.context and random.integers(2) else victim.context + random.bytes(1)
        return Mutant("context", "context", victim, found.statement, whole, other)
    if drawn < 0.05:
        return Mutant("statement", "statement", victim, statement(random, found.statement), whole, victim.context)
    if drawn < 0.1:
        framed = bytearray(whole)
        header(random, framed)
        return Mutant("header", "header", victim, found.statement, bytes(framed), victim.context)
    messages, name = bytearray(found.proof.messages), "exchange"
    if drawn < 0.2:
        exchange(random, messages, own)
    else:
        kind = MESSAGES[int(random.integers(len(MESSAGES)))]
        span = own[int(random.integers(len(own)))] if drawn < 0.8 else range(len(messages))
        kind(random, messages, span, victim.other.proof.messages)
        name = kind.__name__
    content = replace(found.proof, messages=bytes(messages)).encode()
    return Mutant(name, first_label(victim, messages), victim, found.statement, content, victim.context)


REFUSED = ("file", "same reason", "other reason")
"""By what reads the file, or by both verifiers, with one reason or two."""


@dataclass
class Tally:
    """How often mutants of each kind, label and victim ended how, and examples of what should not be."""

    ends: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, mutant: Mutant, end: str, detail: str = "") -> None:
        self.ends[mutant.kind, mutant.label, mutant.victim.name, end] += 1
        if end not in REFUSED and len(self.wrong) < 100:
            self.wrong.append(f"{mutant.kind} of {mutant.label} of {mutant.victim.name} {end}: {detail}")

    def by(self, place: int) -> dict[str, Counter[str]]:
        """How mutants ended, by kind (0), by label (1), or by victim (2)."""
        found: dict[str, Counter[str]] = {}
        for key, count in sorted(self.ends.items()):
            found.setdefault(key[place], Counter())[key[3]] += count
        return dict(sorted(found.items()))

    def table(self) -> str:
        columns = (*REFUSED, *sorted({key[3] for key in self.ends} - set(REFUSED)))
        lines = [f"{'':16}{'tried':>8}" + "".join(f"{name:>14}" for name in columns)]
        for place in range(3):
            found = self.by(place)
            lines += [
                f"{name:16}{own.total():8}" + "".join(f"{own[column]:14}" for column in columns)
                for name, own in found.items()
            ]
            whole = sum(found.values(), Counter())
            lines += [f"{'':16}{whole.total():8}" + "".join(f"{whole[column]:14}" for column in columns)]
        return "\n".join(lines)


def judge(mutant: Mutant) -> tuple[str, str]:
    """How a mutant ends, and what was said."""
    victim = mutant.victim
    try:
        proof = Proof.decode(mutant.content)
    except FormatError as error:
        return "file", str(error)
    try:
        native, other = opinions(
            victim.program, mutant.statement, proof, victim.made, mutant.context, trusted=victim.trusted
        )
    except Exception as error:
        return "raised", repr(error)
    if native == PANIC:
        return "panicked", str(native)
    if native is None or other is None:
        return "accepted" if native == other else "disagreed", f"{native!r}, {other!r}"
    return "same reason" if native == other else "other reason", f"{native!r}, {other!r}"


def check(given: list[Victim], random: Random, count: int, progress: Callable[[Tally], None] = lambda _: None) -> Tally:
    """Reads mutated files and asks both verifiers about each."""
    found = Tally()
    for mutant in mutated(given, random, count):
        found.count(mutant, *judge(mutant))
        progress(found)
    return found


def peak() -> int:
    """The most memory that the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    given = [*victims(), *hidden_victims()]
    before, start = peak(), time.process_time()

    def show(tally: Tally) -> None:
        total = tally.ends.total()
        if total % 10000 == 0 or total == int(sys.argv[1]):
            spent, more = time.process_time() - start, (peak() - before) >> 20
            print(f"{total} mutants, both verifiers: {spent:.0f} processor seconds, {more} MiB more than before")
            print(f"{len(tally.wrong)} not refused by both: {tally.wrong[:5]}", flush=True)
            if total % 50000 == 0:
                print(tally.table(), flush=True)

    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(check(given, np.random.default_rng(seed), int(sys.argv[1]), show).table())
