"""Trainings by XLA, many steps in one compiled program, beside numpy, and beside what their contractions take alone.

Usage: python benchmarks/xla_training.py [PROGRAM ...] [--steps N] [--recipe]   (default: digits, 10 M parameters)

All is checked to be equal to the bit first. Times are processor time of one thread, the sides in turn, the least of
each: of a step, and of its contractions alone, a loop each, in the kinds that were chosen and all in float32. The same
step in float32 is that of benchmarks/executor.py, by XLA. --recipe trains examples/digits.py from end to end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from measuring import example
from xla import Work, least

from circuitize.api.named import exact_named
from circuitize.api.training.train import train
from circuitize.circuits.integers import Contract
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import Raw, to_integers, to_reals
from circuitize.sims import integer
from circuitize.sims.xla.contraction import COSTS, chosen, dot
from circuitize.sims.xla.device import processor
from circuitize.sims.xla.stretch import Stretches

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = ["digits.py:step", "mlp_10m.py:step"]


def contraction(operation: Contract, shapes: Sequence[tuple[int, ...]], kind: str, count: int) -> Work:
    """One product of a kind, `count` times: the smaller operand another one each time, as in a training."""
    random, letters = np.random.default_rng(0), operation.letters
    dtype, sums = np.dtype(kind), np.dtype(np.int32 if kind == "int8" else kind)
    if np.prod(shapes[0]) > np.prod(shapes[1]):
        shapes, letters = shapes[::-1], (letters[1], letters[0], letters[2])
    x, y = (random.integers(-100, 100, shape).astype(dtype) for shape in ((count, *shapes[0]), shapes[1]))

    def one(x: Any, y: Any) -> Any:
        return dot(letters, x, y, sums)

    def loop(x: Any, y: Any) -> Any:
        made = jax.eval_shape(one, x[0], y)

        def body(state: tuple[Any, Any]) -> tuple[Any, Any]:
            return state[0] + 1, one(lax.dynamic_index_in_dim(x, state[0], 0, keepdims=False), y)

        return lax.while_loop(lambda state: state[0] < count, body, (jnp.int32(0), jnp.zeros(made.shape, made.dtype)))

    with jax.enable_x64(True):
        there = [jax.device_put(value) for value in (x, y)]
        compiled = jax.jit(loop).lower(*there).compile()
    assert there[0].dtype == dtype
    return lambda: compiled(*there)


def roofline(program: IntegerProgram, count: int) -> list[tuple[int, Work, Work]]:
    """A step's contractions alone, so many times: how many products each has, one of its kind, and one of float32."""
    found = []
    for edge in program.arrow.edges():
        if isinstance(edge.operation, Contract):
            x, y = (program.arrow.format(wire) for wire in edge.sources)
            kind = chosen(edge.operation, x, y, COSTS["cpu"])
            name = kind.name if kind.name in ("float32", "float64", "int8") else "float64"
            ours, single = (contraction(edge.operation, (x.shape, y.shape), one, count) for one in (name, "float32"))
            found.append((kind.products, ours, single))
    return found


def float_step(program: IntegerProgram, count: int) -> Work:
    """The same network trained in float32 by XLA, in a loop: weights before biases, ReLU between layers."""
    given = program.examples[0]
    values = [
        to_reals(port.format, to_integers(port, given[port.name], "example")).astype(np.float32)
        for port in program.inputs
    ]
    *parameters, x, t, rate = map(jax.device_put, values)

    def step(parameters: Any) -> Any:
        weights, biases, layers = parameters[0::2], parameters[1::2], [x]
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            layers.append(jnp.maximum(jnp.matmul(layers[-1], weight, precision="highest") + bias, 0))
        difference = jnp.matmul(layers[-1], weights[-1], precision="highest") + biases[-1] - t
        cotangent, updated = difference * (2 * rate / difference.size), []
        for layer, weight, bias in zip(layers[::-1], weights[::-1], biases[::-1], strict=True):
            updated += [bias - cotangent.sum(axis=0), weight - jnp.matmul(layer.T, cotangent, precision="highest")]
            if layer is not x:
                cotangent = jnp.matmul(cotangent, weight.T, precision="highest") * (layer > 0)
        return updated[::-1]

    compiled = jax.jit(lambda parameters: lax.fori_loop(0, count, lambda _, held: step(held), parameters))
    return lambda: compiled(parameters)


def steps(name: str, count: int, turns: int) -> None:
    program = exact_named(str(EXAMPLES / name)).integer
    values = {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}
    told = [port.name for port in program.outputs if port.format.shape == ()]
    stretches = Stretches(program, program.arrow, processor(), told, count)
    start = time.process_time()
    stretches.compile()
    compiling, count = time.process_time() - start, stretches.most
    batches = {name: np.stack([values[name]] * count) for name in stretches.fresh}
    held = stretches.put(values)

    def compiled() -> Any:
        done = stretches.run(held, batches)
        if done is None:
            sys.exit(f"{name}: expected a value at each of {count} steps on one batch, found none; give fewer --steps")
        return done.held

    def numpy() -> Any:
        raw = {name: Raw(value) for name, value in values.items()}
        start = {name: raw[name] for name in stretches.held}
        *_, last = integer.train(program, start, [{name: raw[name] for name in stretches.fresh}] * count)
        return {name: last[name] for name in stretches.held}

    for one, other in zip(stretches.take(compiled()).values(), numpy().values(), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    few = min(count, 8)
    alone = roofline(program, few)
    products, kinds, singles = zip(*alone, strict=True)
    ours, single, *times = least([compiled, float_step(program, count), *kinds, *singles], turns=turns)
    again, theirs = (found / count for found in least([compiled, numpy], turns=turns))
    ours, single, times = ours / count, single / count, [found / few for found in times]
    roof = sum(many * found for many, found in zip(products, times, strict=False))
    plain = sum(times[len(alone) :])
    print(f"{name}: {count} steps at a time, compiled in {compiling:.2f} s")
    print(f"  a step by XLA {again:.3f} ms, by numpy {theirs:.3f}, {again / theirs:.2f}x")
    print(f"  a step by XLA {ours:.3f} ms, its contractions alone, as chosen, {roof:.3f}, {ours / roof:.2f}x")
    print(
        f"  those in float32 {plain:.3f} ms; the step in float32 by XLA {single:.3f}, {ours / single:.2f}x", flush=True
    )


def recipe() -> None:
    """The whole training of the digits, checkpoints and metrics included; compiling is in it, and told."""
    program, data = example("digits.py:step"), example("digits.py:data")
    found = {}
    for device in ("numpy", "xla"):
        with tempfile.TemporaryDirectory() as folder:
            told: list[str] = []
            given: dict[str, Any] = {"dataset": data, "device": device, "roots": False, "say": told.append}
            start = time.process_time()
            made = train(program, f"{folder}/t", seed="5eed", epochs=150, **given)
            seconds = time.process_time() - start
            print(f"digits, {made.steps:,} steps by {device}: {seconds:.2f} s", *told[1:], sep="\n  ", flush=True)
            found[device] = {name: value.tobytes() for name, value in made.outputs.items()}
    assert found["numpy"] == found["xla"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, help="FILE:NAME in the examples")
    parser.add_argument("--steps", type=int, default=128, help="steps at a time, at most")
    parser.add_argument("--turns", type=int, default=3, help="how often each is run")
    parser.add_argument("--recipe", action="store_true", help="train the digits from end to end, too")
    given = parser.parse_args()
    for name in given.programs:
        steps(name, given.steps, given.turns)
    if given.recipe:
        recipe()


if __name__ == "__main__":
    main()
