"""Steps of LoRA on GPT-2 small with a proof each, chained by the roots of the adapters; the base is committed to once.

Usage: python benchmarks/gpt2_lora.py [--folder DIR] [--length N] [--last] [--blocks N] [--rank N] [--bits N]
                                      [--margin X] [--rate X] [--optimizer SGD|Adam] [--steps N]
                                      [--memory GB] [--plan] [--json]

Adapters stand beside the projections of attention. The loss is the cross-entropy of every next token, or with --last of
the one after the text. Weights are drawn as in gpt2_forward.py, tokens by seed 1; all but the loss is committed, in
zero knowledge. --plan stops at the sizes and the estimate. One line per stage: processor seconds, memory at its
greatest so far, and what was made. A verifier expects of each step the roots that the step before gave.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from gpt2_forward import VOCABULARY, Stages, drawn

import circuitize as cz
from circuitize.api.exact import Exact, exact
from circuitize.backends.tensor.groups import groups as groups_of
from circuitize.circuits.phases import Phases
from circuitize.frontends.formats import labels
from circuitize.frontends.huggingface import read
from circuitize.frontends.losses import label_cross_entropy
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.training import with_examples
from circuitize.sims import real

OPTIMIZERS: dict[str, cz.SGD | cz.Adam] = {"SGD": cz.SGD(), "Adam": cz.Adam()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a GPT-2 of Hugging Face's layout")
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--last", action="store_true", help="only the token after the text is learned")
    parser.add_argument("--blocks", type=int, default=12, help="of the drawn network")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--bits", type=int, default=12, help="fraction bits")
    parser.add_argument("--margin", type=float, default=8.0, help="how many times what calibration saw a wire may hold")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="SGD")
    parser.add_argument("--rate", type=float, default=2.0**-6)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--memory", type=float, help="GB that a proof may take, in place of the machine's")
    parser.add_argument("--plan", action="store_true", help="sizes and the estimate, no proof")
    parser.add_argument("--json", action="store_true", help="print one object")
    chosen = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = chosen.folder or drawn(Path(scratch) / "gpt2", chosen.blocks)
        found = Stages(silent=chosen.json)
        step = found.timed("read, differentiate and quantize", lambda: step_of(folder, chosen))
        estimate = found.timed("estimate", lambda: cz.estimate(step, targets="tensor").targets["tensor"])
        found.tell("estimate", estimate, f"estimated: {estimate}")
        if not chosen.plan:
            chain(found, step, chosen, Path(scratch))
    if chosen.json:
        print(json.dumps(found.rows))


def next_token(logits: Tensor, following: Tensor) -> Tensor:
    """The mean cross-entropy over the positions that there are logits of."""
    return label_cross_entropy(logits.reshape(-1, VOCABULARY), following.reshape(-1))


def step_of(folder: Path, chosen: argparse.Namespace) -> Exact:
    """The integer program of a step on one text of `length` tokens."""
    base = read(folder).model(chosen.length, last=chosen.last)
    projections = [p.name for p in base.parameters if "multi_head" in p.name and p.name.endswith("_weight")]
    model, text = cz.lora(base, chosen.rank, projections), labels(VOCABULARY)
    optimizer, precision = OPTIMIZERS[chosen.optimizer], cz.Precision(fraction_bits=chosen.bits, margin=chosen.margin)
    shape = () if chosen.last else (chosen.length,)
    step = cz.training_step(model, next_token, optimizer, 1, text, text, shape, precision=precision)
    random = np.random.default_rng(1)
    tokens, targets = random.integers(0, VOCABULARY, (1, chosen.length)), random.integers(0, VOCABULARY, (1, *shape))
    example: dict[str, Any] = {**cz.start(step, model, 0), "inputs": tokens, "targets": targets}
    example |= optimizer.values(1, chosen.rate)
    # At first `up` is zero, and so is the gradient of `down`: calibration sees adapters that have moved too.
    moved = {
        name: random.normal(0.0, 0.01, np.shape(value)) if name.endswith(".up") else value
        for name, value in example.items()
    }
    return exact(with_examples(step, example, moved), Phases())


def chain(found: Stages, step: Exact, chosen: argparse.Namespace, scratch: Path) -> None:
    """Each step proved from what the one before left, and verified against its roots."""
    optimizer, memory = OPTIMIZERS[chosen.optimizer], round(chosen.memory * 1e9) if chosen.memory else None
    folder = scratch / "weights"
    weights = found.timed("commit to the weights, show formats", lambda: cz.commit_weights(step, folder, memory=memory))
    accepted = found.timed("verify the formats", lambda: cz.accept_weights(step, weights.folder))
    circuit = found.timed("plan", lambda: weights.proving(step, memory=memory))
    groups = [one.name for one in groups_of(step.integer) if one.side == "output"]
    held: dict[str, Any] = dict(step.integer.examples[0])
    roots, earlier = dict[str, str](), None
    for number in range(1, chosen.steps + 1):
        inputs, join = {**held, **optimizer.values(number, chosen.rate)}, groups if earlier else ()
        # A name of its own a step: stages are rows.
        proof = found.timed(f"prove step {number}", lambda: circuit.prove(inputs, openings_from=earlier, join=join))  # noqa: B023
        found.tell(f"bytes {number}", proof.size, f"{proof.size:,} bytes; {dict(proof.proved.proof.phases)}")
        verifier = cz.verifier(step, expect=roots, weights=accepted)
        verdict = found.timed(f"plan and verify step {number}", lambda: verifier.check(proof))  # noqa: B023
        assert verdict.valid, verdict.reason
        if number == 1:
            accuracy(found, step, proof.outputs)
        earlier = scratch / f"{number}.json"
        proof.save_openings(earlier)
        held |= {name: values for name, values in proof.outputs.items() if name != "loss"}
        roots = {f"input:{name}": hex(proof.statement.roots["output", name]) for name in groups}


def accuracy(found: Stages, step: Exact, outputs: Mapping[str, Any]) -> None:
    """How far the first step is from the same in float64: the loss, and the adapters' change against their greatest."""
    example = step.given.examples[0]
    expected = found.timed("the step in float64", lambda: real.run(step.given, example))
    changed = [name for name in expected if name.endswith((".up", ".down"))]
    error = max(float(np.abs(np.asarray(outputs[name]) - expected[name]).max()) for name in changed)
    change = max(float(np.abs(expected[name] - example[name]).max()) for name in changed)
    losses = float(np.asarray(outputs["loss"])), float(expected["loss"])
    told = {"loss": losses[0], "loss_in_floats": losses[1], "greatest_error": error, "greatest_change": change}
    found.tell(
        "accuracy",
        told,
        f"loss {losses[0]:.4f}, in floats {losses[1]:.4f}; adapters within {error:.2g} of changes up to {change:.2g}",
    )


if __name__ == "__main__":
    main()
