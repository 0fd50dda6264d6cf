"""The syntax of the certified subset of Verilog-2005: modules, statements and expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; a literal without a width may stand in ranges, parameters and indices only."""

    value: int
    width: int | None = None
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A whole net, parameter or loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """`width` bits of a net from bit `low` on, or an entry of a memory."""

    name: str
    low: Expression
    width: Expression


@dataclass(frozen=True, slots=True)
class Join:
    """A concatenation, the highest bits first."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A replication of bits, {count{value}}."""

    count: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class Signed:
    """The bits of an expression, read as two's complement: `$signed`."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Unary:
    """A unary operator: `~`, `-`, or a reduction `&`, `|`, `~|`, `~&`, `^`."""

    operator: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operator with its two operands."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """The conditional operator, which chooses one of two operands."""

    condition: Expression
    yes: Expression
    no: Expression


Expression = Number | Name | Slice | Join | Repeat | Signed | Unary | Binary | Choice


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment: a net, or bits of one, and the expression that drives it."""

    target: Name | Slice
    value: Expression


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if` statement; its `else` part may be empty."""

    condition: Expression
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]


Statement = Assignment | Branch


@dataclass(frozen=True, slots=True)
class Declaration:
    """A wire, a register, or a memory of `entries`; `direction` is empty unless it is a port."""

    name: str
    direction: str
    register: bool
    signed: bool
    width: Expression
    entries: Expression | None = None


@dataclass(frozen=True, slots=True)
class Combinational:
    """`always @*`: blocking assignments in order."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Clocked:
    """`always @(posedge CLOCK)`: assignments that take effect together."""

    clock: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """The file from which a memory is initialised."""

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A module placed in another one."""

    module: str
    name: str
    parameters: dict[str, Expression]
    pins: dict[str, Expression]


@dataclass(frozen=True, slots=True)
class Loop:
    """A generated block for each value of a loop variable from `first` while it is below `end`."""

    variable: str
    first: Expression
    end: Expression
    label: str
    body: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A generated block where a condition holds, and another block that is generated otherwise."""

    condition: Expression
    label: str
    yes: tuple[Item, ...]
    no: tuple[Item, ...]


Item = Declaration | Assignment | Combinational | Clocked | Memory | Instance | Loop | Condition


@dataclass(slots=True)
class Module:
    """The one module of a Verilog file."""

    name: str
    file: str
    parameters: dict[str, Expression] = field(default_factory=dict)
    ports: list[Declaration] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


def assignments(body: Iterable[Statement]) -> Iterator[Assignment]:
    """Yield the assignments of statements, including both branches of each `if`."""
    for part in body:
        if isinstance(part, Branch):
            yield from assignments(part.yes)
            yield from assignments(part.no)
        else:
            yield part


def within(value: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    yield value
    if isinstance(value, Join):
        inner: tuple[Expression, ...] = value.parts
    elif isinstance(value, Repeat | Signed | Unary):
        inner = (value.value,)
    elif isinstance(value, Binary):
        inner = (value.left, value.right)
    elif isinstance(value, Choice):
        inner = (value.condition, value.yes, value.no)
    elif isinstance(value, Slice):
        inner = (value.low,)
    else:
        inner = ()
    for part in inner:
        yield from within(part)


def read_names(value: Expression) -> Iterator[str]:
    """The names that an expression reads."""
    for part in within(value):
        if isinstance(part, Name | Slice):
            yield part.name
