"""Elementwise operations that take no register, as Verilog expressions of exactly as many bits as the result has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    IsNegative,
    Maximum,
    Multiply,
    ReLU,
    Scale,
    Select,
    Shift,
    Subtract,
)
from circuitize.circuits.operation import Operation

from ..signals import Signal, literal, signed_width

if TYPE_CHECKING:
    from .datapath import Datapath, Moment

Write = Callable[["Datapath", Operation, Sequence[Signal], Signal, "Moment"], str]


def _add(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    sign = "-" if isinstance(operation, Subtract) else "+"
    return f" {sign} ".join(path.bits(source, target.width) for source in sources)


def _multiply(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    gate, other = sources if sources[0].low >= 0 and sources[0].high <= 1 else reversed(sources)
    return f"{{{target.width}{{{path.bits(gate, 1)}}}}} & {path.bits(other, target.width)}"


def _scale(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Scale)
    (x,) = sources
    zeros = abs(operation.factor).bit_length() - 1
    kept = target.width - zeros
    shifted = f"{{{path.bits(x, kept)}, {zeros}'d0}}" if zeros else path.bits(x, kept)
    return shifted if operation.factor > 0 else f"{target.width}'d0 - {shifted}"


def _relu(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    (x,) = sources
    if not x.signed:
        return path.bits(x, target.width)
    return f"{{{target.width}{{~{x.name}[{x.width - 1}]}}}} & {path.bits(x, target.width)}"


def _shift(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Shift)
    (x,) = sources
    path.drop(x)
    kept = x.width - operation.bits
    if kept <= 0:
        return f"{{{target.width}{{{x.name}[{x.width - 1}]}}}}" if x.signed else f"{target.width}'d0"
    return f"{x.name}[{x.width - 1}:{operation.bits}]"


def _negative(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    (x,) = sources
    path.drop(x)
    return f"{x.name}[{x.width - 1}]"


def _outside(path: Datapath, x: Signal, low: int, high: int) -> tuple[str, str]:
    """Return the conditions that x is below `low` and that x is above `high`; a condition that can never hold
    is empty.
    """
    bits = max(signed_width(x.low, x.high), signed_width(low, high))
    below = f"({path.signed(x, bits)} < {literal(low, bits)})" if x.low < low else ""
    return below, f"({path.signed(x, bits)} > {literal(high, bits)})" if x.high > high else ""


def _check(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Check)
    (x,) = sources
    conditions = [c for c in _outside(path, x, operation.low, operation.high) if c]
    if conditions:
        fail = Signal(f"{target.name}_fail", 0, 1)
        path.lines.append(f"  wire [0:0] {fail.name} = {' | '.join(conditions)};")
        path.fail(fail, moment)
    return path.bits(x, target.width)


def _clamp(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    assert isinstance(operation, Clamp)
    (x,) = sources
    below, above = _outside(path, x, operation.low, operation.high)
    mask = (1 << target.width) - 1
    text = path.bits(x, target.width)
    text = f"{above} ? {target.width}'d{operation.high & mask} : {text}" if above else text
    return f"{below} ? {target.width}'d{operation.low & mask} : {text}" if below else text


def _select(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    condition, x, y = sources
    return f"{path.bits(condition, 1)} ? {path.bits(x, target.width)} : {path.bits(y, target.width)}"


def _maximum(path: Datapath, operation: Operation, sources: Sequence[Signal], target: Signal, moment: Moment) -> str:
    x, y = sources
    bits = max(signed_width(s.low, s.high) for s in sources)
    larger = f"({path.signed(x, bits)} > {path.signed(y, bits)})"
    return f"{larger} ? {path.bits(x, target.width)} : {path.bits(y, target.width)}"


PLAIN: Mapping[type[Operation], Write] = {
    Add: _add,
    Subtract: _add,
    Multiply: _multiply,
    Scale: _scale,
    ReLU: _relu,
    Shift: _shift,
    IsNegative: _negative,
    Check: _check,
    Clamp: _clamp,
    Select: _select,
    Maximum: _maximum,
}
