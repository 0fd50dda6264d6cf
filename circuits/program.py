"""A program: an arrow with a name, a visibility and an exact format for everything that enters and leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError, TypingError, excerpt
from .hypergraph import Arrow
from .lowering import Precision
from .operation import Values
from .shapes import remedy as shape_remedy
from .summary import program_short, program_table
from .types import LIMIT, Fixed


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


Choice = TypeVar("Choice", bound=Enum)


def _choice(kind: type[Choice], given: object, what: str) -> Choice:
    """The member that is given, or whose value is: anything else binds nothing, and would do so in silence."""
    try:
        return kind(given)
    except ValueError:
        choices = [member.value for member in kind]
        raise TypingError(f"expected {what} among {choices}, found {given!r}; choose one of these") from None


Format = TypeVar("Format", bound=Fixed | None, covariant=True)


@dataclass(frozen=True)
class Port(Generic[Format]):
    """One input or output: its name, who learns it, its exact integer format, and its role. The digest holds all four.

    An output of a real program may leave the format open (None): calibration chooses it. Visibility and role may be
    given as the words that they stand for ("public", "state"). Raises TypingError for anything else.
    """

    name: str
    visibility: Visibility
    format: Format = None  # type: ignore[assignment]  # Only where it may be open: see the overloads.
    role: Role = Role.DATA

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Port[None], name: str, visibility: Visibility | str, format: None = None, role: Role | str = Role.DATA
        ) -> None: ...
        @overload
        def __init__(
            self, name: str, visibility: Visibility | str, format: Format, role: Role | str = Role.DATA
        ) -> None: ...
        def __init__(self, *_: object, **__: object) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "visibility", _choice(Visibility, self.visibility, f"the visibility of {self.name!r}"))
        object.__setattr__(self, "role", _choice(Role, self.role, f"the role of {self.name!r}"))

    @property
    def held(self) -> bool:
        """Whether the value stays from run to run, but for an output of the same name: hardware keeps it in memory."""
        return self.role in (Role.PARAMETER, Role.OPTIMIZER, Role.STATE)

    def of(self, format: Fixed) -> Port[Fixed]:
        """The same port, of this format."""
        return Port(self.name, self.visibility, format, self.role)


@dataclass(frozen=True, repr=False)
class Program:
    """An arrow with its ports, and example inputs (real values) to calibrate and demonstrate with.

    The arrow is of reals, or of integers: see `IntegerProgram`, which `quantize` makes of either.

    `examples` holds batches: each maps every input's name to an array of real values, whatever its dtype. They are not
    part of the digest.
    A batch may also hold answers under the names of outputs that are not inputs: what the data says is right there, a
    label for instance. Nothing is calibrated with them; `circuitize simulate` counts how often the program agrees.
    """

    arrow: Arrow
    inputs: tuple[Port[Fixed], ...]
    outputs: tuple[Port[Fixed | None], ...]
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
            for name in names:
                if not (isinstance(name, str) and name and name.isprintable()):
                    raise TypingError(
                        f"expected {side} names of printable characters, at least one, found {excerpt(name)}; rename it"
                    )
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise TypingError(f"expected distinct {side} names, found {twice!r} twice; rename one")
            for port, type in zip(ports, types, strict=True):
                if port.format is None:
                    if side == "input":
                        raise TypingError(
                            f"expected a format for input {port.name!r}, found none; give bits and fraction bits"
                        )
                elif not isinstance(port.format, Fixed):
                    raise TypingError(
                        f"expected {side} {port.name!r} with a format of a shape, found {port.format}; write "
                        f"format.of({type.shape})"
                    )
                elif port.format.shape != type.shape or (isinstance(type, Fixed) and port.format != type):
                    raise TypingError(
                        f"expected {side} {port.name!r} of type {type}, found format {port.format}; "
                        f"give one of shape {list(type.shape)}"
                    )
        for number, batch in enumerate(self.examples):
            for name, values in batch.items():
                if isinstance(values, Raw):
                    raise TypingError(f"example {number}: expected real values of {name!r}, found Raw; use to_reals")

    def __repr__(self) -> str:
        return program_short(self)

    def _repr_html_(self) -> str:
        return program_table(self)

    def binds(self) -> bool:
        """Whether a proof of this program says anything: some input and some output are public or committed."""
        return all(
            any(port.visibility is not Visibility.PRIVATE for port in ports) for ports in (self.inputs, self.outputs)
        )

    def with_visibility(self, **visibilities: Visibility | str) -> Self:
        """The same program with other visibilities, by port name (an input and an output may share a name).

        Raises CircuitizeError for a name that no port has, TypingError for what is no visibility.
        """
        known = {port.name for port in (*self.inputs, *self.outputs)}
        for name in visibilities:
            if name not in known:
                raise CircuitizeError(f"expected a port name among {sorted(known)}, found {name!r}")
        chosen = {name: _choice(Visibility, seen, f"the visibility of {name!r}") for name, seen in visibilities.items()}

        def changed(ports: tuple[Port[Format], ...]) -> tuple[Port[Format], ...]:
            return tuple(replace(p, visibility=chosen.get(p.name, p.visibility)) for p in ports)

        return replace(self, inputs=changed(self.inputs), outputs=changed(self.outputs))


@dataclass(frozen=True, repr=False)
class IntegerProgram(Program):
    """A program of the integer language: every value that enters or leaves it is an integer of its port's format.

    It is its own exact meaning: what executors run and targets emit. Raises TypingError for an arrow of reals and for
    an output without a format.
    """

    outputs: tuple[Port[Fixed], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for side, ports, types in (
            ("input", self.inputs, self.arrow.source),
            ("output", self.outputs, self.arrow.target),
        ):
            for port, type in zip(ports, types, strict=True):
                if not isinstance(type, Fixed):
                    raise TypingError(f"expected integers for {side} {port.name!r}, found {type}; quantize the program")
                if port.format is None:
                    raise TypingError(f"expected a format for {side} {port.name!r}, found none; give {type}")


AnyProgram = TypeVar("AnyProgram", bound=Program)
"""A program of one language or the other, where what is made of it is of the same."""


def require_integers(program: Program) -> None:
    """Raises CircuitizeError for a program of reals, where one of integers is expected."""
    if not isinstance(program, IntegerProgram):
        raise CircuitizeError("expected an integer program, found a real one; quantize it first")


def as_integers(program: Program) -> IntegerProgram | None:
    """The program as one of integers, if its arrow is of integers: an output without a format has that of its wire."""
    if isinstance(program, IntegerProgram):
        return program
    targets = program.arrow.target
    formats = [type for type in targets if isinstance(type, Fixed)]
    if len(formats) < len(targets) or not all(isinstance(type, Fixed) for type in program.arrow.source):
        return None
    outputs = tuple(port.of(format) for port, format in zip(program.outputs, formats, strict=True))
    return IntegerProgram(program.arrow, program.inputs, outputs, program.examples, program.precision)


@dataclass(frozen=True, eq=False, slots=True)
class Raw:
    """Integers of a port's format, where real values are expected: q stands for q * 2^-fraction_bits.

    Everything else that is given for an input is real values, integer arrays too. Raises CircuitizeError for an array
    of anything but integers. It is no array itself, so that nothing takes it for real values.
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
"""What is given for a port: real values as numpy takes them, or `Raw` integers; looked at when it is read."""


