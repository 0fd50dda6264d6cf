"""JAX primitives that work element by element: arithmetic, functions, comparisons, choices, casts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends import functions
from circuitize.frontends.products import exponential, power
from circuitize.frontends.tensor import Tensor

from .equation import Equation, Operand, Result, primitive
from .value import Interval, Value, range_of


def _whole(equation: Equation) -> list[Interval] | None:
    """Return the intervals of the operands, if an equation of a jaxpr computes whole numbers; None if it computes
    floats.
    """
    return None if equation.inputs[0].kind == "float" else [value.interval for value in equation.inputs]


def _ends(equation: Equation, function: Callable[[int, int], int]) -> Interval | None:
    """Return the interval of a function of two operands of whole numbers that is monotone in each operand, or
    bilinear.
    """
    intervals = _whole(equation)
    if intervals is None:
        return None
    ends = [function(a, b) for a in intervals[0] for b in intervals[1]]
    return min(ends), max(ends)


def binary(equation: Equation, function: Callable[[Operand, Operand], object]) -> Tensor:
    """Return the result of a function of the two operands of a jaxpr's equation, at least one of which is a wire."""
    made = function(equation.operand(0), equation.operand(1))
    assert isinstance(made, Tensor)
    return made


@primitive("add", "add_any", meaning="Add")
def _add(equation: Equation) -> Result | Value:
    for index in (0, 1):
        if equation.inputs[index].uniform() == 0.0 and equation.inputs[1 - index].shape == equation.shapes[0]:
            return equation.inputs[1 - index]
    return Result(binary(equation, lambda a, b: a + b), _ends(equation, lambda a, b: a + b))


@primitive("sub", meaning="Subtract")
def _subtract(equation: Equation) -> Result | Value:
    if equation.inputs[1].uniform() == 0.0 and equation.inputs[0].shape == equation.shapes[0]:
        return equation.inputs[0]
    return Result(binary(equation, lambda a, b: a - b), _ends(equation, lambda a, b: a - b))


@primitive("mul", meaning="Multiply; Scale by a number known now")
def _multiply(equation: Equation) -> Result | Value:
    for index in (0, 1):
        number = equation.inputs[index].uniform()
        if number == 0.0:
            return Value(np.zeros(equation.shapes[0], np.dtype(str(equation.dtypes[0]))), equation.dtypes[0])
        if number == 1.0 and equation.inputs[1 - index].shape == equation.shapes[0]:
            return equation.inputs[1 - index]
    return Result(binary(equation, lambda a, b: a * b), _ends(equation, lambda a, b: a * b))


@primitive("div", meaning="Divide; Scale by a number known now, Reciprocal of a wire under one")
def _divide(equation: Equation) -> Tensor | Value:
    if equation.inputs[0].kind != "float":
        raise equation.fault("expected floats, found whole numbers, whose quotient is cut off; divide floats")
    if equation.inputs[0].uniform() == 0.0:
        return Value(np.zeros(equation.shapes[0], np.dtype(str(equation.dtypes[0]))), equation.dtypes[0])
    if equation.inputs[1].uniform() == 1.0:
        return equation.inputs[0]
    if equation.inputs[0].uniform() == 1.0:
        return functions.reciprocal(equation.tensor(1))
    return binary(
        equation,
        lambda a, b: a / b if isinstance(a, Tensor) else equation.tensor(0).broadcast(equation.inputs[1].shape) / b,
    )


@primitive("rem", meaning="refused but where known, or already below a positive divisor")
def _remainder(equation: Equation) -> Value:
    low, high = equation.inputs[0].interval
    divisor = equation.inputs[1].uniform()
    if equation.inputs[0].kind == "int" and divisor is not None and 0 <= low <= high < divisor:
        return equation.inputs[0]
    raise equation.fault(
        "expected numbers known now, or from 0 to below the divisor, found others; take them apart before"
    )


@primitive("max", meaning="Maximum; ReLU where the other operand is 0: its derivative at 0 is 0")
def _maximum(equation: Equation) -> Result | Value:
    return _extreme(equation, max, functions.maximum, -math.inf)


@primitive("min", meaning="Minimum")
def _minimum(equation: Equation) -> Result | Value:
    return _extreme(equation, min, functions.minimum, math.inf)


def _extreme(
    equation: Equation, chosen: Callable[..., int], function: Callable[[Operand, Operand], Tensor], neutral: float
) -> Result | Value:
    for index in (0, 1):
        number = equation.inputs[index].uniform()
        other = equation.inputs[1 - index]
        if number is not None and number == neutral and other.shape == equation.shapes[0]:
            return other
        if number == 0.0 and chosen is max and other.kind == "float":
            return Result(functions.relu(equation.tensor(1 - index)))
    intervals = _whole(equation)
    if intervals is not None:
        (a, b), (c, d) = intervals
        if (b <= c or d <= a) and equation.inputs[0].shape == equation.inputs[1].shape:
            return equation.inputs[int((chosen(a, c), chosen(b, d)) == (c, d))]
        return Result(binary(equation, function), (chosen(a, c), chosen(b, d)))
    return Result(binary(equation, function))


@primitive("clamp", meaning="Clip")
def _clamp(equation: Equation) -> Result:
    low, high = equation.inputs[0].uniform(), equation.inputs[2].uniform()
    x = equation.tensor(1)
    if low is not None and high is not None and math.isfinite(low) and math.isfinite(high) and low < high:
        made = functions.clip(x, low, high)
    else:
        made = functions.minimum(functions.maximum(x, equation.operand(0)), equation.operand(2))
    if equation.inputs[1].kind == "float":
        return Result(made)
    (a, b), (c, d), (e, f) = (value.interval for value in equation.inputs)
    return Result(made, (min(max(a, c), e), min(max(b, d), f)))


