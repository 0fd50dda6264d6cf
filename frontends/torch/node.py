"""The meaning of ATen's operators: translation rules by name, each with the operator's parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.reading import Json
from circuitize.frontends.attention import MASKED
from circuitize.frontends.tensor import Tensor

Known = NDArray[np.float64]
"""The type of numbers that follow from the graph alone, such as positions and masks."""

Made = Tensor | Known | Sequence[Tensor | Known]
Rule = Callable[..., Made]
R = TypeVar("R", bound=Rule)

RULES: dict[str, Rule] = {}
"""The translation rules by the operator's name and overload, such as add.Tensor."""

UNREAD = {"layout", "device", "pin_memory", "memory_format", "non_blocking", "copy", "half_to_float", "dtype"}
"""The names of arguments that say where and how numbers are stored, which does not matter for reals. If an argument
`dtype` names a type of whole numbers, known numbers are truncated.
"""

SMALLEST = -1e30
"""The bound below which a number stands for minus infinity, as the least float does in masks."""


def operator(*names: str) -> Callable[[R], R]:
    """Decorate the translation rule of the given operators; its parameters have the operator's names, except `x` for
    `self`.
    """

    def registered(rule: R) -> R:
        for name in names:
            if RULES.setdefault(name, rule) is not rule:
                raise ValueError(f"expected one rule for {name}, found two")
        return rule

    return registered


def bounded(number: float) -> float:
    """Return a number, or MASKED for minus infinity, which scores are where a mask hides them."""
    return MASKED if number < SMALLEST else number


def arguments(entries: Iterable[Json], value: Callable[[str], Tensor | Known]) -> dict[str, object]:
    """Return the arguments of a node by name; a tensor is what `value` gives for its name."""
    found: dict[str, object] = {}
    for entry in entries:
        name = entry["name"]
        if name not in UNREAD:
            found["x" if name == "self" else name] = argument(entry["arg"], value)
    return found


def argument(given: object, value: Callable[[str], Tensor | Known]) -> object:
    """Return an argument of a torch node as a Python value. Raise FormatError for an argument of a torch node that is
    of another kind.
    """
    if not isinstance(given, dict) or len(given) != 1:
        raise FormatError(f"expected an argument of one kind, found {excerpt(given)}; export it again")
    ((kind, content),) = given.items()
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return value(content["name"])
    if kind == "as_tensors":
        return [value(entry["name"]) for entry in content]
    if kind == "as_optional_tensors":
        return [None if "as_none" in entry else value(entry["as_tensor"]["name"]) for entry in content]
    if kind == "as_float":
        return float(content)
    if kind in ("as_int", "as_ints", "as_floats", "as_bool", "as_bools", "as_string"):
        return content
    if kind == "as_sym_int" and "as_int" in content:
        return content["as_int"]
    if kind == "as_sym_ints" and all("as_int" in entry for entry in content):
        return [entry["as_int"] for entry in content]
    raise CircuitizeError(f"expected numbers, tensors and text, found {excerpt(kind)}; export without dynamic shapes")


def bind(rule: Rule, given: Mapping[str, object]) -> None:
    """Raise CircuitizeError if a translation rule has no parameter of an argument's name, or has a parameter without an
    argument.
    """
    try:
        inspect.signature(rule).bind(**given)
    except TypeError as error:
        raise CircuitizeError(f"{error}; only these forms of it are read") from None
