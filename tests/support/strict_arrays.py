"""An array module that is not numpy: its arrays refuse to become numpy's or to meet one, as those of a GPU do.

Names come from numpy, applied to what the arrays hold; what they return is held again. Reductions give arrays without
axes, never numbers. Calls are counted by name.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np

calls: Counter[str] = Counter()
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "rshift", "lshift", "and", "or", "xor", "matmul"]


class ndarray:  # noqa: N801 - named as modules name it
    """Holds a numpy array, which only `asnumpy` gives out."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, held: Any) -> None:
        self.held = np.asarray(held)

    def __array__(self, *given: Any, **named: Any) -> Any:
        raise TypeError("an array of another module became numpy's")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)  # not even the array interface
        found = getattr(self.held, name)
        return _lifted(found, f"ndarray.{name}") if callable(found) else _wrapped(found)

    def __getitem__(self, at: Any) -> Any:
        return ndarray(self.held[_bare(at)])

    def __setitem__(self, at: Any, value: Any) -> None:
        self.held[_bare(at)] = _bare(value)

    def __len__(self) -> int:
        return len(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)

    def __int__(self) -> int:
        return int(self.held)

    def __float__(self) -> float:
        return float(self.held)

    def __neg__(self) -> ndarray:
        return ndarray(-self.held)

    def __invert__(self) -> ndarray:
        return ndarray(~self.held)

    def __abs__(self) -> ndarray:
        return ndarray(abs(self.held))

    def __iadd__(self, other: Any) -> ndarray:
        self.held += _bare(other)
        return self


def _operator(name: str) -> Any:
    def apply(self: ndarray, other: Any) -> Any:
        calls[name] += 1
        return _wrapped(getattr(self.held, name)(_bare(other)))

    return apply


for _name in [*COMPARISONS, *ARITHMETIC, *(f"r{name}" for name in ARITHMETIC)]:
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))


def _bare(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.held
    if isinstance(value, np.ndarray):
        raise TypeError("a numpy array met an array of another module")
    if isinstance(value, tuple | list):
        return type(value)(_bare(entry) for entry in value)
    return value


def _wrapped(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(value)
    return type(value)(_wrapped(entry) for entry in value) if type(value) in (tuple, list) else value


def _lifted(function: Any, name: str) -> Any:
    def call(*given: Any, **named: Any) -> Any:
        calls[name] += 1
        return _wrapped(function(*_bare(given), **{key: _bare(value) for key, value in named.items()}))

    return call


def asarray(value: Any, dtype: Any = None) -> ndarray:
    """The one way in."""
    if isinstance(value, ndarray):
        return value if dtype is None else ndarray(value.held.astype(dtype))
    calls["asarray"] += 1
    return ndarray(np.array(value, dtype))


def asnumpy(value: ndarray) -> Any:
    """The one way out."""
    calls["asnumpy"] += 1
    assert isinstance(value, ndarray), "the value left its module"
    return value.held


class _Add:
    at = staticmethod(_lifted(np.add.at, "add.at"))
    __call__ = staticmethod(_lifted(np.add, "add"))


add = _Add()
lib = SimpleNamespace(
    stride_tricks=SimpleNamespace(
        as_strided=_lifted(np.lib.stride_tricks.as_strided, "as_strided"),
        sliding_window_view=_lifted(np.lib.stride_tricks.sliding_window_view, "sliding_window_view"),
    )
)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return _lifted(getattr(np, name), name)
