"""The view of a jaxpr's equation that translation rules have, and the table of rules, which says what each JAX
primitive means in real arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import Constant
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.formats import ONE_HOT, Format
from circuitize.frontends.provenance import current
from circuitize.frontends.tensor import Tensor

from .jaxprs import Jaxpr
from .raised import References
from .value import Interval, Key, Value, kind, range_of

FINITE = "all numbers are finite, so what stands only for NaN is left out"


class Result(NamedTuple):
    """The result of a translation rule: a wire, the interval of its whole numbers, and, as in `Value`, the parts that
    were joined into it.
    """

    content: Tensor
    interval: Interval | None = None
    columns: tuple[Value, ...] = ()
    spread: tuple[Value, tuple[int, ...]] | None = None


class Call(NamedTuple):
    """A jaxpr that is to be run on values: the rule of a primitive that holds jaxprs is a generator, and yields such
    calls.
    """

    jaxpr: Jaxpr
    constants: Sequence[Value]
    arguments: Sequence[Value]
    place: tuple[str, int] = ("", 0)
    label: str = ""


Operand: TypeAlias = "Tensor | float | NDArray[np.float64]"
"""What an operator of tensors takes beside a tensor."""
Made: TypeAlias = Result | Tensor | Value
Calls: TypeAlias = Generator[Call, "list[Value]", "list[Value]"]


@dataclass(frozen=True)
class Rule:
    """The translation of a JAX primitive; `moves` says that each whole number in the result is an element of an
    operand, or zero.
    """

    function: Callable[[Equation], Made | Sequence[Made]]
    meaning: str
    moves: bool = False


RULES: dict[str, Rule] = {}
CALLS: dict[str, tuple[Callable[[Equation], Calls], str]] = {}


def primitive(
    *names: str, meaning: str, moves: bool = False
) -> Callable[[Callable[[Equation], Made | Sequence[Made]]], Callable[[Equation], Made | Sequence[Made]]]:
    """Register a translation rule for JAX primitives of the given names; `meaning` is the text in the documentation's
    table.
    """

    def register(
        function: Callable[[Equation], Made | Sequence[Made]],
    ) -> Callable[[Equation], Made | Sequence[Made]]:
        RULES.update((name, Rule(function, meaning, moves)) for name in names)
        return function

    return register


def calling(*names: str, meaning: str) -> Callable[[Callable[[Equation], Calls]], Callable[[Equation], Calls]]:
    """Register a generator as the rule of JAX primitives that hold jaxprs: it yields calls, and returns the equation's
    results.
    """

    def register(function: Callable[[Equation], Calls]) -> Callable[[Equation], Calls]:
        CALLS.update((name, (function, meaning)) for name in names)
        return function

    return register


@dataclass(frozen=True)
class Draw:
    """An input that stands for random numbers: a `mask` of 0 and 1, `uniform` numbers between bounds, or `normal`
    numbers.
    """

    name: str
    word: str
    shape: Shape
    bounds: tuple[float, ...]
    """The probability that a drawn mask is 1, or the bounds between which uniform numbers lie."""

    @property
    def format(self) -> Format:
        """Return the format of the random numbers: for a mask 0 and 1, else a format with 8 fraction bits and a range
        that holds the bounds of uniform numbers, or normal numbers up to 8.
        """
        if self.word == "mask":
            return ONE_HOT
        greatest = max(1.0, *map(abs, self.bounds)) if self.word == "uniform" else 8.0
        return Format.signed(10 + int(np.ceil(np.log2(greatest))), 8)

    def drawn(self, generator: np.random.Generator) -> NDArray[np.float64]:
        """Draw random numbers of the kind that this input stands for."""
        if self.word == "normal":
            return generator.normal(size=self.shape)
        numbers = generator.random(self.shape)
        if self.word == "mask":
            return (numbers < self.bounds[0]).astype(np.float64)
        low, high = self.bounds
        return low + numbers * (high - low)


@dataclass
class Context:
    """The context of one translation: the arrow under construction, the draws, and the assumptions that were made."""

    jax: ModuleType
    builder: Builder
    draws: dict[tuple[object, ...], Draw] = field(default_factory=dict)
    """The draws of a function, by the key's origin and the kind of numbers drawn: a draw that is computed again is the
    same input.
    """
    wires: dict[str, Tensor] = field(default_factory=dict)
    assumptions: dict[str, bool] = field(default_factory=dict)
    """The assumptions of a translation, each with the line that asks for it, and whether a user is to be warned of it.
    """
    equations: int = 0
    raises: bool = False
    """Whether functions that circuitize has as operations are recognised in the jaxpr; they are recognised if
    circuitize takes the derivative. JAX's own derivative of some functions reads intermediate results of their
    definitions.
    """
    references: References = field(default_factory=References)
    folders: tuple[str, ...] = ()
    """The folders of packages whose frames are not the user's code."""

    def draw(self, origin: tuple[object, ...], word: str, shape: Shape, bounds: tuple[float, ...]) -> Tensor:
        """Return the input that stands for the numbers drawn with a key."""
        found = self.draws.get(origin)
        if found is None:
            number = 1 + sum(draw.word == word for draw in self.draws.values())
            found = self.draws[origin] = Draw(f"{word}{number}", word, shape, bounds)
            self.wires[found.name] = Tensor(self.builder, self.builder.input(Array(shape)))
        return self.wires[found.name]


