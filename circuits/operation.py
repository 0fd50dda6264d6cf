"""The contract of an operation: a typed, hashable value that knows its target types and how to run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .errors import CircuitizeError, TypingError, excerpt
from .types import Type

if TYPE_CHECKING:
    from .term import Term

    T = TypeVar("T", bound=Term)

Values = np.ndarray[Any, np.dtype[Any]]


class Operation(ABC):
    """A generator of one of the two languages; subclasses are frozen dataclasses, whose fields are its parameters.

    Equal operations are stored once per arrow, so equality and hash must cover every parameter.
    """

    name: ClassVar[str]
    """The name in saved arrows and messages: `language.word`, for example `integer.shift`."""

    registry: ClassVar[dict[str, type[Operation]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "name" in cls.__dict__:
            _require_free(cls, Operation.registry.get(cls.name))
            Operation.registry[cls.name] = cls

    def __call__(self, term: T, *others: T) -> T:
        """Return the result of the operation applied to terms of a formula, after adding an edge with one target. A
        `Constant` is not applied to terms: `Real` says how to make one.
        """
        if not hasattr(term, "apply"):
            raise TypingError(
                f"{type(self).__name__}: expected terms or tensors, found {excerpt(term)}; use run(array) on arrays"
            )
        return term.apply(self, *others)

    @abstractmethod
    def target_types(self, *sources: Any) -> tuple[Type, ...]:
        """Return the types of the targets; raise TypingError, or OverflowRisk, if the sources do not fit."""

    @abstractmethod
    def run(self, *values: Values) -> tuple[Values, ...]:
        """Return the values of the operation's targets; integer operations are exact, and raise Undefined where they
        have no value.
        """

    def is_identity(self, source: Type) -> bool:
        """Return whether the operation, on one source of the given type, is the identity (same value, same type)."""
        return False

    @property
    def makes_new(self) -> bool:
        """Return whether the targets' values share no memory with the values of the sources."""
        return False

    @property
    def folds(self) -> bool:
        """Return whether the operation may be computed on constants when a program is simplified, real ones in float64;
        it may not if its result has a format to keep.
        """
        return True

    @property
    def constant(self) -> Values | None:
        """Return the value of a constant operation, and None for every other operation."""
        return None

    def constant_like(self, value: Values, target: Type) -> Operation | None:
        """Return, for a constant, the constant of the same language with the given value and type; None if there is no
        such constant.
        """
        return None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of an edge: the layer or part of the program that the edge belongs to, and the user's file and
    line.
    """

    part: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else ""
        return " ".join(word for word in (self.part, f"({place})" if place else "") if word) or "unnamed part"


NOWHERE = Provenance()


@dataclass(frozen=True, slots=True)
class Edge:
    """A view of one edge of an arrow."""

    index: int
    operation: Operation
    sources: Sequence[int]
    targets: Sequence[int]
    provenance: Provenance


def _require_free(kind: type[Operation], other: type[Operation] | None) -> None:
    """Raise CircuitizeError if a class is defined with the name of one of the package's own operations."""
    if other is None or (kind.__module__, kind.__qualname__) == (other.__module__, other.__qualname__):
        return
    if other.__module__.startswith("circuitize."):
        raise CircuitizeError(
            f"{kind.__qualname__}: expected a name that no operation of circuitize has, found {kind.name!r}, the name "
            f"of {other.__name__}; choose another, such as 'mine.{kind.__name__.lower()}'"
        )
