"""ONNX's own tests of its operators, in floats and in integers: `python tests/support/onnx_nodes.py` counts them."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import tiers
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals
from circuitize.frontends.onnx import Imported, UnknownValue, arrow
from circuitize.sims import integer

Arrays = dict[str, NDArray[Any]]

KINDS = ("float32", "float64", "int32", "int64", "bool")
FRACTION_BITS = 20
"""Of inputs of integer programs; what is rounded on the way has those of `Precision()`."""
FAR, SHARE = 2.0**-8, 0.01
"""What an integer result may be off by: so much, or this share of it."""

LONG = () if tiers.TIER == "deep" else tuple(f"export_{name}pool_3d_default" for name in ("average", "lp", "max"))
"""Tests of which ONNX's own reference takes two seconds each, and all others together one: in the deep tier alone."""


@cache
def _all() -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case import base
        from onnx.backend.test.loader import load_model_tests

        exporter: Any = base._Exporter
        snippet = base.process_snippet
        every = exporter.__init__

        def but_long(cls: Any, name: str, bases: Any, given: dict[str, Any]) -> None:
            every(cls, name, bases, {key: value for key, value in given.items() if key not in LONG})

        # Their source, which takes as long to read as the tests to run, is for ONNX's documents alone.
        exporter.__init__, base.process_snippet = but_long, lambda *test: ("", "")
        try:
            return tuple(load_model_tests(kind="node"))
        finally:
            exporter.__init__, base.process_snippet = every, snippet


@cache
def cases(expanded: bool = False) -> tuple[Any, ...]:
    """The node tests in scope: of `KINDS`, finite, with elements, without graphs inside; numpy's scalars too."""
    return tuple(case for case in _all() if ("_expanded" in case.name) == expanded and _plain(case))


def _plain(case: Any) -> bool:
    arrays = [array for inputs, outputs in case.data_sets for array in (*inputs, *outputs)]
    graphs = any(entry.HasField("g") or entry.graphs for node in case.model.graph.node for entry in node.attribute)
    return not graphs and all(
        isinstance(array, (np.ndarray, np.generic))
        and array.dtype.name in KINDS
        and array.size
        and np.isfinite(array).all()
        for array in arrays
    )


def given(case: Any, inputs: Any) -> Arrays:
    """What a case feeds, by name."""
    return dict(zip((entry.name for entry in case.model.graph.input), map(np.asarray, inputs), strict=False))


def read(case: Any, feeds: Arrays) -> Imported:
    """A case's arrow, inputs known where shapes depend on them. Raise CircuitizeError where it is refused."""
    known: Arrays = {}
    whole = {n: (int(a.min()), int(a.max())) for n, a in feeds.items() if a.dtype.kind in "iu"}
    while True:
        try:
            return arrow(case.model, known, {name: ends for name, ends in whole.items() if name not in known})
        except UnknownValue as unknown:
            known[unknown.name] = feeds[unknown.name]


def masks(imported: Imported, outputs: Any) -> Arrays:
    """What dropout in training reads: 1 where ONNX's own result was not dropped."""
    return {name: np.asarray(outputs[0]) != 0 for name in imported.inputs if name.endswith(".mask")}


def outcome(case: Any) -> str:
    """ "passed", or why a case is refused; what is computed wrongly raises."""
    for inputs, outputs in case.data_sets:
        feeds = given(case, inputs)
        try:
            imported = read(case, feeds)
        except CircuitizeError as error:
            return str(error)
        feeds |= masks(imported, outputs)
        found = evaluate(imported.arrow, [np.asarray(feeds[name], np.float64) for name in imported.inputs])
        names = [entry.name for entry in case.model.graph.output]
        assert list(imported.outputs) == names
        for name, ours, expected in zip(names, found, map(np.asarray, outputs), strict=True):
            assert ours.shape == expected.shape, name
            np.testing.assert_allclose(ours, expected.astype(np.float64), case.rtol, max(case.atol, 2e-6), err_msg=name)
    return "passed"


def _format(array: NDArray[Any], kind: str) -> Fixed:
    """What holds an input: whole numbers and truth values as they are, floats with `FRACTION_BITS`."""
    if kind == "bool":
        return Fixed(array.shape, 0, 0, 1)
    if kind in ("int32", "int64"):
        return Fixed(array.shape, 0, min(0, int(array.min())), max(1, int(array.max())))
    most = int(np.ceil(np.abs(array).max() * 2**FRACTION_BITS)) + 1
    return Fixed(array.shape, FRACTION_BITS, -most, most)


def in_integers(case: Any) -> str:
    """ "close", "known" where nothing is left to compute, "far", or why the integer program is refused."""
    for inputs, outputs in case.data_sets:
        feeds = given(case, inputs)
        imported = read(case, feeds)
        if not imported.inputs:
            return "known"
        feeds |= masks(imported, outputs)
        entering = tuple(
            Port(name, Visibility.PUBLIC, _format(feeds[name], kind))
            for name, kind in zip(imported.inputs, imported.input_types, strict=True)
        )
        example = {name: np.asarray(feeds[name], np.float64) for name in imported.inputs}
        # An output may be an input as it is.
        leaving = tuple(Port(f"out {place}", Visibility.PUBLIC) for place in range(len(imported.outputs)))
        try:
            program = quantize(Program(imported.arrow, entering, leaving, (example,)))
            found = integer.run(program, example)
        except CircuitizeError as error:
            return str(error)
        for port, expected in zip(program.outputs, map(np.asarray, outputs), strict=True):
            wanted = expected.astype(np.float64)
            off = np.abs(to_reals(port.format, found[port.name]) - wanted)
            if (off > np.maximum(FAR, SHARE * np.abs(wanted))).any():
                return "far"
    return "close"


def main() -> None:
    for expanded in (False, True):
        chosen = cases(expanded)
        outcomes = {case.name: outcome(case) for case in chosen}
        passed = [case for case in chosen if outcomes[case.name] == "passed"]
        held = Counter(in_integers(case) for case in passed)
        print(f"{'expanded' if expanded else 'plain'}: {len(passed)} of {len(chosen)} pass; in integers {dict(held)}")
        for name, said in outcomes.items():
            if said != "passed":
                print(f"  {name}: {said}")


if __name__ == "__main__":
    main()