@primitive("neg", meaning="Negate")
def _negate(equation: Equation) -> Result:
    low, high = equation.inputs[0].interval
    return Result(-equation.tensor(), None if equation.inputs[0].kind == "float" else (-high, -low))


@primitive("abs", meaning="Abs")
def _absolute(equation: Equation) -> Result:
    low, high = equation.inputs[0].interval
    return Result(functions.absolute(equation.tensor()), (max(0, low, -high), max(abs(low), abs(high))))


@primitive("sign", meaning="Sign")
def _sign(equation: Equation) -> Result:
    return Result(functions.sign(equation.tensor()), (-1, 1))


def _one_plus_log(x: Tensor) -> Tensor:
    return functions.log(x + 1.0)


def _exponential_less_one(x: Tensor) -> Tensor:
    return functions.exp(x) - 1.0


def _hyperbolic(sign: float) -> Callable[[Tensor], Tensor]:
    return lambda x: (functions.exp(x) + sign * functions.exp(-x)) * 0.5


UNARY: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "exp": (functions.exp, "Exp"),
    "exp2": (functions.exp2, "Exp2"),
    "log": (functions.log, "Log"),
    "log1p": (_one_plus_log, "Log of 1 + x"),
    "expm1": (_exponential_less_one, "Exp, less 1"),
    "tanh": (functions.tanh, "Tanh"),
    "logistic": (functions.sigmoid, "Sigmoid"),
    "sqrt": (functions.square_root, "SquareRoot"),
    "rsqrt": (functions.reciprocal_square_root, "ReciprocalSquareRoot"),
    "sin": (functions.sin, "Sin"),
    "cos": (functions.cos, "Cos"),
    "tan": (lambda x: functions.sin(x) / functions.cos(x), "Sin over Cos"),
    "sinh": (_hyperbolic(-1.0), "of Exp"),
    "cosh": (_hyperbolic(1.0), "of Exp"),
    "erf": (functions.erf, "Erf"),
    "erfc": (lambda x: 1.0 - functions.erf(x), "1 - Erf"),
    "floor": (functions.floor, "Floor"),
    "ceil": (functions.ceil, "Ceil"),
}


def _unary(name: str, function: Callable[[Tensor], Tensor], meaning: str) -> None:
    @primitive(name, meaning=meaning)
    def rule(equation: Equation) -> Tensor:
        return function(equation.tensor())


for _name, (_function, _meaning) in UNARY.items():
    _unary(_name, _function, _meaning)


@primitive("round", meaning="Round; halves away from zero by Floor")
def _round(equation: Equation) -> Tensor:
    x = equation.tensor()
    if int(equation["rounding_method"]) == 1:
        return functions.round_half_even(x)
    return functions.sign(x) * functions.floor(functions.absolute(x) + 0.5)


@primitive("square", meaning="Square")
def _square(equation: Equation) -> Result:
    low, high = equation.inputs[0].interval
    return Result(functions.square(equation.tensor()), (0, max(low * low, high * high)))


@primitive("integer_pow", meaning="Power; Square of exponent 2")
def _whole_power(equation: Equation) -> Result:
    exponent = int(equation["y"])
    x = equation.tensor()
    made = functions.square(x) if exponent == 2 else functions.power(x, exponent)
    if equation.inputs[0].kind == "float" or exponent < 0:
        return Result(made)
    low, high = equation.inputs[0].interval
    ends = [low**exponent, high**exponent, *([0] if low < 0 < high else [])]
    return Result(made, (min(ends), max(ends)))


@primitive(
    "pow",
    meaning="products and roots for an exponent that is a multiple of 1/2, Exp2 of a known base; else e^(y log x)",
)
def _power(equation: Equation) -> Tensor | Value:
    base, exponent = equation.inputs[0].uniform(), equation.inputs[1].uniform()
    if exponent is not None and (2 * exponent).is_integer() and abs(exponent) <= 64:
        return power(equation.tensor(0), exponent)
    if base is not None and base > 0:
        return exponential(base, equation.tensor(1))
    return functions.exp(functions.log(equation.tensor(0)) * equation.operand(1))


@primitive("stop_gradient", meaning="Detach: its derivative is zero", moves=True)
def _detached(equation: Equation) -> Tensor:
    return equation.tensor().apply(arrays.Detach())


@primitive("copy", "copy_p", "reduce_precision", "name", "sharding_constraint", "pvary", meaning="nothing: the operand")
def _same(equation: Equation) -> Value:
    return equation.inputs[0]


@primitive("optimization_barrier", meaning="nothing: the operands")
def _barrier(equation: Equation) -> Sequence[Value]:
    return equation.inputs


@primitive("convert_element_type", meaning="nothing; of floats to whole numbers, rounded towards zero")
def _cast(equation: Equation) -> Result | Value:
    value, dtype = equation.inputs[0], equation.dtypes[0]
    before, after = value.kind, Value(np.zeros(()), dtype).kind
    x = equation.tensor()
    if after == "bool" and before != "bool":
        return Result(x != 0.0, (0, 1))
    if after == "int" and before == "float":
        truncated = functions.sign(x) * functions.floor(functions.absolute(x))
        return Result(truncated, range_of(dtype))
    if after == "float" and before == "float" and str(dtype) != str(value.dtype):
        equation.assume("numbers are not rounded where floats change their width")
    if after == "int" and before == "int":
        least, greatest = range_of(dtype)
        if value.low < least or value.high > greatest:
            raise equation.fault(
                f"expected whole numbers within {dtype}, found {value.low} to {value.high}; give smaller formats"
            )
    return Value(x, dtype, value.low, value.high, value.columns, value.spread)
