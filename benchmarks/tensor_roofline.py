"""Where the time of a tensor proof goes, by phase, beside what this machine could do: its roofline.

Usage: python benchmarks/tensor_roofline.py [PROGRAM ...] [--large]   (default: a million parameters, convolutions)

For each phase: products of elements of the base field, compressions of BLAKE3 and bytes that memory must move, counted
from the plan; the processor seconds that these take at rates measured beside (products and compressions by the prover's
own code with the widest vectors, bytes by copies in numpy, all threads at work); and the processor seconds of a proof
that hides nothing, the least of several: what else runs on the machine changes them little. The roofline is arithmetic
or bytes, whichever takes longer. --large adds ten million parameters.

How counts follow. Elements of the extension of degree D have B = 8 D bytes; a product of two takes K = D (D + 1) / 2
products of the base field, by Karatsuba's formula, and one with an element of the base field D.

- *An oracle* of N points of 2^f symbols a leaf: transforms by four take 3/8 N log2(N) products for each coordinate. A
  leaf takes a compression per 64 bytes, one for its salt, and one for a node. Coefficients are read, points written and
  read, nodes too.
- *Lookups*: n = 2^d leaves, h = n / 2; to a of the first h leaves a second one belongs, e = h - a have none. Sums above
  leaves take K a, all levels above 3 K h. A level of m stored fractions takes K m / 2 to add lambda times a
  denominator, 6 K for each pair that is summed, of which there are m / 4, m / 8, ..., and K for each element that is
  bound, of which there are m, m / 2, ...: 5.5 K m, so 11 K h for all m = h, h / 2, .... The leaves have numerators 1
  and denominators that differ in the base field: per pair 3 K + D + 1 in the first round, or K + D without a second
  one; then lines of 2 D, or D, and K for lambda; from then on they are as others: 6 K a / 4 + 3.5 K a, and K e / 4 +
  1.25 K e. Each stored fraction has 12.5 accesses to elements (2 written, 2 read for the level above, 2.5 and 6 in
  rounds), each leaf 4. Keys of 8 bytes are read three times.
- *A weighted sum* of a tensor takes D products and 8 bytes an element: each tensor that looked-up forms, forms that are
  zero and operands of products name; operands are weighed once more.
- *The opening* reads a table's n elements twice with weights: 2 K to make these, 2 D for the first two rounds, and
  (2 D + 5 K) / 4 to bind both. Of two tables of t elements a round binds all, and sums half as many pairs: 3 K t / 2.
  The vector that tables fold into is an oracle of D coordinates. Claims on what was asked add a transform, or a product
  for each place and element, whichever is less.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from circuitize.provers.tensor.config import Geometry
    from circuitize.provers.tensor.plan import Plan

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = ["mlp_1m.py:step", "cnn.py:step"]
LARGE = ["mlp_10m.py:step"]
REPEATS = 5
PHASES = ("commit", "lookups", "products", "open")

WORD, DIGEST, SALT, BLOCK = 8, 32, 16, 64
KEPT = 1 << 26
"""Words of more symbols are transformed again when leaves are opened."""


@dataclass(frozen=True)
class Counts:
    """Products of the base field, compressions of BLAKE3, and bytes to and from memory."""

    products: float = 0
    compressions: float = 0
    moved: float = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.products + other.products, self.compressions + other.compressions, self.moved + other.moved)

    def seconds(self, rates: Counts) -> tuple[float, float]:
        """Of arithmetic and of memory, at the machine's rates a second."""
        arithmetic = self.products / rates.products + self.compressions / rates.compressions
        return arithmetic, self.moved / rates.moved


def transform(bits: int, coordinates: int = 1) -> float:
    """The products of a transform to 2^bits points."""
    return coordinates * 0.375 * bits * (1 << bits)


def oracle(table: Geometry, coordinates: int, salted: bool) -> Counts:
    """A word on its domain, and the tree over its leaves."""
    bits, symbols = table.bits + table.rate, WORD * coordinates
    points, leaves = 1 << bits, 1 << (bits - table.fold)
    leaf = math.ceil((symbols << table.fold) / BLOCK + salted * SALT / BLOCK)
    moved = symbols * ((1 << table.bits) + 2 * points) + 4 * DIGEST * leaves
    return Counts(transform(bits, coordinates), leaves * (leaf + salted + 1), moved)


def tree(degree: int, fractions: int, depth: int) -> Counts:
    """The tree of so many fractions, and the sumchecks from its root to its leaves."""
    product, half = degree * (degree + 1) / 2, (1 << depth) / 2
    both = fractions - half
    alone = half - both
    above = product * (both + 3 * half)
    stored = 11 * product * half
    leaves = both / 2 * (3 * product + degree + 1) + alone / 2 * (product + degree)
    leaves += both / 2 * (2 * degree + product) + alone / 2 * (degree + product)
    leaves += product * (5 * both + 1.5 * alone)
    moved = WORD * degree * (12.5 + 4) * 2 * half + 3 * WORD * fractions
    return Counts(above + stored + leaves, 0, moved)


def rounds(degree: int, size: int, number: int) -> Counts:
    """So many rounds of the sumcheck of two tables of a size."""
    product, left = degree * (degree + 1) / 2, size * (1 - 0.5**number)
    return Counts(3 * product * left, 0, WORD * degree * (4 * left + 2 * left))