@dataclass(frozen=True)
class Equation:
    """An equation of a jaxpr: its primitive, its operands, its parameters, and the shapes and element types of its
    results.
    """

    context: Context
    name: str
    inputs: tuple[Value, ...]
    parameters: Mapping[str, Any]
    shapes: tuple[Shape, ...]
    dtypes: tuple[object, ...]
    place: str

    def __getitem__(self, name: str) -> Any:
        """Return a parameter of the primitive of a jaxpr's equation."""
        return self.parameters[name]

    def tensor(self, index: int = 0) -> Tensor:
        """Return an operand of a jaxpr's equation as a wire: a known operand becomes a constant. Raise CircuitizeError
        if an operand of a jaxpr's equation is not finite.
        """
        value = self.inputs[index]
        content = value.content
        if isinstance(content, Tensor):
            return content
        return self.constant(value.array()) if value.known else self._no_key()

    def operand(self, index: int) -> Operand:
        """Return an operand of a jaxpr's equation as a wire, or as a value that an operator takes together with a wire:
        a number if all elements are equal.
        """
        value = self.inputs[index]
        number = value.uniform()
        if number is not None:
            return self.finite(number)
        return value.array().astype(np.float64) if value.known else self.tensor(index)

    def finite(self, number: float) -> float:
        """Return a number that is known while tracing, if it is finite. Raise CircuitizeError, with the place in the
        user's code, if the number is NaN or infinite.
        """
        if not np.isfinite(number):
            raise self.fault(f"expected finite numbers, found {number}; clip it, or take it out")
        return number

    def constant(self, array: object) -> Tensor:
        """Return an array that is known while tracing as a constant. Raise CircuitizeError, with the place in the
        user's code, if the array holds NaN or infinity.
        """
        found = np.asarray(array).astype(np.float64)
        if not np.isfinite(found).all():
            raise self.fault("expected finite numbers, found NaN or infinity in an array known now; take them out")
        builder = self.context.builder
        builder.provenance = current()
        return Tensor(builder, builder.add(Constant.of(found)))

    def known(self, index: int, what: str) -> NDArray[np.generic]:
        """Return the value of an operand of a jaxpr's equation that must be known while tracing. Raise CircuitizeError
        if an operand of a jaxpr's equation is not known while tracing.
        """
        value = self.inputs[index]
        if not value.known:
            raise self.fault(f"expected {what} known when the function is traced, found one that is computed")
        return value.array()

    def assume(self, text: str, warned: bool = False) -> None:
        """Record an assumption, with the line in the user's code that needs it."""
        self.context.assumptions.setdefault(f"{self.place}: {text}", warned)

    def fault(self, message: str) -> CircuitizeError:
        """Return an error that names the place in the user's code and the JAX primitive."""
        return CircuitizeError(f"{self.place}: {self.name}: {message}")

    def _no_key(self) -> Tensor:
        raise self.fault(
            "expected numbers, found a key of random numbers whose draws are unknown; draw with bernoulli, uniform or "
            "normal of jax.random, which become inputs"
        )


def values_of(equation: Equation, rule: Rule, made: Made | Sequence[Made]) -> list[Value]:
    """Return the results of a translation rule with their element types and intervals. Raise CircuitizeError if whole
    numbers in the results of a translation rule would wrap.
    """
    several = [made] if isinstance(made, (Result, Tensor, Value)) else list(made)
    values = []
    for one, shape, dtype in zip(several, equation.shapes, equation.dtypes, strict=True):
        if isinstance(one, Value):
            values.append(one)
            continue
        result = Result(one) if isinstance(one, Tensor) else one
        content = result.content
        if content.shape != shape:
            content = content.broadcast(shape)
        low, high = _interval(equation, rule, result.interval, dtype)
        values.append(Value(content, dtype, low, high, result.columns, result.spread))
    return values


def _interval(equation: Equation, rule: Rule, found: Interval | None, dtype: object) -> Interval:
    if kind(dtype) not in ("int", "bool"):
        return 0, 0
    least, greatest = range_of(dtype)
    if found is None and rule.moves:
        alike = [v.interval for v in equation.inputs if v.kind == kind(dtype) and not isinstance(v.content, Key)]
        found = min([0, *(low for low, _ in alike)]), max([0, *(high for _, high in alike)])
    low, high = found or (least, greatest)
    if low < least or high > greatest:
        raise equation.fault(
            f"expected whole numbers that do not wrap in {dtype}, found them from {low} to {high}; give smaller "
            "formats of the whole numbers that come in"
        )
    return low, high
