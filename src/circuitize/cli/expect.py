"""`--expect NAME=VALUE|ROOT`: what the verifier wants a proof to state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from circuitize.api.values import wanted
from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import RAW, exact_numbers, units
from circuitize.circuits.program import Port, Program, Visibility
from circuitize.provers.expectation import Expectation, port_named
from circuitize.provers.statement import Key, bound_ports

ROOT = re.compile(r"0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78}")


def read_expectations(texts: Sequence[str], program: Program, bound: Sequence[tuple[Key, Port]]) -> list[Expectation]:
    """What every --expect says. Raises CircuitizeError as `read_expectation` does, and for a port given twice."""
    found: dict[Key, Expectation] = {}
    for text in texts:
        one = read_expectation(text, program, bound)
        if one.key in found:
            as_well = f", as {found[one.key].name} too" if found[one.key].name != one.name else ""
            raise CircuitizeError(f"--expect: expected each port once, found {one.name} twice{as_well}; give it once")
        found[one.key] = one
    return list(found.values())


def read_expectation(text: str, program: Program, bound: Sequence[tuple[Key, Port]] | None = None) -> Expectation:
    """What NAME=VALUE|ROOT says about a program's ports, or what else a proof binds. Raises CircuitizeError if unread.

    VALUE is a real number (0.25, 3/8, 1024/2^12), nested lists of them, or an .npz file that holds NAME; after `raw:`
    the integers of the port's format. Exact: what is no value of the format is refused. ROOT is a whole number,
    hexadecimal after 0x.
    """
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise CircuitizeError(f"--expect: expected NAME=VALUE or NAME=ROOT, found {text!r}; for example loss=0.25")
    key, port = port_named("--expect", name, program, tuple(bound_ports(program)) if bound is None else bound)
    committed = port.visibility is Visibility.COMMITTED
    values = [whole_root(name, value)] if committed else _integers(name, port, value)
    return Expectation(name, key, port, tuple(values))


def values_file(text: str) -> Path | None:
    """The .npz file that NAME=VALUE reads, where it reads one."""
    value = text.partition("=")[2].removeprefix(RAW)
    return Path(value) if value.endswith(".npz") else None


def whole_root(name: str, value: str) -> int:
    """A root: up to 64 hexadecimal digits after 0x, large or small, or decimal digits."""
    root = int(value, 0 if value[1:2] in ("x", "X") else 10) if ROOT.fullmatch(value) else 1 << 256
    if root >> 256:
        raise CircuitizeError(
            f"--expect {name}: expected a commitment's root, 32 bytes such as 0x2f..., found {excerpt(value)}; give "
            "what verify prints"
        )
    return root


def _integers(name: str, port: Port, value: str) -> list[int]:
    format = port.format
    assert format is not None
    raw, given = value.startswith(RAW), value.removeprefix(RAW)
    if given.endswith(".npz"):
        arrays = read_npz(Path(given), wanted([port]))
        if port.name not in arrays:
            raise CircuitizeError(f"{given}: expected an array {port.name!r}, found {sorted(arrays)}; add it")
        numbers = arrays[port.name]
    else:
        numbers = exact_numbers(f"--expect {name}", given)
    return [int(one) for one in units(f"--expect {name}", format, numbers, raw).reshape(-1)]
