"""`--expect NAME=VALUE|ROOT`: what the verifier wants a proof to state."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import Port, Program, Visibility, to_integers

from .archives import read_npz
from .statement import Key, Statement, Unproved, bound_ports, key_text, shown_names
from .values import wanted

NUMBER = re.compile(r"-?\d+(\.\d+)?([eE]-?\d{1,3})?|(-?\d+)/(?:2\^(\d{1,2})|(\d+))")


@dataclass(frozen=True)
class Expectation:
    """A port, and its root or its integers in row-major order."""

    name: str
    key: Key
    port: Port
    values: tuple[int, ...]

    def check(self, statement: Statement) -> None:
        """Raises Unproved where a statement of the same program says otherwise."""
        if self.port.visibility is Visibility.COMMITTED:
            (root,) = self.values
            if statement.roots[self.key] != root:
                found = hex(statement.roots[self.key])
                raise Unproved(f"expected {self.name} committed to by {hex(root)}, the proof states {found}")
            return
        stated = statement.publics[self.key]
        differing = [place for place, (a, b) in enumerate(zip(self.values, stated, strict=True)) if a != b]
        if differing:
            place, bits = differing[0], self.port.format.fraction_bits if self.port.format else 0
            element = f" at element {place}" if len(stated) > 1 else ""
            raise Unproved(
                f"expected {self.name} = {_shown(self.values[place], bits)}{element}, "
                f"the proof states {_shown(stated[place], bits)}"
            )


def read_expectation(text: str, program: Program, bound: Sequence[tuple[Key, Port]] | None = None) -> Expectation:
    """What NAME=VALUE|ROOT says about a program's ports, or what else a proof binds. Raises CircuitizeError if unread.

    VALUE is a real number (0.25, 3/8, 1024/2^12), a nested JSON list of them, or an .npz file that holds NAME; it is
    rounded once to the port's format and then compared exactly. ROOT is a whole number, hexadecimal after 0x.
    """
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise CircuitizeError(f"--expect: expected NAME=VALUE or NAME=ROOT, found {text!r}; for example loss=0.25")
    key, port = _port(name, program, tuple(bound_ports(program)) if bound is None else bound)
    committed = port.visibility is Visibility.COMMITTED
    values = [whole_root(name, value)] if committed else _integers(name, port, value)
    return Expectation(name, key, port, tuple(values))


def values_file(text: str) -> Path | None:
    """The .npz file that NAME=VALUE reads, where it reads one."""
    value = text.partition("=")[2]
    return Path(value) if value.endswith(".npz") else None


def _port(name: str, program: Program, bound: Sequence[tuple[Key, Port]]) -> tuple[Key, Port]:
    names = shown_names(program, bound)
    for key, port in bound:
        if name in (names[key], key_text(key)):
            return key, port
    raise CircuitizeError(
        f"--expect: expected a public or a committed name among {', '.join(names.values())}, found {name!r}"
    )


def whole_root(name: str, value: str) -> int:
    """A root, hexadecimal after 0x."""
    try:
        root = int(value, 16 if value.lower().startswith("0x") else 10)
        if not 0 <= root < 1 << 256:
            raise ValueError
        return root
    except ValueError:
        raise CircuitizeError(
            f"--expect {name}: expected a commitment's root, 32 bytes such as 0x2f..., found {value!r}"
        ) from None


def _integers(name: str, port: Port, value: str) -> list[int]:
    format = port.format
    assert format is not None
    if value.endswith(".npz"):
        arrays = read_npz(Path(value), wanted([port]))
        if port.name not in arrays:
            raise CircuitizeError(f"{value}: expected an array {port.name!r}, found {sorted(arrays)}; add it")
        return [int(number) for number in to_integers(port, arrays[port.name], value).reshape(-1)]
    reals = _array(name, value)
    if reals.shape != format.shape:
        raise CircuitizeError(
            f"--expect {name}: expected a value of shape {list(format.shape)}, found {list(reals.shape)}; nest lists so"
        )
    return [round(number * 2**format.fraction_bits) for number in reals.reshape(-1).tolist()]


def exact_number(name: str, value: str) -> Fraction:
    """A number such as 0.25, 3/8 or 1024/2^12, exactly."""
    try:
        return _number(value)
    except (ValueError, ZeroDivisionError):
        raise CircuitizeError(f"{name}: expected a number such as 0.25 or 1/10, found {value!r}") from None


def _array(name: str, value: str) -> np.ndarray[Any, np.dtype[np.object_]]:
    """A number, or nested lists of them, as exact fractions."""
    try:
        if not value.startswith("["):
            return np.array(_number(value), dtype=object)
        nested = json.loads(value, parse_int=_number, parse_float=_number)
        shape = np.shape(_counted(nested))
        flat = np.empty(int(np.prod(shape)), dtype=object)
        flat[:] = list(_leaves(nested))
        return flat.reshape(shape)
    except (ValueError, TypeError, ZeroDivisionError, RecursionError):
        raise CircuitizeError(
            f"--expect {name}: expected a number such as 0.25 or 1024/2^12, or a list of them, found {value!r}"
        ) from None


def _counted(nested: Any) -> Any:
    """The same nesting with 0 for each number."""
    if isinstance(nested, list):
        return [_counted(entry) for entry in nested]
    if not isinstance(nested, Fraction):
        raise ValueError(nested)
    return 0


def _leaves(nested: Any) -> list[Fraction]:
    return [leaf for entry in nested for leaf in _leaves(entry)] if isinstance(nested, list) else [nested]


def _number(text: str) -> Fraction:
    if not NUMBER.fullmatch(text):
        raise ValueError(text)
    numerator, slash, denominator = text.partition("/")
    if denominator.startswith("2^"):
        return Fraction(int(numerator), 1 << int(denominator[2:]))
    return Fraction(numerator) / Fraction(denominator) if slash else Fraction(numerator)


def _shown(integer: int, fraction_bits: int) -> str:
    return f"{integer}/2^{fraction_bits} ({integer / 2**fraction_bits:.9g})" if fraction_bits else str(integer)
