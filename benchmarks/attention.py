"""What attention costs: softmax beside spherical, one head of width 64, exact counts from the estimates.

Usage: python benchmarks/attention.py [LENGTH ...]   (default: 64 256 1024)

A row for each form and length: queries, keys and values [length, 64] of 12 fraction bits in [-4, 4), committed, and the
attention read, public; "products" is q k^T v alone, which both forms share. Constraints of both kinds of R1CS circuit,
elements committed and lookups of a tensor proof.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from circuitize.backends.r1cs import cost
from circuitize.backends.r1cs.challenge import Challenge
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.frontends.attention import Attention, softmax_attention, spherical_attention
from circuitize.frontends.formats import Format
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.provers.tensor import cost as tensor

WIDTH = 64
FORMAT = Format.signed(15, 12)
COLUMNS = ("constraints", "with a commitment", "committed", "lookups")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lengths", nargs="*", type=int, default=(64, 256, 1024))
    print(f"{'attention':<12}{'length':>8}" + "".join(f"{column:>20}" for column in COLUMNS) + f"{'CPU-s':>8}")
    for length in parser.parse_args().lengths:
        for name, attention in (
            ("softmax", softmax_attention),
            ("spherical", spherical_attention),
            ("products", products),
        ):
            begin = time.process_time()
            found = counts(attention, length)
            print(
                f"{name:<12}{length:>8}"
                + "".join(f"{count:>20,}" for count in found)
                + f"{time.process_time() - begin:>8.1f}",
                flush=True,
            )


def products(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """The two products that both forms share, and nothing else."""
    return query @ key.T @ value


def counts(attention: Attention, length: int) -> tuple[int, ...]:
    """One number per column, for a sequence of this length."""
    program = quantize(read(attention, length))
    plain = cost.estimate(program)["constraints"]
    committed = cost.estimate(program, challenge=Challenge.COMMITTED)["constraints"]
    proof = tensor.estimate(program)
    return plain, committed, proof["committed"], proof["lookups"]


def read(attention: Attention, length: int) -> Program:
    """One head's attention, calibrated on a normal sequence."""
    shape = (length, WIDTH)
    arrow = trace(lambda q, k, v: attention(q, k, v, None), shape, shape, shape)
    inputs = [Port(name, Visibility.COMMITTED, FORMAT.of(shape)) for name in ("query", "key", "value")]
    random = np.random.default_rng(0)
    example = {port.name: FORMAT.nearest(random.normal(0.0, 0.5, shape)) for port in inputs}
    return Program(arrow, tuple(inputs), (Port("read", Visibility.PUBLIC),), (example,))


if __name__ == "__main__":
    main()
