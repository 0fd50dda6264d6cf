"""Operations run on the arrays of JAX by the text that runs on numpy's: few functions, listed here, write to arrays."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import arrays_cases
import integers_cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiers
from every_case import every_case
from operations.integer import Case as IntegerCase
from operations.real import Case as RealCase

import circuitize.circuits
from circuitize.circuits import arrays, integers
from circuitize.circuits.arrays.curves.smooth import Smooth
from circuitize.circuits.errors import Undefined
from circuitize.circuits.operation import Operation

jax.config.update("jax_enable_x64", True)

EXCEPTIONS = {
    "placed": "zeros written to once: numpy's pad takes 2 times as long, and 19 times for 16 elements",
    "added": "windows are added where they overlap: padded and summed, those of 3 x 3 places take 2.7 times as long",
    "add_at": "places that the program computes, each any number of times: a one-hot product is quadratic",
    "Gather._window": "numpy shows one memory with other strides, without a copy; other modules take by index",
    "Elementwise.overwrite": "the executor spends a value that nothing reads again, where its module has `out`",
    "multiply_matrices": "how great the values are decides between float32, float64 and limbs, which are faster",
    "require": "what has no value depends on the values: they are read, and an error names the first wrong one",
    "require_between": "the same, by the least and the greatest value, which numpy finds faster",
}
"""What writes to arrays, asks which module they are of, or needs their values, by name, and why. At most ten."""

CLOSE = (Smooth, arrays.Sin, arrays.Cos, arrays.Exp, arrays.Log, arrays.SphericalAttention, arrays.Composite)
"""Operations that ask the module for a function that no standard says to the last bit, or divide what a product of
matrices gives; and those that are made of others, whose roundings add up. All else is exact, the sums here too.
"""

REALS: list[RealCase] = tiers.of_each(arrays_cases.cases())
INTEGERS: list[IntegerCase] = integers_cases.cases()
SIMPLE = [case for case in REALS if not isinstance(case.operation, arrays.Composite)]
ONE_BY_ONE = (arrays.Divide, arrays.Gather)
"""Of operations that read values one of each way to look for wrong ones: those whose primitives are compiled one by one
in `make test`. XLA's test in tests/sims/xla has all of them in one program.
"""
DEEP = INTEGERS if tiers.TIER == "deep" else []
RUN: list[RealCase | IntegerCase] = [*SIMPLE, *INTEGERS]
CIRCUITS = Path(circuitize.circuits.__path__[0]).resolve()
BESIDE = {"array_module", "Table.like", "View.window", "exact_error_function"}
"""What finds the module of a value, or a table in it; what prepares a view or a table, of Python lists and numbers."""


def drawn(case: RealCase | IntegerCase, seed: int = 1) -> list[Any]:
    random = np.random.default_rng(seed)
    return case.reals(case.awkward(random)) if isinstance(case, RealCase) else case.draw(random)


def value(operation: Operation, values: list[Any]) -> Any:
    """The value, or the message that says why there is none."""
    try:
        (made,) = operation.run(*values)
    except Undefined as error:
        return str(error)
    return made


def reached(cases: Iterable[RealCase | IntegerCase]) -> set[tuple[Path, str]]:
    """The functions of circuits/ that run when their operations do, by file and name."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        for case in cases:
            value(case.operation, drawn(case))
    finally:
        sys.setprofile(None)
    named = ((Path(code.co_filename).resolve(), code.co_qualname.split(".<locals>")[0]) for code in found)
    return {(path, name) for path, name in named if path.is_relative_to(CIRCUITS)}


@cache
def reads(case: RealCase | IntegerCase) -> bool:
    """Whether the operation looks for values where it has none: it takes arrays at hand only, no traced ones."""
    return not {"require", "require_between"}.isdisjoint(name for _, name in reached([case]))


def functions(path: Path) -> Mapping[str, ast.AST]:
    """The functions and methods of a file, by name."""
    body = ast.parse(path.read_text()).body
    methods = [(f"{owner.name}.{one.name}", one) for owner in body if isinstance(owner, ast.ClassDef)
               for one in owner.body if isinstance(one, ast.FunctionDef)]  # fmt: skip
    return dict(methods) | {one.name: one for one in body if isinstance(one, ast.FunctionDef)}


def departs(node: ast.AST) -> bool:
    """Whether code writes to an item or in place, or asks whether an array is numpy's."""
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith(".at") or any(keyword.arg == "out" for keyword in node.keywords)
    return isinstance(node, ast.Compare) and any(ast.unparse(one) in ("np", "np.ndarray") for one in node.comparators)


