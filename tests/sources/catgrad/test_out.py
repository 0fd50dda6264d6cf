"""Programs given back to catgrad: its compiler runs them, and objects of open-hypergraphs come back as they were."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import models
import numpy as np
import pytest
from catgrad.bidirectional.operation import mse, sgd
from catgrad.compile import to_python_class
from catgrad.target.python.array_backend.numpy import Numpy
from open_hypergraphs import FiniteFunction

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, compose, evaluate
from circuitize.circuits.integers import Shift
from circuitize.frontends import catgrad
from circuitize.frontends.catgrad.drawing import RULES
from circuitize.frontends.functions import concatenate, exp2, gather, softmax, where

PERCEPTRON, TRANSFORMER = models.perceptron(4, 8, 5, 3), models.transformer(1, 2, 5, 2, 8, 7)


def ours() -> Arrow:
    model = cz.sequential(cz.dense(3, 4), cz.relu(), cz.layer_norm(4), cz.dense(4, 2))
    return cz.simplify(cz.training_step(model, cz.mean_squared_error, cz.Momentum(), 3).arrow)


def others(x: Any, y: Any) -> Any:
    """Operations that the models lack."""
    joined = concatenate([x[1:, :2], y[:2] / (x[:2, 1:] + 1.0)], axis=1)
    chosen = where(joined > 0.5, np.tanh(joined), exp2(-joined)) + joined.broadcast((5, *joined.shape))
    each = joined.reshape(2, 4, 1, 1)
    return softmax(chosen), chosen.max(axis=1), joined.T @ joined, (each * x) @ (each + y), y - 0.5, x


ARROWS: dict[str, Callable[[], Arrow]] = {
    "perceptron": lambda: catgrad.predict(PERCEPTRON).arrow,
    "perceptron's step": lambda: catgrad.step(PERCEPTRON, sgd(0.1), mse).arrow,
    "transformer": lambda: catgrad.predict(TRANSFORMER).arrow,
    "transformer's step": lambda: catgrad.step(TRANSFORMER, sgd(0.1), mse).arrow,
    "ours": ours,
    "others": lambda: cz.trace(others, (3, 3), (3, 2)),
}


@cache
def made(name: str) -> Arrow:
    return ARROWS[name]()


GIVEN_BACK = [pytest.param(name, marks=pytest.mark.deep if name.startswith("transformer") else ()) for name in ARROWS]
"""`ours` and `others` have the operations of a transformer, products along two axes too, and fewer of each."""


@pytest.mark.parametrize("name", GIVEN_BACK)
def test_their_compiler_runs_what_is_given_back(name: str) -> None:
    """To float32's precision; taken in again it is the same function."""
    arrow, random = made(name), np.random.default_rng(0)
    inputs = [random.uniform(0.1, 1.0, type.shape) for type in arrow.source]
    drawn = catgrad.diagram(arrow)
    expected = evaluate(arrow, inputs)
    found = to_python_class({"run": drawn})(Numpy).run(*(values.astype(np.float32) for values in inputs))
    for one, other, again in zip(expected, found, evaluate(catgrad.arrow(drawn), inputs), strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(again, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", GIVEN_BACK)
def test_an_object_comes_back_with_its_digest(name: str) -> None:
    """Also when its wires and edges stand in another order, side by side with itself, and of integers."""
    arrow, random = made(name), np.random.default_rng(0)
    given = catgrad.hypergraph(arrow)
    assert cz.digest(catgrad.arrow_of(given)) == cz.digest(arrow)
    orders = [random.permutation(len(labels)).astype(np.uint32) for labels in (given.H.w, given.H.x)]
    mixed = given.permute(*(FiniteFunction(len(order), order) for order in orders))
    assert cz.digest(catgrad.arrow_of(mixed)) == cz.digest(arrow)
    assert cz.digest(catgrad.arrow_of(given @ given)) == cz.digest(arrow @ arrow)


def test_objects_compose_as_arrows_do() -> None:
    one, other = cz.trace(lambda x, y: (x @ y, x), (2, 3), (3, 3)), cz.trace(lambda z, x: z * x - z, (2, 3), (2, 3))
    made = catgrad.hypergraph(one) >> catgrad.hypergraph(other)
    assert cz.digest(catgrad.arrow_of(made)) == cz.digest(compose(one, other))


def test_a_program_of_integers_comes_back_with_its_digest() -> None:
    program = cz.quantize(catgrad.predict(PERCEPTRON))
    made = catgrad.hypergraph(program)
    assert any(isinstance(operation, Shift) for operation in made.H.x.table)
    assert cz.digest(catgrad.arrow_of(made)) == cz.digest(program.arrow)


def rewired(**changes: Any) -> Any:
    made = catgrad.hypergraph(cz.trace(lambda x: (-x) * x, (2,)))
    for name, value in changes.items():
        getattr(made.H, name).values.table[:] = value
    return made


def relabelled(column: str, label: Any) -> Any:
    made = catgrad.hypergraph(cz.trace(lambda x: -x, (2,)))
    getattr(made.H, column).table[0] = label
    return made


THREE: Any = 3
FAULTS: dict[str, tuple[Any, str]] = {
    "no object": (lambda: catgrad.arrow_of(3), "expected an OpenHypergraph, found int; see hypergraph"),
    "no arrow": (lambda: catgrad.hypergraph(THREE), "expected an Arrow or a Program, found int; give program.arrow"),
    "theirs": (lambda: catgrad.arrow_of(PERCEPTRON), "expected wires with labels of ours, found NdArrayType"),
    "another edge": (lambda: catgrad.arrow_of(relabelled("x", "add")), "expected edges with labels of ours, found str"),
    "a cycle": (lambda: catgrad.arrow_of(rewired(s=[2, 1, 0])), "expected no cycle, found edge 0 reading what"),
    "written twice": (lambda: catgrad.arrow_of(rewired(t=[2, 2])), "expected each wire to be written once, found wire"),
    "integers": (
        lambda: catgrad.diagram(cz.quantize(catgrad.predict(PERCEPTRON))),
        "expected an arrow of reals, found",
    ),
    "a gather": (lambda: catgrad.diagram(cz.trace(gather, (3, 2), (4,))), "catgrad's core has, found real.gather"),
    "an array": (lambda: catgrad.diagram(cz.trace(lambda x: x * [1.0, 2.0], (2,))), "test_out.py.*of one number, as"),
    "a long axis": (
        lambda: catgrad.diagram(cz.trace(lambda x: x[1:], (5000,))),
        "expected an axis of at most 4096 elements to cut, found 5000",
    ),
}


@pytest.mark.parametrize(("called", "message"), FAULTS.values(), ids=FAULTS)
def test_what_is_no_such_thing_is_refused_in_one_line(called: Any, message: str) -> None:
    with pytest.raises(CircuitizeError, match=message) as raised:
        called()
    assert "\n" not in str(raised.value)


def test_the_page_lists_what_can_be_drawn() -> None:
    page = (Path(__file__).parents[3] / "docs" / "catgrad.md").read_text()
    listed = re.search(r"are expanded:\n\n(.*?)\s+are\s+the\s+operations\s", page, re.DOTALL)
    assert listed and re.split(r",\s+", listed.group(1)) == sorted(kind.__name__ for kind in RULES)
