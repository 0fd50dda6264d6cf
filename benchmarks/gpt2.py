"""A training step of GPT-2 small, from Python to sizes: how long each stage takes.

Usage: python benchmarks/gpt2.py [--length N] [--blocks N]   (default: 64 tokens, 12 blocks)

A batch of one sequence, cross-entropy of the next token, gradient descent. One line per stage: CPU-seconds of this
process so far, memory at its greatest, and what was made; last the exact numbers of elements and look-ups of a tensor
proof, by its plan. (One proof holds 2^27 elements at most: this step would be several.) The tokens are drawn at random:
sizes depend on calibrated magnitudes, hardly on the text.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from circuitize.circuits.arrays import expand_composites
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify
from circuitize.frontends.formats import labels
from circuitize.frontends.losses import label_cross_entropy
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.training import training_step, with_examples
from circuitize.frontends.transformer import gpt2
from circuitize.provers.tensor.plan import plan

VOCABULARY = 50257


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=12)
    chosen = parser.parse_args()
    model = gpt2(VOCABULARY, blocks=chosen.blocks, length=chosen.length)
    count = sum(int(np.prod(parameter.shape)) for parameter in model.parameters)
    text = labels(VOCABULARY)
    step = training_step(model, next_token, SGD(), 1, inputs=text, targets=text, target_shape=(chosen.length,))
    tell(f"built and differentiated: {count:,} parameters, {step.arrow.edge_count:,} operations")
    tell(f"simplified: {simplify(expand_composites(step.arrow)).edge_count:,} operations")
    random = np.random.default_rng(0)
    tokens, targets = random.integers(0, VOCABULARY, (2, 1, chosen.length))
    example = {**model.initial(0), "inputs": tokens, "targets": targets, "learning_rate": np.array(2.0**-6)}
    tell("parameters drawn")
    integers = quantize(with_examples(step, example))
    tell(f"quantized: {integers.arrow.edge_count:,} integer operations")
    sizes = plan(integers)
    tell(f"estimated: a tensor proof of {sizes.committed:,} elements and {sizes.looked_up:,} look-ups")


def next_token(logits: Tensor, following: Tensor) -> Tensor:
    """The mean cross-entropy over all positions of all sequences."""
    return label_cross_entropy(logits.reshape(-1, logits.shape[-1]), following.reshape(-1))


def tell(what: str) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{time.process_time():7.1f} s {memory:6.1f} GB  {what}", flush=True)


if __name__ == "__main__":
    main()
