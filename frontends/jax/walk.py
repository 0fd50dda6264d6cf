"""An interpreter that runs a jaxpr on values: JAX itself computes equations with known operands, and translation rules
do all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.provenance import part, placed_at

from . import comparison, control, draws, elementwise, indexing, layout, linear, raised, reductions, windows
from .equation import CALLS, RULES, Call, Calls, Context, Equation, values_of
from .jaxprs import ClosedJaxpr, Jaxpr, JaxprEquation, Known, Variable, is_literal
from .source import folders, source
from .value import Key, Value

MODULES = (control, draws, elementwise, comparison, indexing, layout, linear, reductions, windows)
"""The modules that hold the translation rules of JAX primitives."""
FOLDED = 1 << 22
"""The most elements of an array that is computed when the function is read."""
MOST = 1 << 20
"""The most equations of a function, counted with loops unrolled."""
MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def run(context: Context, closed: ClosedJaxpr, arguments: Sequence[Value]) -> list[Value]:
    """Return the results of a closed jaxpr on the given values. Nested calls of a jaxpr are kept on a list, so that
    their depth is not limited.

    Raise CircuitizeError, with the user's line, for a JAX primitive without a translation rule, and for operands that a
    rule does not accept.
    """
    context.folders = context.folders or folders()
    constants = [Value(array, array.dtype) for array in closed.consts]
    waiting: list[Calls] = [_frame(context, Call(closed.jaxpr, constants, arguments))]
    results: list[Value] | None = None
    while waiting:
        try:
            call = next(waiting[-1]) if results is None else waiting[-1].send(results)
        except StopIteration as done:
            waiting.pop()
            results = done.value
        else:
            waiting.append(_frame(context, call))
            results = None
    assert results is not None
    return results


def _frame(context: Context, call: Call) -> Calls:
    """Return the equations of a jaxpr that is being run, in order."""
    jaxpr = call.jaxpr
    environment: dict[Variable, Value] = {}
    environment.update(zip(jaxpr.constvars, call.constants, strict=True))
    environment.update(zip(jaxpr.invars, call.arguments, strict=True))

    def read(variable: Variable) -> Value:
        if is_literal(variable):
            return Value(np.asarray(variable.val, variable.aval.dtype), variable.aval.dtype)
        return environment[variable]

    ends = raised.whole(context.jax, jaxpr, context.references) if context.raises else {}
    for equation, end in _needed(jaxpr, ends):
        context.equations += 1
        found, label = source(equation, context.folders)
        (place, line), label = found or call.place, label or call.label
        if end is not None:
            (result,) = equation.outvars
            with placed_at((place, line)), part(label):
                environment[result] = end.value(context.jax, read(end.argument), result.aval.dtype)
            continue
        inputs = tuple(read(variable) for variable in equation.invars)
        known = Equation(
            context,
            equation.primitive.name,
            inputs,
            {name: _plain(value) for name, value in equation.params.items()},
            tuple(tuple(v.aval.shape) for v in equation.outvars),
            tuple(v.aval.dtype for v in equation.outvars),
            f"{place}:{line}" if place else "the function",
        )
        if context.equations > MOST:
            raise known.fault(f"expected at most {MOST} equations, loops unrolled, found more; shorten the loops")
        results = _folded(known, equation)
        if results is None and known.name in CALLS:
            results = yield from _placed(CALLS[known.name][0](known), (place, line), label)
        elif results is None:
            with placed_at((place, line)), part(label):
                results = _translated(known)
        environment.update(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in jaxpr.outvars]


def _plain(value: object) -> object:
    """Return a parameter of a JAX primitive with its whole numbers, also those in tuples of tuples, converted to
    Python's, since JAX leaves some as numpy's.
    """
    if type(value) is not tuple:
        return _whole(value)
    return tuple(tuple(map(_whole, one)) if type(one) is tuple else _whole(one) for one in value)


def _whole(value: object) -> object:
    return int(value) if isinstance(value, np.integer) else value


def _placed(calls: Calls, place: tuple[str, int], label: str) -> Calls:
    """Return the calls of jaxprs, each with a place to report if JAX has no line for it, since JAX traces its own
    functions only once.
    """
    results: list[Value] | None = None
    while True:
        try:
            call = next(calls) if results is None else calls.send(results)
        except StopIteration as done:
            return list(done.value)
        results = yield call._replace(place=place, label=label)


def _needed(jaxpr: Jaxpr, ends: Mapping[int, raised.Whole]) -> list[tuple[JaxprEquation, raised.Whole | None]]:
    """Return the equations of a jaxpr that some result depends on, each with the known function that it ends, if it
    ends one.
    """
    needed = {variable for variable in jaxpr.outvars if not is_literal(variable)}
    kept: list[tuple[JaxprEquation, raised.Whole | None]] = []
    for place in range(len(jaxpr.eqns) - 1, -1, -1):
        equation, end = jaxpr.eqns[place], ends.get(place)
        if not needed.isdisjoint(equation.outvars):
            kept.append((equation, end))
            read = equation.invars if end is None else [end.argument]
            needed.update(variable for variable in read if not is_literal(variable))
    return kept[::-1]


def _folded(known: Equation, equation: JaxprEquation) -> list[Value] | None:
    """Return the results of an equation of a jaxpr, computed by JAX itself, if all operands are known and no result is
    too large.
    """
    if not all(value.known for value in known.inputs):
        return None
    if known.name in CALLS and known.name != "while":
        return None
    if sum(int(np.prod(shape)) for shape in known.shapes) > FOLDED:
        return None
    operands = [value.content for value in known.inputs]
    made = equation.primitive.bind(*operands, **equation.params)
    several = made if equation.primitive.multiple_results else [made]
    return [Value(_held(one), dtype) for one, dtype in zip(several, known.dtypes, strict=True)]


def _held(array: Known) -> Known:
    """Return arrays of numbers as numpy arrays, and keys of random numbers unchanged."""
    return array if str(array.dtype).startswith("key") else np.asarray(array)


def _translated(known: Equation) -> list[Value]:
    if any(isinstance(value.content, Key) for value in known.inputs):
        return draws.keys(known)
    if not any(map(_size, known.shapes)):
        return [
            Value(np.zeros(shape, str(dtype)), dtype) for shape, dtype in zip(known.shapes, known.dtypes, strict=True)
        ]
    rule = RULES.get(known.name)
    if rule is None:
        raise known.fault("expected a primitive of the table in docs/jax.md, found another; write it with these")
    try:
        return values_of(known, rule, rule.function(known))
    except CircuitizeError as error:
        text = str(error)
        raise (error if text.startswith(known.place) else known.fault(text)) from None
    except MISFITS as error:
        found = (str(error).splitlines() or [""])[0]
        raise known.fault(
            f"expected operands and parameters that fit, found {type(error).__name__}: {found}; write it otherwise"
        ) from None


def _size(shape: Shape) -> int:
    return int(np.prod(shape))
