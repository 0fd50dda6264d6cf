"""A program: an arrow with a name, a visibility and an exact format for everything that enters and leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError, TypingError
from .hypergraph import Arrow
from .lowering import Precision
from .types import Array, Fixed


class Visibility(Enum):
    """Who learns a value: everyone; nobody; nobody, but it is bound by a commitment that other proofs can name."""

    PUBLIC = "public"
    PRIVATE = "private"
    COMMITTED = "committed"


class Role(Enum):
    """What a value is to a training run: what is fed to it, what it keeps, or a number that a schedule sets.

    DATA comes in or goes out with each run. A PARAMETER, the state of an OPTIMIZER and the STATE that a model keeps are
    held: they stay the same from run to run, but for an output of the same name. A SCALAR is given for each step.
    """

    DATA = "data"
    PARAMETER = "parameter"
    OPTIMIZER = "optimizer"
    STATE = "state"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output: its name, who learns it, its exact integer format, and its role. The digest holds all four.

    An output of a real program may leave the format open (None): calibration chooses it.
    """

    name: str
    visibility: Visibility
    format: Fixed | None = None
    role: Role = Role.DATA

    @property
    def held(self) -> bool:
        """Whether the value stays from run to run, but for an output of the same name: hardware keeps it in memory."""
        return self.role in (Role.PARAMETER, Role.OPTIMIZER, Role.STATE)


@dataclass(frozen=True)
class Program:
    """An arrow of either language with its ports, and example inputs (real values) to calibrate and demonstrate with.

    `examples` holds batches: each maps every input's name to an array of real values. They are not part of the digest.
    A batch may also hold answers under the names of outputs that are not inputs: what the data says is right there, a
    label for instance. Nothing is calibrated with them; `circuitize simulate` counts how often the program agrees.
    """

    arrow: Arrow
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    examples: tuple[Mapping[str, NDArray[np.float64]], ...] = field(default=(), repr=False)
    precision: Precision = field(default_factory=Precision)

    def __post_init__(self) -> None:
        for side, ports, types in (
            ("input", self.inputs, self.arrow.source),
            ("output", self.outputs, self.arrow.target),
        ):
            if len(ports) != len(types):
                raise TypingError(f"expected one {side} port per wire ({len(types)}), found {len(ports)} ports")
            names = [port.name for port in ports]
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise TypingError(f"expected distinct {side} names, found {twice!r} twice; rename one")
            for port, type in zip(ports, types, strict=True):
                if port.format is None:
                    if side == "input":
                        raise TypingError(
                            f"expected a format for input {port.name!r}, found none; give bits and fraction bits"
                        )
                elif port.format.shape != type.shape or (isinstance(type, Fixed) and port.format != type):
                    raise TypingError(f"expected {side} {port.name!r} of type {type}, found format {port.format}")

    @property
    def is_integer(self) -> bool:
        """Whether this is a program of the integer language."""
        types = self.arrow.source + self.arrow.target
        return all(isinstance(type, Fixed) for type in types)

    def binds(self) -> bool:
        """Whether a proof of this program says anything: some input and some output are public or committed."""
        return all(
            any(port.visibility is not Visibility.PRIVATE for port in ports) for ports in (self.inputs, self.outputs)
        )

    def with_visibility(self, **visibilities: Visibility) -> Program:
        """The same program with other visibilities, by port name (an input and an output may share a name)."""
        known = {port.name for port in self.inputs + self.outputs}
        for name in visibilities:
            if name not in known:
                raise CircuitizeError(f"expected a port name among {sorted(known)}, found {name!r}")

        def changed(ports: tuple[Port, ...]) -> tuple[Port, ...]:
            return tuple(replace(p, visibility=visibilities.get(p.name, p.visibility)) for p in ports)

        return replace(self, inputs=changed(self.inputs), outputs=changed(self.outputs))


def to_integers(port: Port, values: Any, where: str) -> NDArray[np.int64]:
    """Real values in a port's format, each rounded once, half to even; arrays of integer dtype are taken as they are.

    Raises CircuitizeError, naming the input, the element and the remedy, for a wrong shape, a NaN, an infinity or a
    value outside the format.
    """
    format = port.format
    assert format is not None
    array = np.asarray(values)
    if array.shape != format.shape:
        raise CircuitizeError(
            f"{where}: expected input {port.name!r} of shape {list(format.shape)}, "
            f"found {list(array.shape)}; reshape it"
        )
    if array.dtype.kind in "iub":
        scaled = array.astype(np.int64)
        if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise CircuitizeError(
                f"{where}: input {port.name!r} holds {int(array.max())}, past 64 bits; give smaller values"
            )
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            at = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise CircuitizeError(
                f"{where}: expected finite numbers in input {port.name!r}, found {array[at]} at element {list(at)}; "
                "clean the data"
            )
        with np.errstate(over="ignore"):
            rounded = np.rint(np.ldexp(array.astype(np.float64), format.fraction_bits))
        scaled = np.clip(rounded, -(2.0**62), 2.0**62).astype(np.int64)
    else:
        raise CircuitizeError(
            f"{where}: expected numbers in input {port.name!r}, found dtype {array.dtype}; convert it"
        )
    outside = (scaled < format.low) | (scaled > format.high)
    if outside.any():
        at = tuple(int(i) for i in np.argwhere(outside)[0])
        unit, kind = (2.0**-format.fraction_bits, "") if array.dtype.kind == "f" else (1, " as integers")
        raise CircuitizeError(
            f"{where}: expected input {port.name!r}{kind} in [{format.low * unit:.10g}, {format.high * unit:.10g}], "
            f"found {array[at]} at element {list(at)}; rescale it or widen the input's format"
        )
    return scaled


def to_reals(format: Fixed, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """The real values that integers of a format stand for."""
    return np.ldexp(values.astype(np.float64), -format.fraction_bits)


def array_type(port: Port) -> Array:
    assert port.format is not None
    return Array(port.format.shape)
