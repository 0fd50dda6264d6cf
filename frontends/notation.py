"""Formats as texts of high-level synthesis, `ap_fixed<8,3,AP_RND,AP_SAT>`, for a whole tensor, for its channels or for
its elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import Quantize
from circuitize.circuits.errors import CircuitizeError, excerpt

from .formats import Format
from .functions import maximum, minimum, rescaled
from .tensor import Tensor, apply

Integers = NDArray[np.int64]

ROUNDINGS = {
    "TRN": "floor",
    "TRN_ZERO": "zero",
    "RND": "half up",
    "RND_MIN_INF": "half down",
    "RND_INF": "half away",
    "RND_ZERO": "half zero",
    "RND_CONV": "half even",
}
OVERFLOWS = {"WRAP": "wrap", "SAT": "saturate", "SAT_SYM": "saturate"}
FIXED = re.compile(r"(?:ap_|ac_)?(u?)fixed<(\d+),([+-]?\d+)(?:,(\w+))?(?:,(\w+))?(?:,0)?>")
WHOLE = re.compile(r"(?:ap_|ac_)?(u?)int<(\d+)>")
MOST_BITS = 60
EXPECTED = "ap_fixed<W,I>, ufixed<W,I,RND_CONV,SAT>, int<W> or a Format"


@dataclass(frozen=True, eq=False)
class Stated:
    """The formats of a tensor's elements: whole numbers within [low, high] in units of 2^-fraction_bits, with one
    rounding and overflow rule for all elements.

    The three arrays of a tensor's formats have one shape, which broadcasts to the tensor's: it has no axes if all
    elements have the same format.
    """

    fraction_bits: Integers
    low: Integers
    high: Integers
    rounding: str = "half even"
    overflow: str = "saturate"

    @property
    def width(self) -> int:
        """Return how many bits the widest element of a tensor's formats has."""
        least, most = int(self.low.min()), int(self.high.max())
        return max(most.bit_length(), (-least - 1).bit_length() if least < 0 else 0) + (least < 0)


def stated(given: object, where: str) -> Stated:
    """Return the format that a text or a `Format` names, or the formats that an array of texts names, which broadcast
    as numpy's arrays do.

    A format's text without modes means truncation and no wrapping: high-level synthesis would let values wrap, while
    circuitize refuses to compile a text whose interval does not show that nothing wraps. Raise CircuitizeError, with a
    message that begins with `where`, for a value that is no format, for more than 60 bits, and for elements with
    different rules.
    """
    texts = given if isinstance(given, np.ndarray) else np.empty((), object)
    if not isinstance(given, np.ndarray):
        if isinstance(given, (list, tuple)):
            texts = _array(given, where)
        else:
            texts[()] = given
    if not texts.size:
        raise CircuitizeError(f"{where}: expected a format for each element, found none; write {EXPECTED}")
    distinct = list({_key(entry): entry for entry in texts.reshape(-1)}.values())
    places = {_key(entry): place for place, entry in enumerate(distinct)}
    every = np.array([places[_key(entry)] for entry in texts.reshape(-1)], np.int64).reshape(texts.shape)
    read = [_one(entry, where) for entry in distinct]
    rules = {rules for _, rules in read}
    if len(rules) > 1:
        raise CircuitizeError(
            f"{where}: expected one rule for all elements, found {len(rules)}; give all the same modes"
        )
    formats = np.array([(f.fraction_bits, f.low, f.high) for f, _ in read], np.int64)
    bits, low, high = (formats[every, column] for column in range(3))
    return Stated(bits, low, high, *rules.pop())


def formatted(x: Tensor, given: Stated) -> Tensor:
    """Return x rounded once to the given formats, from all its bits; the derivative is the straight-through estimate
    where nothing saturates.

    Before rounding, elements of different fraction bits are scaled to whole numbers by powers of two, which is exact;
    afterwards they are scaled back. Raise CircuitizeError if the formats do not broadcast to x, and if their ends
    differ among elements and do not saturate.
    """
    try:
        np.broadcast_to(given.low, x.shape)
    except ValueError:
        raise CircuitizeError(
            f"expected formats that broadcast to {list(x.shape)}, found {list(given.low.shape)}; give one a "
            "channel, or one an element"
        ) from None
    bits, low, high = (entry if entry.min() < entry.max() else entry.flat[:1].reshape(()) for entry in _fields(given))
    if (low.ndim or high.ndim) and given.overflow != "saturate":
        raise CircuitizeError(
            f"expected formats of elements that saturate, found ends that differ and {given.overflow}; add AP_SAT"
        )
    units = 0 if bits.ndim else int(bits)
    whole = rescaled(x, np.ldexp(1.0, bits)) if bits.ndim else x
    ends = int(low.min()), int(high.max())
    made = apply(Quantize(units, *ends, given.rounding, given.overflow), whole)
    if low.ndim:
        made = maximum(made, made.constant(np.ldexp(low.astype(np.float64), -units)))
    if high.ndim:
        made = minimum(made, made.constant(np.ldexp(high.astype(np.float64), -units)))
    return rescaled(made, np.ldexp(1.0, -bits)) if bits.ndim else made


def _fields(given: Stated) -> tuple[Integers, Integers, Integers]:
    return given.fraction_bits, given.low, given.high


def _array(given: list[object] | tuple[object, ...], where: str) -> NDArray[np.object_]:
    """Return nested lists as an array. Raise CircuitizeError if the nested lists of formats are ragged."""

    def shape(entry: object) -> tuple[int, ...]:
        return (len(entry), *(shape(entry[0]) if entry else ())) if isinstance(entry, (list, tuple)) else ()

    made = np.empty(shape(given), object)
    try:
        flat: list[object] = list(given)
        for _ in range(made.ndim - 1):
            flat = [entry for part in flat for entry in part]  # type: ignore[attr-defined]
        made.reshape(-1)[:] = flat
    except (TypeError, ValueError):
        raise CircuitizeError(f"{where}: expected lists of equal lengths, found ragged ones; correct them") from None
    return made


def _key(entry: object) -> object:
    return entry if isinstance(entry, (str, Format)) else id(entry)


def _one(entry: object, where: str) -> tuple[Format, tuple[str, str]]:
    """Return the format that a text names, with its rules for rounding and for overflow."""
    if isinstance(entry, Format):
        return entry, ("half even", "saturate")
    text = entry.replace(" ", "").replace("AP_", "").replace("AC_", "") if isinstance(entry, str) else ""
    found, whole = FIXED.fullmatch(text), WHOLE.fullmatch(text)
    if not found and not whole:
        raise CircuitizeError(f"{where}: expected {EXPECTED}, found {excerpt(entry)}; write it so")
    unsigned, width, integer, rounding, overflow = found.groups() if found else (*whole.groups(), None, None, None)  # type: ignore[union-attr]
    bits = int(width)
    if not 1 <= bits <= MOST_BITS:
        raise CircuitizeError(f"{where}: expected 1 to {MOST_BITS} bits, found {bits} in {entry}; give another width")
    for kind, name, known in (("rounding", rounding, ROUNDINGS), ("overflow", overflow, OVERFLOWS)):
        if name is not None and name not in known:
            raise CircuitizeError(
                f"{where}: expected a mode of {kind} among AP_{', AP_'.join(known)}, found {name}; write one of these"
            )
    fraction = bits - int(integer) if found else 0
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if overflow == "SAT_SYM" and not unsigned:
        low = -high
    return Format(fraction, low, high), (ROUNDINGS[rounding or "TRN"], OVERFLOWS[overflow or "WRAP"])
