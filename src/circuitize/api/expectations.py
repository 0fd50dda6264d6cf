"""The values and roots that a verifier requires a proof to state, given by name or as texts of `--expect
NAME=VALUE|ROOT`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import RAW, exact_numbers, units
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, Raw
from circuitize.provers.expectation import Expectation, port_named
from circuitize.provers.statement import Bound, Key, bound_ports

from .values import wanted

ROOT = re.compile(r"0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78}")


def expectations(
    values: Mapping[str, Given], program: IntegerProgram, bound: Sequence[Bound]
) -> tuple[Expectation, ...]:
    """Return the expectations that the given values and roots express, by port name. Raise CircuitizeError for a name
    that no port has, and for values that the named port cannot have.
    """
    if not isinstance(values, Mapping):
        raise CircuitizeError(f"expect: expected values by name, found {type(values).__name__}; give a dict")
    return _each_once("expect", (_expectation(name, value, program, bound) for name, value in values.items()))


def read_expectations(texts: Sequence[str], program: IntegerProgram, bound: Sequence[Bound]) -> tuple[Expectation, ...]:
    """Return the expectations that all --expect options state. Raise CircuitizeError for the same reasons as
    `read_expectation`, and for a port that is given twice.
    """
    return _each_once("--expect", (read_expectation(text, program, bound) for text in texts))


def read_expectation(text: str, program: IntegerProgram, bound: Sequence[Bound] | None = None) -> Expectation:
    """Return the expectation that a text NAME=VALUE|ROOT expresses about a port of the program, or about another item
    that a proof binds. Raise CircuitizeError if the text cannot be read as an expectation.

    VALUE is a real number (0.25, 3/8, 1024/2^12), nested lists of such numbers, or an .npz file that holds NAME; after
    `raw:` it consists of integers in the port's format. An expected value is exact: a number that the port's format
    cannot represent is refused. ROOT is a whole number, hexadecimal after 0x.
    """
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise CircuitizeError(f"--expect: expected NAME=VALUE or NAME=ROOT, found {text!r}; for example loss=0.25")
    key, port = port_named("--expect", name, program, tuple(bound_ports(program)) if bound is None else bound)
    where = f"--expect {name}"
    if port.visibility is Visibility.COMMITTED:
        return Expectation(name, key, port, (whole_root(where, value),))
    raw, given = value.startswith(RAW), value.removeprefix(RAW)
    numbers = _array_of_file(Path(given), port) if given.endswith(".npz") else exact_numbers(where, given)
    return Expectation(name, key, port, _integers(where, port, numbers, raw))


def values_file(text: str) -> Path | None:
    """Return the .npz file that a text NAME=VALUE refers to, or None if VALUE is no file."""
    value = text.partition("=")[2].removeprefix(RAW)
    return Path(value) if value.endswith(".npz") else None


def whole_root(where: str, value: object) -> int:
    """Return the root that a text gives: up to 64 hexadecimal digits after 0x, in upper or lower case, or decimal
    digits.
    """
    known = isinstance(value, str) and ROOT.fullmatch(value)
    root = int(str(value), 0 if str(value)[1:2] in ("x", "X") else 10) if known else 1 << 256
    if root >> 256:
        raise CircuitizeError(
            f"{where}: expected a commitment's root, 32 bytes such as 0x2f..., found {excerpt(value)}; give what "
            "verify prints"
        )
    return root


def _each_once(where: str, wanted: Iterable[Expectation]) -> tuple[Expectation, ...]:
    found: dict[Key, Expectation] = {}
    for one in wanted:
        if one.key in found:
            as_well = f", as {found[one.key].name} too" if found[one.key].name != one.name else ""
            raise CircuitizeError(f"{where}: expected each port once, found {one.name} twice{as_well}; give it once")
        found[one.key] = one
    return tuple(found.values())


def _expectation(name: str, value: Given, program: IntegerProgram, bound: Sequence[Bound]) -> Expectation:
    where = f"expect {name}"
    key, port = port_named("expect", name, program, bound)
    if port.visibility is Visibility.COMMITTED:
        return Expectation(name, key, port, (whole_root(where, value),))
    raw = isinstance(value, Raw)
    try:
        numbers = np.asarray(value.array if isinstance(value, Raw) else value)
    except ValueError:
        raise CircuitizeError(f"{where}: expected an array, found rows of different lengths; even them out") from None
    return Expectation(name, key, port, _integers(where, port, numbers, raw))


def _integers(where: str, port: Port[Fixed | None], numbers: Values, raw: bool) -> tuple[int, ...]:
    assert port.format is not None, "only roots have no format"
    return tuple(int(one) for one in units(where, port.format, numbers, raw).reshape(-1))


def _array_of_file(path: Path, port: Port[Fixed | None]) -> Values:
    arrays = read_npz(path, wanted([port]))
    if port.name not in arrays:
        raise CircuitizeError(f"{path}: expected an array {port.name!r}, found {sorted(arrays)}; add it")
    return arrays[port.name]