def opened(degree: int, table: Geometry) -> Counts:
    """The first rounds over a table in the base field."""
    product, size = degree * (degree + 1) / 2, table.end
    read = size * (2 * product + 2 * degree + (2 * degree + 5 * product) / 4)
    found = Counts(read, 0, 2 * WORD * size + WORD * degree * size / 2)
    if 1 << (table.bits + table.rate) > KEPT:
        found += Counts(transform(table.bits + table.rate), 0, WORD << (table.bits + table.rate))
    return found + rounds(degree, size // 4, table.fold - 2)


def asked(degree: int, source: Geometry, size: int) -> Counts:
    """The weights of what leaves say of a vector's elements."""
    leaves = source.bits + source.rate - source.fold
    one_by_one = degree * (degree + 1) / 2 * source.queries * size
    return Counts(min(transform(leaves, degree), one_by_one), 0, 2 * WORD * degree * size)


def weighed(made: Plan, forms: Iterable[int]) -> Counts:
    """A weighted sum of each tensor that the forms name."""
    bases = {base for form in forms for base, _ in made.forms[form].terms}
    size = sum(math.prod(made.bases[base].shape) for base in bases)
    return Counts(made.degree * size, 0, WORD * size)


def counted(made: Plan) -> dict[str, Counts]:
    """What each phase of a proof by this plan takes, no commitment known before."""
    from circuitize.backends.tensor.forms import Product

    degree, layout, hidden = made.degree, made.layout, made.hidden
    commit = Counts(0, 0, 2 * WORD * made.looked_up)
    for table in layout.tables:
        commit += oracle(table, 1, True)
    looked_up = [form for lookup in made.lookups for form in (lookup.key, lookup.value) if form is not None]
    lookups = tree(degree, made.fractions, (made.fractions - 1).bit_length()) + weighed(made, looked_up)
    operands = [base.forms for base in made.bases if isinstance(base, Product)]
    products = weighed(made, made.zeros)
    for forms in operands:
        size = sum(math.prod(made.forms[form].shape) for form in forms)
        products += weighed(made, forms) + Counts(degree * size, 0, WORD * size)
    opening, sources = Counts(), list(layout.tables)
    for table in sources:
        opening += opened(degree, table)
    for number, vector in enumerate(layout.vectors):
        if vector.rate:
            opening += oracle(vector, degree, hidden)
        for source in sources:
            opening += asked(degree, source, (source.end if number == 0 else 1 << source.bits) >> source.fold)
        if number + 1 < len(layout.vectors):
            opening += rounds(degree, 1 << vector.bits, vector.fold)
        sources = [vector]
    return dict(zip(PHASES, (commit, lookups, products, opening), strict=True))


def machine() -> Counts:
    """Products, compressions and bytes in a processor second, all threads at work: the most of several measurements."""
    import numpy as np

    from circuitize._native import tensor_rates

    threads = os.cpu_count() or 1
    arrays = [(np.ones(1 << 24), np.zeros(1 << 24)) for _ in range(threads)]

    def copied() -> float:
        start = time.process_time()
        list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), arrays))
        return 2 * threads * arrays[0][0].nbytes / (time.process_time() - start)

    def computed() -> tuple[float, float]:
        start, cpu = time.perf_counter(), time.process_time()
        found = tensor_rates()
        share = (time.process_time() - cpu) / (time.perf_counter() - start)
        return found[0] / share, found[1] / share

    with ThreadPoolExecutor(threads) as pool:
        moved = max(copied() for _ in range(6))
    products, compressions = (max(found) for found in zip(*(computed() for _ in range(3)), strict=True))
    return Counts(products, compressions, moved)


def measure(name: str) -> dict[str, Any]:
    """A program's counts by phase, and the least processor seconds of each, of several proofs."""
    from circuitize.api.named import exact_named
    from circuitize.circuits.values import to_integers
    from circuitize.provers.tensor.plan import plan
    from circuitize.provers.tensor.prover import prove_values

    program = exact_named(str(EXAMPLES / name)).integer
    inputs = {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}
    made = plan(program)
    trace = made.trace(inputs)
    values = list(made.values(trace))

    def proved() -> dict[str, float]:
        ends = [time.process_time()]
        prove_values(program, made, trace, values, progress=lambda _: ends.append(time.process_time()))
        return {phase: end - start for phase, (start, end) in zip(PHASES, pairwise(ends), strict=True)}

    proofs = [proved() for _ in range(REPEATS)]
    phases = {phase: min(found[phase] for found in proofs) for phase in PHASES}
    counts = {phase: vars(own) for phase, own in counted(made).items()}
    return {"rates": vars(machine()), "counts": counts, "phases": phases, "looked_up": made.looked_up}


def show(name: str, found: dict[str, Any]) -> None:
    """A table of a program's phases."""
    rates = Counts(**found["rates"])
    print(
        f"{name}: {found['looked_up']:,} looked up; in a processor second {rates.products / 1e9:.2f} G products, ",
        end="",
    )
    print(f"{rates.compressions / 1e6:.0f} M compressions, {rates.moved / 1e9:.1f} GB moved")
    print("| phase | products, M | compressions, M | moved, GB | arithmetic, s | bytes, s | measured, s | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for phase in PHASES:
        own, seconds = Counts(**found["counts"][phase]), found["phases"][phase]
        arithmetic, memory = own.seconds(rates)
        amounts = f"{own.products / 1e6:.0f} | {own.compressions / 1e6:.1f} | {own.moved / 1e9:.2f}"
        ratio = seconds / max(arithmetic, memory)
        print(f"| {phase} | {amounts} | {arithmetic:.3f} | {memory:.3f} | {seconds:.3f} | {ratio:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--large", action="store_true", help="measure ten million parameters too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.programs[0])))
        return
    for name in [*options.programs, *(LARGE if options.large else [])]:
        command = [sys.executable, __file__, name, "--one"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        show(name, json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
