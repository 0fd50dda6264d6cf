"""What quantizing keeps of a program, and what it does not: where one rounds depends on who reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from circuitize import (
    CircuitizeError,
    Format,
    Port,
    Program,
    Tensor,
    compose,
    identity,
    quantize,
    reverse_derivative,
    simplify,
    tensor,
    trace,
)
from circuitize.sims import integer

NUMBERS = Format.signed(14, fraction_bits=10)
SHAPE = (4, 3)


def program(function: Callable[[Tensor, Tensor], Tensor]) -> Program:
    arrow = trace(function, SHAPE, SHAPE)
    ports = tuple(Port(name, "public", NUMBERS.of(SHAPE)) for name in ("x", "y"))
    random = np.random.default_rng(0)
    examples = tuple({port.name: random.uniform(-2, 2, SHAPE) for port in ports} for _ in range(8))
    return Program(arrow, ports, (Port("z", "public"),), examples)


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def written_twice(x: Tensor, y: Tensor) -> Tensor:
    return (x * y + 0.0) * (x * y)


def once(x: Tensor, y: Tensor) -> Tensor:
    made = x * y
    return (made + 0.0) * made


def test_equal_programs_become_equal_programs() -> None:
    given = program(written_twice)
    made = quantize(given)
    around = compose(identity(*given.arrow.source), given.arrow, identity(*given.arrow.target))
    assert around == given.arrow and quantize(replace(given, arrow=around)).arrow == made.arrow
    assert simplify(given.arrow) == simplify(program(once).arrow) != given.arrow
    assert quantize(program(once)).arrow == made.arrow == quantize(replace(given, arrow=simplify(given.arrow))).arrow
    assert quantize(program(product)).arrow != made.arrow


def test_the_interface_stays() -> None:
    given = program(product)
    made = quantize(given)
    assert made.inputs == given.inputs and made.arrow.source == tuple(port.format for port in given.inputs)
    assert [(p.name, p.visibility, p.role) for p in made.outputs] == [
        (p.name, p.visibility, p.role) for p in given.outputs
    ]
    stated = replace(given, outputs=(Port("z", "public", NUMBERS.of(SHAPE)),))
    assert quantize(stated).outputs == stated.outputs


def test_composition_is_not_kept() -> None:
    """A product that is only added up is not rounded; as an output of its own it is."""
    both = quantize(program(lambda x, y: (x * y).sum(axis=0)))
    first = quantize(program(product))
    middle = first.outputs[0].format
    second = Program(trace(lambda z: z.sum(axis=0), SHAPE), (Port("z", "public", middle),), (Port("s", "public"),))
    then = quantize(replace(second, examples=tuple({"z": b["x"] * b["y"]} for b in first.examples)))
    assert compose(first.arrow, then.arrow) != both.arrow
    assert any(not np.array_equal(in_turn(first, then, batch), of(both, batch)) for batch in both.examples)


def in_turn(first: Any, then: Any, batch: Any) -> Any:
    from circuitize import Raw

    return reals(then, integer.run(then, {"z": Raw(integer.run(first, batch)["z"])}))


def of(made: Any, batch: Any) -> Any:
    return reals(made, integer.run(made, batch))


def reals(made: Any, outputs: Any) -> Any:
    (port,) = made.outputs
    return outputs[port.name] / 2.0**port.format.fraction_bits


def test_formulas_of_one_function_round_apart() -> None:
    left = program(lambda x, y: (x * y) * x)
    right = program(lambda x, y: x * (y * x) + 0.0 * y)
    squared = program(lambda x, y: (x * x) * y)
    made = [quantize(each) for each in (left, right, squared)]
    assert any(not np.array_equal(of(made[0], batch), of(made[2], batch)) for batch in left.examples)
    for batch in left.examples:
        for each in made:
            assert np.abs(of(each, batch) - batch_product(batch)).max() < 2.0**-8


def batch_product(batch: Any) -> Any:
    x, y = (np.round(batch[name] * 2**10) / 2**10 for name in ("x", "y"))
    return x * y * x


def test_integers_have_no_derivative() -> None:
    with pytest.raises(CircuitizeError, match="differentiate before quantizing"):
        reverse_derivative(quantize(program(product)).arrow)


def test_side_by_side_is_kept() -> None:
    """Programs that share nothing are quantized each by itself; equal constants are made once."""
    given = program(product)
    twice = Program(
        tensor(given.arrow, given.arrow),
        (*given.inputs, *(replace(port, name=f"{port.name}2") for port in given.inputs)),
        (*given.outputs, replace(given.outputs[0], name="z2")),
        tuple({**batch, "x2": batch["x"], "y2": batch["y"]} for batch in given.examples),
    )
    made = quantize(given)
    assert quantize(twice).arrow == simplify(tensor(made.arrow, made.arrow))
