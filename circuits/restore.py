"""Readers for the operations, types and parameters that a saved program describes, each checked before it is used."""

from __future__ import annotations

import math
import types as kinds
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Union, get_args, get_origin, get_type_hints

import numpy as np

from .lowering import Precision
from .operation import Operation, Values
from .parts import Parts
from .reading import read_list, read_object, read_text, whole
from .types import Array, Fixed, Type

MOST_AXES = 32
"""The most axes of an array in a saved program."""

MOST_ELEMENTS = 1 << 48
"""The most elements of an array in a saved program."""

MOST_COUNTED = 1 << 22
"""The most elements, of all views of a program together, that are counted one by one, as those of overlapping windows
are.
"""

LANGUAGES = ("integer.", "real.")


class Restorer:
    """A reader of descriptions that `encode` makes, with the arrays of a file, each of which is used once.

    The classes that can be restored are those that this process has defined and named: `Operation.registry`, and
    `Parts.registry` for what the operations' parameters hold. Restoring a saved program looks up nothing in a module
    and imports nothing. For a wrong description, raise TypeError, ValueError, LookupError or an error that the
    described class raises in its own checks.
    """

    def __init__(self, arrays: Sequence[Values], integer: bool = False) -> None:
        self._arrays = dict(enumerate(arrays))
        self._integer = integer
        self._counted = 0

    def operation(self, entry: object) -> Operation:
        """Return the operation that an entry of a saved program describes."""
        _define_operations()
        named = read_object(entry)
        name = read_text(named["class"])
        kind = Operation.registry.get(name)
        if kind is None:
            raise ValueError(
                f"expected a known operation, found {name[:80]!r}: if a class of yours has this name, import its "
                "file first, or give the file as PROGRAM"
            )
        if self._integer and not name.startswith("integer."):
            raise ValueError(
                f"expected a program of the integer language, found the operation {name}: a verifier's own program is "
                "what quantize made"
            )
        made = self._made(kind, named)
        assert isinstance(made, Operation)
        return made

    def wire_type(self, entry: object) -> Type:
        """Return the type of a wire that an entry of a saved program describes, of at most MOST_AXES axes and
        MOST_ELEMENTS elements.
        """
        made = self._part(entry)
        if not isinstance(made, Array | Fixed):
            raise TypeError("expected the type of a wire")
        if len(made.shape) > MOST_AXES or made.size > MOST_ELEMENTS:
            raise ValueError(f"expected at most {MOST_AXES} axes and {MOST_ELEMENTS} elements, found more")
        return made

    def precision(self, entry: object) -> Precision:
        """Return the precision that an entry of a saved program describes."""
        made = self._part(entry)
        if not isinstance(made, Precision):
            raise TypeError("expected a precision")
        return made

    def array(self, index: object) -> Values:
        """Return the array with the given number in a saved program's file.

        Each array of a file may be used for only one parameter: a program holds no more arrays than its file.
        """
        return self._arrays.pop(whole(index))

    @property
    def left(self) -> int:
        """Return how many arrays of the file no parameter has used yet."""
        return len(self._arrays)

    def _part(self, entry: object) -> object:
        named = read_object(entry)
        name = read_text(named["class"])
        kind = Parts.registry.get(name)
        if kind is None:
            raise ValueError(f"expected a known kind of parameter, found {name[:80]!r}")
        return self._made(kind, named)

    def _made(self, kind: type, entry: Mapping[str, object]) -> object:
        given = {name: self._value(value) for name, value in read_object(entry["fields"]).items()}
        hints = parameters(kind)
        if given.keys() != hints.keys():
            raise TypeError(f"expected the parameters {', '.join(hints)} of {kind.__name__}")
        for name, hint in hints.items():
            if not fits(given[name], hint):
                raise TypeError(f"expected another kind of value for {name} of {kind.__name__}")
        made: object = kind(**given)
        self._counted += int(getattr(made, "counted", 0))
        if self._counted > MOST_COUNTED:
            raise ValueError(f"expected views of which at most {MOST_COUNTED} elements are counted, found more")
        return made

    def _value(self, entry: object) -> object:
        if isinstance(entry, list):
            raise TypeError("expected a parameter, found a list")
        if not isinstance(entry, dict):
            return whole(entry) if type(entry) is int else entry
        if "array" in entry:
            return self.array(entry["array"])
        if "float" in entry:
            return float.fromhex(read_text(entry["float"]))
        if "tuple" in entry:
            return tuple(map(self._value, read_list(entry["tuple"])))
        return self._part(entry)


@cache
def parameters(kind: type) -> Mapping[str, object]:
    """Return the parameters of a class that a file may hold, and the types that each may have."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def fits(value: object, hint: object) -> bool:
    """Return whether a type annotation allows a restored value.

    An annotation as a float also allows whole numbers, but no annotation as a number allows booleans; a single number
    counts as an array of floats without axes.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, kinds.UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is tuple:
        if not isinstance(value, tuple) or len(value) > MOST_AXES:
            return False
        if arguments[1:] == (...,):
            return all(fits(one, arguments[0]) for one in value)
        return len(value) == len(arguments) and all(map(fits, value, arguments))
    if origin is np.ndarray:
        (number,) = get_args(arguments[1])
        return value.dtype == number if isinstance(value, np.ndarray) else number is np.float64 and fits(value, float)
    if hint is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    if hint is None or hint in (int, bool, str, kinds.NoneType):
        return type(value) is (kinds.NoneType if hint is None else hint)
    return isinstance(hint, type) and type(value) is hint


@cache
def _define_operations() -> None:
    """Import both languages, which fill the registry: a program may be read before anything else has imported them."""
    from . import arrays, integers

    assert arrays and integers