def raw(values: Mapping[str, NDArray[np.int64] | Raw]) -> dict[str, Raw]:
    """Integers by name, as a program's run gives them, marked as such to go into one again."""
    return {name: array if isinstance(array, Raw) else Raw(array) for name, array in values.items()}


def to_integers(port: Port[Fixed], values: Given, where: str) -> NDArray[np.int64]:
    """Real values in a port's format, each rounded once, half to even; a Raw array's integers as they are.

    A number means the same whatever its dtype: 1 and 1.0 are one. Raises CircuitizeError, naming the input, the element
    and the remedy, for a wrong shape, a NaN, an infinity or a value outside the format.
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
    """What was given for an input, Raw or not, as an array of numbers.

    Raises CircuitizeError where it is ragged or holds something else.
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
    """Whole numbers times 2^fraction_bits, rounded half to even; what passes 2^62 becomes that. Exact for 64 bits."""
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
    """The real values that integers of a format stand for; past 53 significant bits the nearest float64."""
    return np.ldexp(values.astype(np.float64), -format.fraction_bits)


def named_inputs(program: IntegerProgram, trace: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The inputs of a run by name, out of the values of all wires."""
    wires = program.arrow.inputs.tolist()
    return {port.name: trace[wire] for port, wire in zip(program.inputs, wires, strict=True)}


def named_outputs(program: IntegerProgram, trace: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The outputs of a run by name, out of the values of all wires."""
    wires = program.arrow.outputs.tolist()
    return {port.name: trace[wire] for port, wire in zip(program.outputs, wires, strict=True)}
