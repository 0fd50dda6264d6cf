"""The edges of a statement as the rules of its operations read them, and the checks of a statement's form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .forms import Form
from .refusal import Refused
from .symbols import Symbols

Json = dict[str, Any]
Elements = NDArray[Any]
"""An array of forms, in the shape of a tensor."""

MOST_ELEMENTS = 1 << 24
"""The most elements of a tensor of a statement."""

MOST_BITS = 4096
"""The most bits by which an operation of a statement shifts or wraps."""


@dataclass
class Stated:
    """The evaluation of a statement: each wire's elements, the inputs as they enter, and the conditions under which a
    frame has no value.

    For each check that may fail, `failures` has a form that is 1 where the check fails, and the number of the check.
    """

    wires: list[Elements]
    entering: list[list[Form]]
    failures: list[tuple[Form, int]]


def required(made: Stated, symbols: Symbols, form: Form, low: int, high: int) -> Form:
    """Return the form of a number after a check; if the check may fail, its failure is recorded."""
    kept, failed, number = symbols.checked(form, low, high)
    if number >= 0:
        made.failures.append((failed, number))
    return kept


@dataclass
class Edge:
    """An edge of a statement that is being evaluated: its numbers, and the checks that it records."""

    made: Stated
    symbols: Symbols
    given: Json

    def require(self, x: Elements, low: int, high: int) -> Elements:
        """Return the elements of a wire after a check; a frame in which an element is outside the check's interval has
        no value.
        """
        return filled(x.shape, (required(self.made, self.symbols, form, low, high) for form in x.flat))

    def each(self, function: Callable[..., Form], *values: Elements) -> Elements:
        """Return the results of a function on the corresponding elements of arrays of one shape."""
        if any(value.shape != values[0].shape for value in values):
            raise Refused("operands of different shapes")
        return filled(values[0].shape, map(function, *(value.flat for value in values)))


def filled(shape: Sequence[int], forms: Iterable[Form]) -> Elements:
    """Return an array of the given shape that has the given forms in row-major order."""
    made: Elements = np.empty(math.prod(shape), object)
    for place, form in enumerate(forms):
        made[place] = form
    return made.reshape(shape)


def require_form(statement: Json) -> None:
    """Raise Refused if a number in a statement is no integer, if a shape is no list of extents, if a tensor or a number
    of bits is too large to be evaluated, or if two inputs or two outputs have the same name.
    """
    _require_whole(statement)
    for part in (part for key in ("inputs", "edges", "outputs") for part in statement[key]):
        if not all(type(extent) is int and extent >= 0 for extent in part["shape"]):
            raise Refused(f"expected a shape of extents from 0 up, found {part['shape']}")
        if math.prod(part["shape"]) > MOST_ELEMENTS:
            raise Refused(f"expected at most {MOST_ELEMENTS} elements of a tensor, found the shape {part['shape']}")
    for side in ("inputs", "outputs"):
        names = [port["name"] for port in statement[side]]
        if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
            raise Refused(f"expected {side} with a name each, found {names}")


def _require_whole(value: Json) -> None:
    """Raise Refused if a number in a statement is no integer, or a number of bits is too large."""
    if isinstance(value, float):
        raise Refused(f"expected integers in a statement, found {value}")
    if isinstance(value, dict) and isinstance(bits := value.get("bits", 0), int) and bits > MOST_BITS:
        raise Refused(f"expected a shift or a wrap by at most {MOST_BITS} bits, found {bits}")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_whole(inner)
