"""The values of ports: real numbers as a user gives them, and the integers that they become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError
from .operation import Values
from .port import Port, Role
from .shapes import remedy as shape_remedy
from .types import LIMIT, Fixed


@dataclass(frozen=True, eq=False, slots=True)
class Raw:
    """An array of integers of a port's format, given where real values are expected: q stands for q * 2^-fraction_bits.

    Values given for an input other than `Raw` are real values, even arrays of integers. Raise CircuitizeError for a Raw
    of anything but integers. A Raw is no array itself, so that nothing takes its integers for real values.
    """

    array: NDArray[np.int64]

    def __post_init__(self) -> None:
        found = np.asarray(self.array)
        if found.dtype.kind not in "iu":
            raise CircuitizeError(
                f"expected integers, found dtype {found.dtype}; make them of real values with to_integers"
            )
        if found.dtype.kind == "u" and found.size and int(found.max()) > np.iinfo(np.int64).max:
            raise CircuitizeError(f"Raw: found {int(found.max())}, past 64 bits; give smaller values")
        object.__setattr__(self, "array", found.astype(np.int64))


Given: TypeAlias = object
"""A value given for a port: real values as numpy takes them, or `Raw` integers; the value is checked when it is used.
"""


def raw(values: Mapping[str, NDArray[np.int64] | Raw]) -> dict[str, Raw]:
    """Mark the integers that a program's run gives, by name, as raw, so that another run can take them as inputs."""
    return {name: array if isinstance(array, Raw) else Raw(array) for name, array in values.items()}


def to_integers(port: Port[Fixed], values: Given, where: str) -> NDArray[np.int64]:
    """Return the integers of real values in a port's format, each rounded once, half to even; the integers of a Raw
    array are taken unchanged.

    A number means the same whatever its dtype: a given value 1 is the same as 1.0. Raise CircuitizeError, naming the
    input, the element and the remedy, for values of a wrong shape, a NaN, an infinity or a value outside the format.
    """
    format = port.format
    array = numbers(port, values, where)
    if array.shape != format.shape:
        raise CircuitizeError(
            f"{where}: expected input {port.name!r} of shape {list(format.shape)}, "
            f"found {list(array.shape)}; {shape_remedy(format.shape, array.shape, port.role is Role.DATA)}"
        )
    if isinstance(values, Raw):
        scaled = array
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            at = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise CircuitizeError(
                f"{where}: expected finite numbers in input {port.name!r}, found {array[at]} at element {list(at)}; "
                "clean the data"
            )
        wide = array.astype(np.result_type(array.dtype, np.float64))
        with np.errstate(over="ignore", under="ignore"):
            rounded = np.rint(np.ldexp(wide, format.fraction_bits))
        scaled = np.clip(rounded, -(2.0**62), 2.0**62).astype(np.int64)
    else:
        scaled = _scaled(array, format.fraction_bits)
    outside = (scaled < format.low) | (scaled > format.high)
    if outside.any():
        at = tuple(int(i) for i in np.argwhere(outside)[0])
        exact = isinstance(values, Raw)
        unit, kind = (1.0, " as integers") if exact else (2.0**-format.fraction_bits, "")
        remedy = "rescale it or widen the input's format"
        if array.dtype.kind in "iu" and not exact and format.low <= int(array[at]) <= format.high:
            remedy += ", or say that these are integers of the format: Raw(array), --raw-inputs"
        raise CircuitizeError(
            f"{where}: expected input {port.name!r}{kind} in [{format.low * unit:.10g}, {format.high * unit:.10g}], "
            f"found {array[at]} at element {list(at)}; {remedy}"
        )
    return scaled


def numbers(port: Port[Fixed | None], values: Given, where: str = "") -> Values:
    """Return the values given for an input, Raw or not, as an array of numbers.

    Raise CircuitizeError if the values of an input are ragged or are not all numbers.
    """
    start = f"{where}: " if where else ""
    try:
        array = values.array if isinstance(values, Raw) else np.asarray(values)
    except ValueError:
        raise CircuitizeError(
            f"{start}expected an array for input {port.name!r}, found rows of different lengths; even them out"
        ) from None
    if array.dtype.kind not in "iufb":
        raise CircuitizeError(f"{start}expected numbers in input {port.name!r}, found dtype {array.dtype}; convert it")
    return array


def _scaled(array: Values, fraction_bits: int) -> NDArray[np.int64]:
    """Return whole numbers times 2^fraction_bits, rounded half to even; a number that passes 2^62 becomes 2^62. Scaling
    whole numbers by 2^fraction_bits is exact for integers of 64 bits.
    """
    whole = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    if fraction_bits >= 0:
        most = LIMIT >> min(fraction_bits, 63)
        least = -most if whole.dtype.kind == "i" else 0
        inside = (whole >= least) & (whole <= most)
        scaled = np.where(inside, whole, 0).astype(np.int64) << min(fraction_bits, 62)
        return np.where(inside, scaled, np.where(whole > 0, LIMIT, -LIMIT))
    if fraction_bits < -64:
        return np.zeros(whole.shape, np.int64)
    shift, one = whole.dtype.type(-fraction_bits - 1), whole.dtype.type(1)
    halves = whole >> shift
    later = (halves << shift) != whole
    quotient, odd = halves >> one, (halves & one) == one
    up = odd & (later | ((quotient & one) == one))
    whole_part: NDArray[np.int64] = np.where(quotient >= LIMIT, LIMIT, quotient).astype(np.int64)
    return np.asarray(whole_part + up, np.int64)


def to_reals(format: Fixed, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the real values that integers of a format stand for, or the nearest float64 for those with more than 53
    significant bits.
    """
    return np.ldexp(values.astype(np.float64), -format.fraction_bits)
