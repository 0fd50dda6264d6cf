"""Functions of JAX that circuitize has as operations (softmax, GELU and others), recognised in a jaxpr by the equations
into which JAX translates them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeAlias

import numpy as np

from circuitize.frontends import functions
from circuitize.frontends.tensor import Tensor

from .jaxprs import Jaxpr, JaxprEquation, Shaped, Variable, is_literal
from .value import Value

Producers: TypeAlias = Mapping[Variable, JaxprEquation]
Guess: TypeAlias = Callable[[JaxprEquation, Producers], "tuple[Variable, int] | None"]
"""For an equation that may be the last one of a known function: the variable whose type the argument has, and the axis,
or None.
"""


@dataclass(frozen=True)
class References:
    """What JAX makes of known functions, by their places in `FUNCTIONS`: the primitive of the last equation, and the
    jaxpr for an argument's shape, element type and axis.
    """

    last: dict[int, str] = field(default_factory=dict)
    jaxprs: dict[tuple[int, tuple[int, ...], str, int], Jaxpr] = field(default_factory=dict)


@dataclass(frozen=True)
class Whole:
    """A function that is recognised in a jaxpr by the equation that ends it: the function, its axis, and the variable
    that is its argument.
    """

    function: Function
    axis: int
    argument: Variable

    def value(self, jax: ModuleType, value: Value, dtype: object) -> Value:
        """Return the result of a recognised function of JAX: computed by JAX if the argument is known, by circuitize's
        operation on a wire.
        """
        if isinstance(value.content, Tensor):
            return Value(self.function.ours(value.content, self.axis), dtype)
        return Value(np.asarray(self.function.theirs(jax, value.content, self.axis)), dtype)


def _through(variable: Variable, producers: Producers, *names: str) -> JaxprEquation | None:
    """Return the equation of a jaxpr that ends a chain, in which the first operand of each equation is made by an
    equation of the next given primitive; None if there is no such chain.
    """
    equation = None
    for name in names:
        equation = None if is_literal(variable) else producers.get(variable)
        if equation is None or equation.primitive.name != name:
            return None
        variable = equation.invars[0]
    return equation


def _elementwise(equation: JaxprEquation, producers: Producers) -> tuple[Variable, int] | None:
    return equation.outvars[0], 0


def _normalized(equation: JaxprEquation, producers: Producers) -> tuple[Variable, int] | None:
    """Return the argument and the axis of the sum by which an equation of a jaxpr divides."""
    found = _through(equation.invars[-1], producers, "broadcast_in_dim", "reduce_sum")
    return None if found is None or len(found.params["axes"]) != 1 else (found.invars[0], found.params["axes"][0])


def _logarithm(equation: JaxprEquation, producers: Producers) -> tuple[Variable, int] | None:
    """Return the argument and the axis of the sum whose logarithm an equation of a jaxpr takes."""
    found = _through(equation.invars[0], producers, "log", "abs", "reduce_sum")
    return None if found is None or len(found.params["axes"]) != 1 else (found.invars[0], found.params["axes"][0])


@dataclass(frozen=True)
class Function:
    """A function of JAX along an axis, or element by element, the operation for it, and how the last equation of its
    definition shows the argument and the axis.
    """

    theirs: Callable[[ModuleType, object, int], object]
    ours: Callable[[Tensor, int], Tensor]
    guess: Guess


def _called(equation: JaxprEquation, producers: Producers) -> tuple[Variable, int] | None:
    """Return the argument and the axis of a log-softmax, which is a named call in a jaxpr."""
    if equation.params.get("name") != "log_softmax" or len(equation.outvars) != 1:
        return None
    inner = equation.params["jaxpr"].jaxpr.eqns
    axes = [e.params["axes"] for e in inner if e.primitive.name == "reduce_max"]
    return (equation.invars[0], axes[0][0]) if len(axes) == 1 and len(axes[0]) == 1 else None


FUNCTIONS = (
    Function(lambda jax, x, axis: jax.nn.softmax(x, axis), functions.softmax, _normalized),
    Function(lambda jax, x, axis: jax.nn.logsumexp(x, axis), functions.log_sum_exp, _logarithm),
    Function(lambda jax, x, axis: jax.nn.gelu(x), lambda x, axis: functions.gelu(x, True), _elementwise),
    Function(lambda jax, x, axis: jax.nn.gelu(x, False), lambda x, axis: functions.gelu(x), _elementwise),
    Function(
        lambda jax, x, axis: jax.nn.log_softmax(x, axis),
        functions.log_softmax,
        _called,
    ),
)


def whole(jax: ModuleType, jaxpr: Jaxpr, references: References) -> dict[int, Whole]:
    """Return the functions of JAX that circuitize has as operations and that a jaxpr computes, each by the equation
    that computes its result.

    The argument `references` is a cache of the jaxprs that JAX makes of known functions. Recognising functions in a
    jaxpr takes time linear in the number of equations.
    """
    producers = {variable: equation for equation in jaxpr.eqns for variable in equation.outvars}
    found = {}
    for place, equation in enumerate(jaxpr.eqns):
        for number, function in enumerate(FUNCTIONS):
            if equation.primitive.name != _last(jax, number, references):
                continue
            guessed = function.guess(equation, producers)
            if guessed is None or not str(guessed[0].aval.dtype).startswith("float"):
                continue
            like, axis = guessed
            argument = _argument(_reference(jax, number, like.aval, axis, references), equation, producers)
            if argument is not None:
                found[place] = Whole(function, axis, argument)
                break
    return found


def _last(jax: ModuleType, number: int, references: References) -> str:
    """Return the JAX primitive in the last equation of a known function's jaxpr."""
    if number not in references.last:
        like = jax.ShapeDtypeStruct((2, 3), "float32")
        references.last[number] = _end(_traced(jax, number, like, 1)).primitive.name
    return references.last[number]


