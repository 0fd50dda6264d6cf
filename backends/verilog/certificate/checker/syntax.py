"""The syntax of the certified subset of Verilog-2005: modules, statements and expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; a literal without a width may be used only in ranges, parameters and indices."""

    value: int
    width: int | None = None
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a whole net, of a parameter or of a loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A part-select, `width` bits of a net from bit `low` on, or an entry of a memory."""

    name: str
    low: Expression
    width: Expression


@dataclass(frozen=True, slots=True)
class Join:
    """A concatenation of expressions, the highest bits first."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A replication of bits, written {count{value}}."""

    count: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class Signed:
    """An expression whose bits are read as two's complement: `$signed`."""

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


@dataclass(frozen=True, slots=True)
class Text:
    """A text in quotes, which is the value of a parameter: the name of a file."""

    value: str


Expression = Number | Name | Slice | Join | Repeat | Signed | Unary | Binary | Choice | Text


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment: a net, or some of its bits, and the expression that drives it."""

    target: Name | Slice
    value: Expression


@dataclass(frozen=True, slots=True)
class Branch:
    """An `if` statement; its `else` part may be empty."""

    condition: Expression
    yes: tuple[Statement, ...]
    no: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """Statements for each value of a variable from `first` while it is below `end`."""

    variable: str
    first: Expression
    end: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """An assignment to `width` bits, from bit `low` on, of the entry of a memory at an index."""

    name: str
    index: Expression
    low: Expression
    width: Expression
    value: Expression


Statement = Assignment | Branch | Each | Store


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a wire, a register, or a memory of `entries`; `direction` is empty unless it is a port. An entry
    of an `unordered` memory that is read at an edge at which it is written is read as unknown.
    """

    name: str
    direction: str
    register: bool
    signed: bool
    width: Expression
    entries: Expression | None = None
    unordered: bool = False


@dataclass(frozen=True, slots=True)
class Combinational:
    """An `always @*` block, whose blocking assignments take effect in order."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Clocked:
    """An `always @(posedge CLOCK)` block, whose assignments take effect together."""

    clock: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory of a module, with the file that initialises it: its name, or the parameter that holds the name."""

    name: str
    file: str | Name


@dataclass(frozen=True, slots=True)
class Initial:
    """The number that a register holds before the first edge of its clock."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a module that is placed in another module."""

    module: str
    name: str
    parameters: dict[str, Expression]
    pins: dict[str, Expression]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that generates a block for each value of its variable from `first` on, below `end`."""

    variable: str
    first: Expression
    end: Expression
    label: str
    body: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, with the block that is generated if it holds, and the block that is generated otherwise."""

    condition: Expression
    label: str
    yes: tuple[Item, ...]
    no: tuple[Item, ...]


Item = Declaration | Assignment | Combinational | Clocked | Memory | Initial | Instance | Loop | Condition


@dataclass(slots=True)
class Module:
    """A module, which is the only one of its Verilog file."""

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
        elif isinstance(part, Each):
            yield from assignments(part.body)
        elif isinstance(part, Assignment):
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


def is_plain(index: Expression) -> bool:
    """Whether an index has no operators. Tools do not agree whether the result of one is cut to its operands' width,
    since an index has a width of its own.
    """
    if isinstance(index, Join):
        return all(is_plain(part) for part in index.parts)
    if isinstance(index, Repeat):
        return is_plain(index.value)
    return isinstance(index, Name | Slice | Number)


def read_names(value: Expression) -> Iterator[str]:
    """Yield the names that an expression reads."""
    for part in within(value):
        if isinstance(part, Name | Slice):
            yield part.name
