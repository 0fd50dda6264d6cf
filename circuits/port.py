"""A port: an input or an output of a program, and its properties."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from .errors import TypingError
from .types import Fixed


class Visibility(Enum):
    """Who learns the value of a port: everyone; nobody; or nobody, although a commitment that other proofs can name
    binds it.
    """

    PUBLIC = "public"
    PRIVATE = "private"
    COMMITTED = "committed"


class Role(Enum):
    """The role of a port in a training run: data that are fed to the run, a value that the run keeps, or a number that
    a schedule sets.

    A port of the role DATA enters or leaves each step. Ports of the roles PARAMETER, OPTIMIZER (an optimizer's state)
    and STATE (what a model keeps) are held: their values stay the same from step to step, unless an output of the same
    name changes them. A port of the role FROZEN is a held parameter without an output: no step changes it, and tensor
    proofs commit to it once. An input whose role is SCALAR gets a new value for each step.
    """

    DATA = "data"
    PARAMETER = "parameter"
    OPTIMIZER = "optimizer"
    STATE = "state"
    FROZEN = "frozen"
    SCALAR = "scalar"


Choice = TypeVar("Choice", bound=Enum)


def choice(kind: type[Choice], given: object, what: str) -> Choice:
    """Return the member of an enumeration that is given, or whose value is given; raise TypingError for anything else,
    since it would silently bind nothing.
    """
    try:
        return kind(given)
    except ValueError:
        choices = [member.value for member in kind]
        raise TypingError(f"expected {what} among {choices}, found {given!r}; choose one of these") from None


AnyFormat = TypeVar("AnyFormat", bound=Fixed | None, covariant=True)


@dataclass(frozen=True)
class Port(Generic[AnyFormat]):
    """An input or an output of a program: its name, who learns its value, its exact integer format, and its role. A
    program's digest covers the name, the visibility, the format and the role of each port.

    An output of a real program may leave its format open (None): calibration then chooses it. The visibility and the
    role of a port may be given as words ("public", "state"). Raise TypingError for a word that names no visibility or
    no role.
    """

    name: str
    visibility: Visibility
    format: AnyFormat = None  # type: ignore[assignment]  # Only where it may be open: see the overloads.
    role: Role = Role.DATA

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Port[None], name: str, visibility: Visibility | str, format: None = None, role: Role | str = Role.DATA
        ) -> None: ...
        @overload
        def __init__(
            self, name: str, visibility: Visibility | str, format: AnyFormat, role: Role | str = Role.DATA
        ) -> None: ...
        def __init__(self, *_: object, **__: object) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "visibility", choice(Visibility, self.visibility, f"the visibility of {self.name!r}"))
        object.__setattr__(self, "role", choice(Role, self.role, f"the role of {self.name!r}"))

    @property
    def held(self) -> bool:
        """Return whether the port's value stays from step to step, unless an output of the same name changes it:
        hardware keeps such a value in memory.
        """
        return self.role in (Role.PARAMETER, Role.OPTIMIZER, Role.STATE, Role.FROZEN)

    def of(self, format: Fixed) -> Port[Fixed]:
        """Return the port with another format."""
        return Port(self.name, self.visibility, format, self.role)