def _reference(jax: ModuleType, number: int, aval: Shaped, axis: int, references: References) -> Jaxpr:
    shape = (2, 3) if FUNCTIONS[number].guess is _elementwise else aval.shape
    key = (number, shape, str(aval.dtype), axis)
    if key not in references.jaxprs:
        references.jaxprs[key] = _traced(jax, number, jax.ShapeDtypeStruct(shape, aval.dtype), axis)
    return references.jaxprs[key]


def _traced(jax: ModuleType, number: int, like: Shaped, axis: int) -> Jaxpr:
    traced: Jaxpr = jax.make_jaxpr(lambda x: FUNCTIONS[number].theirs(jax, x, axis))(like).jaxpr
    return traced


def _end(reference: Jaxpr) -> JaxprEquation:
    """Return the equation that computes a jaxpr's result, without the copies after it."""
    producers = {variable: equation for equation in reference.eqns for variable in equation.outvars}
    found = producers[reference.outvars[0]]
    while found.primitive.name == "copy":
        found = producers[found.invars[0]]
    return found


def _argument(reference: Jaxpr, equation: JaxprEquation, producers: Producers) -> Variable | None:
    """Return the argument of a known function whose reference jaxpr ends in an equation like the given one, if both
    compute the same graph.
    """
    theirs = {variable: one for one in reference.eqns for variable in one.outvars}
    (argument,) = reference.invars
    met: dict[Variable, Variable] = {}
    waiting = [(_end(reference), equation)]
    while waiting:
        one, other = waiting.pop()
        if one.primitive.name != other.primitive.name or len(one.invars) != len(other.invars):
            return None
        if str(one.params) != str(other.params):
            return None
        for a, b in zip(one.invars, other.invars, strict=True):
            if is_literal(a) or is_literal(b):
                if not (is_literal(a) and is_literal(b)) or a.val != b.val:
                    return None
            elif a in met:
                if met[a] is not b:
                    return None
            else:
                met[a] = b
                if a is not argument:
                    if a not in theirs or b not in producers:
                        return None
                    waiting.append((theirs[a], producers[b]))
    return met.get(argument)