def test_functions_that_run_write_to_no_array_but_those_listed() -> None:
    ran = reached(RUN)  # a composite is what it defines
    names = {name for _, name in ran}
    assert {getattr(case.operation, "value", case.operation.run).__qualname__ for case in RUN} <= names
    parsed = {path: functions(path) for path, _ in ran}
    found = {name for path, name in ran if any(map(departs, ast.walk(parsed[path].get(name, ast.Pass()))))}
    assert found - BESIDE <= set(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 10
    assert set(EXCEPTIONS) - names == {"Elementwise.overwrite"}, "only the executor calls this one"


Cases = Sequence[RealCase | IntegerCase]


def compiled(cases: Cases) -> Callable[[list[list[Any]]], list[Any]]:
    """The values of cases that read none, as one function, which can only be compiled where nothing of a trace is left:
    of all of them there was one before.
    """

    def run(sources: list[list[Any]]) -> list[Any]:
        return [case.operation.run(*values)[0] for case, values in zip(cases, sources, strict=True)]

    jax.eval_shape(lambda sources: run(sources), [drawn(case) for case in cases])
    return jax.jit(run)


def tried() -> list[RealCase]:
    """Without composites, which are what they define, and of those that read values two, but in `deep`."""
    if tiers.TIER == "deep":
        return REALS
    return [case for case in SIMPLE if isinstance(case.operation, ONE_BY_ONE) or not reads(case)]


@cache
def by_jax() -> dict[RealCase, list[Any]]:
    """Of each case and of two draws the value: those that read values one by one, all others compiled as one."""
    reading = [case for case in tried() if reads(case)]
    others = [case for case in tried() if case not in reading]
    together = compiled(others)
    found = [together([drawn(case, seed) for case in others]) for seed in (1, 2)]
    apart = {case: [value(case.operation, [*map(jnp.asarray, drawn(case, seed))]) for seed in (1, 2)]
             for case in reading}  # fmt: skip
    return apart | dict(zip(others, map(list, zip(*found, strict=True)), strict=True))


def test_reals_are_those_of_numpy() -> None:
    @every_case(tried())
    def check(case: RealCase) -> None:
        for seed, found in zip((1, 2), by_jax()[case], strict=True):
            values = drawn(case, seed)
            expected = value(case.operation, values)
            assert isinstance(found, jax.Array) or not values
            if isinstance(case.operation, CLOSE):
                np.testing.assert_allclose(found, expected, rtol=2.0**-50, atol=2.0**-50)
            else:
                np.testing.assert_array_equal(found, expected)

    check()


@pytest.mark.deep
@pytest.mark.parametrize("case", [case for case in DEEP if reads(case)], ids=str)
def test_integers_that_read_values_are_those_of_numpy(case: IntegerCase) -> None:
    for seed in (1, 2):
        values = drawn(case, seed)
        expected, found = value(case.operation, values), value(case.operation, list(map(jnp.asarray, values)))
        if isinstance(expected, str):
            assert found == expected
        else:
            assert isinstance(found, jax.Array)
            np.testing.assert_array_equal(found, expected, strict=True)


TRACED = [case for case in DEEP if case.sources and not reads(case)]


@pytest.mark.deep
@pytest.mark.parametrize("operation", sorted({case.operation.name for case in TRACED}))
def test_traced_integers_are_those_of_numpy(operation: str) -> None:
    """All cases of an operation, compiled as one function."""
    some = [case for case in TRACED if case.operation.name == operation]
    together = compiled(some)
    for seed in (1, 2):
        sources = [drawn(case, seed) for case in some]
        for case, values, found in zip(some, sources, together(sources), strict=True):
            np.testing.assert_array_equal(found, case.operation.run(*values)[0], strict=True)


@every_case([*(REALS if tiers.TIER == "deep" else SIMPLE), *tiers.of_each(INTEGERS)])
def test_just_those_that_read_values_do_not_trace(case: RealCase | IntegerCase) -> None:
    shapes = [jax.ShapeDtypeStruct(value.shape, value.dtype) for value in drawn(case)]
    with pytest.raises(jax.errors.TracerBoolConversionError) if reads(case) else nullcontext():
        jax.eval_shape(case.operation.run, *shapes)


def test_nothing_of_a_trace_is_left_in_integer_operations() -> None:
    some = [case for case in tiers.of_each(INTEGERS) if not reads(case)]
    for case, found in zip(some, compiled(some)([drawn(case) for case in some]), strict=True):
        np.testing.assert_array_equal(found, case.operation.run(*drawn(case))[0], strict=True)


@pytest.mark.parametrize(("wide", "narrow"), [(1 << 9, 1 << 9), (1 << 20, 1 << 20), (1 << 34, 1 << 20)])
def test_great_contractions_are_those_of_numpy(wide: int, narrow: int) -> None:
    """In one floating format, or in limbs: as great as the values are, which are read."""
    random = np.random.default_rng(1)
    x, y = random.integers(-wide, wide, (8, 64)), random.integers(-narrow, narrow, (64, 40))
    found = value(integers.Contract("bi,ij->bj"), [jnp.asarray(x), jnp.asarray(y)])
    np.testing.assert_array_equal(found, x @ y, strict=True)
