"""JAX primitives that hold jaxprs: calls are inlined, and loops are unrolled if their length is known and refused
otherwise.
"""

from __future__ import annotations

import numpy as np

from circuitize.frontends.movement import stack
from circuitize.frontends.tensor import Tensor

from . import draws
from .equation import Call, Calls, Equation, calling
from .jaxprs import ClosedJaxpr, Jaxpr
from .value import Key, Value


@calling(
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "remat",
    "remat2",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
    "custom_lin",
    meaning="inlined: their derivatives are ours",
)
def _inlined(equation: Equation) -> Calls:
    inner = next(
        equation.parameters[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in equation.parameters
    )
    if "name" in equation.parameters:
        drawn = draws.drawn(equation, str(equation["name"]))
        if drawn is not None:
            return [drawn]
    return (yield _call(inner, list(equation.inputs)))


def _call(jaxpr: Jaxpr | ClosedJaxpr, arguments: list[Value]) -> Call:
    """Return the call of a jaxpr, whether the jaxpr is closed or open."""
    if not isinstance(jaxpr, ClosedJaxpr):
        return Call(jaxpr, [], arguments)
    return Call(jaxpr.jaxpr, [Value(array, array.dtype) for array in jaxpr.consts], arguments)


@calling("cond", meaning="the branch that is chosen, where the index is known; refused otherwise")
def _branch(equation: Equation) -> Calls:
    index, *operands = equation.inputs
    branches = equation["branches"]
    if not index.known:
        raise equation.fault(
            "expected a condition known when the function is traced, found one that is computed; compute both branches "
            "and choose with jnp.where"
        )
    chosen = min(max(int(index.array()), 0), len(branches) - 1)
    return (yield _call(branches[chosen], operands))


@calling("while", meaning="run where all it reads is known; refused otherwise")
def _loop(equation: Equation) -> Calls:
    raise equation.fault(
        "expected a loop whose length is known when the function is traced, found one that stops by what it computes; "
        "use jax.lax.scan, or fori_loop with bounds known now"
    )
    yield


@calling("scan", meaning="unrolled: its length is known")
def _unrolled(equation: Equation) -> Calls:
    held, carried, length = equation["num_consts"], equation["num_carry"], equation["length"]
    constants = list(equation.inputs[:held])
    state, sequences = list(equation.inputs[held : held + carried]), equation.inputs[held + carried :]
    steps: list[list[Value]] = []
    order = range(length)[::-1] if equation["reverse"] else range(length)
    for index in order:
        slices = [_at(value, index) for value in sequences]
        results = yield _call(equation["jaxpr"], [*constants, *state, *slices])
        state = results[:carried]
        steps.append(results[carried:])
    if equation["reverse"]:
        steps.reverse()
    stacked = [
        _stacked(equation, [step[place] for step in steps], place + carried)
        for place in range(len(equation.shapes) - carried)
    ]
    return [*state, *stacked]


def _at(value: Value, index: int) -> Value:
    """Return one element of a JAX value along the value's first axis."""
    if isinstance(value.content, Key):
        return draws.derived(value, "element", (index,), value.shape[1:])
    return Value(value.content[index], value.dtype, value.low, value.high)


def _stacked(equation: Equation, values: list[Value], place: int) -> Value:
    """Return the results of all steps of a loop along a new first axis."""
    dtype, shape = equation.dtypes[place], equation.shapes[place]
    if not values:
        return Value(np.zeros(shape, str(dtype)), dtype)
    if any(isinstance(value.content, Key) for value in values):
        origin = ("stack", *(value.content.origin for value in values if isinstance(value.content, Key)))
        return Value(Key(origin, shape), dtype)
    if all(value.known for value in values):
        return Value(np.stack([value.array() for value in values]), dtype)
    wires = [
        value.content if isinstance(value.content, Tensor) else equation.constant(value.array()) for value in values
    ]
    low, high = min(value.interval[0] for value in values), max(value.interval[1] for value in values)
    return Value(stack(wires), dtype, low, high)
