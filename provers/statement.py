"""The statement of a proof: the program's digest, its public values and the roots of its commitments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.encode import is_digest
from circuitize.circuits.errors import FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json, parse_json, read_at_most
from circuitize.circuits.types import Fixed

from .names import hides, kinds, names

FILE = "statement.json"
VERSION = 2
CHUNKS = 1
"""The name of a statement's field that is reserved, like the flag of zero knowledge, for proofs in chunks."""
SLACK = 4096
"""The bytes of a statement beside its ports: the prover's name, the digest, and fields of later versions."""

MOST_BYTES = 1 << 28
"""The most bytes of a statement that is read without the ports of a program."""

TAIL = 1024
"""The last bytes of a statement, among which the prover's name is found."""

ASK_AGAIN = "ask for the proof again"

INPUT, OUTPUT = "input", "output"

Key = tuple[str, str]
"""The side (input, output) and the port's name: an input and an output may share a name."""

Bound = tuple[Key, Port[Fixed | None]]
"""An item that a proof binds: a port, or a group of ports with one root, which counts as one port without a format."""


def proof_files(folder: Path) -> tuple[str, ...]:
    """Return the names of all files that `prove` writes into a proof's folder, for any prover."""
    own = ("statement.json", "proof.json", "public.json", "NOT-ZERO-KNOWLEDGE.txt")
    return (*own, *(f"proof.{name}" for name in names()))


class Unproved(Exception):
    """The error that says why a proof does not hold; it is the result of a verification, not a mistake of the user."""


@dataclass(frozen=True)
class Statement:
    """The statement of a proof: public values in row-major order and roots of commitments, both by port; `digest` is
    the program's digest.

    A statement that is read from a proof's folder is only a claim: `public_vector` compares it with the verifier's own
    program, and the proof is checked against the vector that this function returns.
    """

    prover: str
    digest: str
    publics: Mapping[Key, tuple[int, ...]]
    roots: Mapping[Key, int]
    zero_knowledge: bool = True

    def text(self) -> str:
        """Return the text of the statement; equal statements have equal texts."""
        ports: Json = {
            **{key_text(key): {"integers": list(values)} for key, values in self.publics.items()},
            **{key_text(key): {"root": hex(root)} for key, root in self.roots.items()},
        }
        kind = {"prover": self.prover, "zero_knowledge": self.zero_knowledge, "chunks": CHUNKS}
        content = {"circuitize": VERSION, **kind, "digest": self.digest, "ports": ports}
        return json.dumps(content, indent=1, sort_keys=True) + "\n"

    def write(self, folder: Path) -> None:
        """Write the statement into a proof's folder as FILE, which appears complete or not at all."""
        write_whole(folder / FILE, [self.text().encode()])


def most_bytes(bound: Iterable[Bound]) -> int:
    """Return the greatest length of the text of a statement about the given ports."""
    return SLACK + sum(_port_bytes(key, port) for key, port in bound)


def most_values(bound: Iterable[Bound]) -> int:
    """Return the greatest number of values in a statement about the given ports, counting also the brackets in its text
    and the commas in names.
    """
    return 64 + sum(8 + len(key_text(key)) + (port.format.size if port.format else 0) for key, port in bound)


def _port_bytes(key: Key, port: Port[Fixed | None]) -> int:
    """Return the greatest number of bytes that a port takes in a statement: a name, escaped in JSON in the longest way,
    and a root, or a line for each integer.
    """
    name, format = 6 * len(key_text(key)) + 128, port.format
    if port.visibility is Visibility.COMMITTED or format is None:
        return name
    return name + format.size * (max(len(str(format.low)), len(str(format.high))) + len("    ,\n"))


def stated_prover(folder: Path) -> str | None:
    """Return the name of the prover that a statement gives in its last bytes, or None if these name no prover.

    Raise FormatError if the folder contains no statement.
    """
    path = folder / FILE
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            found = re.findall(rb'\n "prover": "(\w+)"', file.read(TAIL))
    except OSError as error:
        raise _missing(path, error) from None
    return found[-1].decode() if found else None


def read_statement(folder: Path, bound: Sequence[tuple[Key, Port[Fixed | None]]] | None = None) -> Statement:
    """Return what the statement in a proof's folder says about the ports that the verifier's own program binds; without
    `bound`, return everything that it says, which is for the reader's own folders.

    Raise FormatError for a statement that is damaged or of another version, and, before reading it, for a file that is
    longer than any statement about the given ports.
    """
    path = folder / FILE
    most, values = (MOST_BYTES, MOST_BYTES) if bound is None else (most_bytes(bound), most_values(bound))
    try:
        written = read_at_most(path, most, "a proof's statement about this program", ASK_AGAIN)
        text = written.decode()
        content = parse_json(written, values)
        if content["circuitize"] != VERSION:
            raise ValueError(f"version {excerpt(content['circuitize'])}")
        prover = read_name(content["prover"])
        if not is_digest(content["digest"]):
            raise ValueError(f"digest {excerpt(content['digest'])}, expected 64 hexadecimal digits")
        hiding = content["zero_knowledge"]
        if not isinstance(hiding, bool) or hiding not in kinds(prover) or content["chunks"] != CHUNKS:
            raise ValueError("in another kind of knowledge or in chunks, which a newer version reads")
        ports = [(read_key(name), value) for name, value in content["ports"].items()]
        publics = {key: tuple(map(read_whole, value["integers"])) for key, value in ports if "integers" in value}
        roots = {key: _root(value["root"]) for key, value in ports if "integers" not in value}
        statement = Statement(prover, content["digest"], publics, roots, hiding)
        if statement.text() != text:
            raise ValueError("not written as statements are")
        return statement
    except OSError as error:
        raise _missing(path, error) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{path}: expected a proof's statement of version {VERSION}, found a damaged or another file ({error}); "
            f"{ASK_AGAIN}"
        ) from None


def _missing(path: Path, error: OSError) -> FormatError:
    return FormatError(f"{path}: expected a proof's statement, found {error.strerror or error}; check the path")


def bound_ports(program: IntegerProgram) -> Iterator[tuple[Key, Port[Fixed]]]:
    """Yield the ports that a proof binds, in the order of the public wires.

    The order of the public wires is: outputs, committed inputs, public inputs; a committed port has one wire, its root.
    """
    public, committed = Visibility.PUBLIC, Visibility.COMMITTED
    for side, ports, seen in (
        (OUTPUT, program.outputs, (public, committed)),
        (INPUT, program.inputs, (committed,)),
        (INPUT, program.inputs, (public,)),
    ):
        yield from (((side, port.name), port) for port in ports if port.visibility in seen)


def public_vector(program: IntegerProgram, statement: Statement, prime: int) -> list[int]:
    """Return the values of the public wires that a statement claims, each in [0, prime).

    Raise Unproved if the statement's ports are not exactly the program's, if a value lies outside its port's format, or
    if a root is not in normal form: therefore each statement has one vector of public values, and each vector belongs
    to one statement.
    """
    vector: list[int] = []
    named = {**statement.publics, **statement.roots}
    for key, port in bound_ports(program):
        format = port.format
        if port.visibility is Visibility.COMMITTED:
            root = statement.roots.get(key)
            if root is None or not 0 <= root < prime:
                raise Unproved(f"expected a root below the field's prime for {key_text(key)}, found {root}")
            vector.append(root)
        else:
            values = statement.publics.get(key)
            if values is None or len(values) != format.size:
                found = "none" if values is None else str(len(values))
                raise Unproved(f"expected {format.size} public values of {key_text(key)}, found {found}")
            outside = [value for value in values if not format.low <= value <= format.high]
            if outside:
                raise Unproved(
                    f"expected public values of {key_text(key)} in [{format.low}, {format.high}], found {outside[0]}"
                )
            vector += [value % prime for value in values]
        named.pop(key)
    if named:
        raise Unproved(f"expected only the program's own ports, found {excerpt(key_text(next(iter(named))))}")
    return vector


def stated(
    program: IntegerProgram,
    prover: str,
    digest: str,
    found: Sequence[int],
    inputs: Mapping[str, NDArray[np.int64]],
    outputs: Mapping[str, NDArray[np.int64]],
    prime: int,
) -> Statement:
    """Return the statement about a run whose public wires have the values `found`; the values of public ports are taken
    from the run itself.
    """
    publics: dict[Key, tuple[int, ...]] = {}
    roots: dict[Key, int] = {}
    at = 0
    for key, port in bound_ports(program):
        if port.visibility is Visibility.COMMITTED:
            roots[key] = found[at]
            at += 1
        else:
            values = {INPUT: inputs, OUTPUT: outputs}[key[0]][key[1]]
            publics[key] = tuple(values.reshape(-1).tolist())
            at += values.size
    statement = Statement(prover, digest, publics, roots, hides(prover))
    assert public_vector(program, statement, prime) == found
    return statement


def shown_names(program: IntegerProgram, bound: Iterable[Bound] | None = None) -> dict[Key, str]:
    """Return the name under which each bound port is shown: its own name, with `input:` or `output:` before it if an
    input and an output have the same name.

    The prefix `input:` or `output:` is also added to a name that already begins with it, so that no two ports are shown
    alike.
    """
    keys = [key for key, _ in (bound_ports(program) if bound is None else bound)]
    sides = [{name for side, name in keys if side == wanted} for wanted in (INPUT, OUTPUT)]
    both = {port.name for port in program.inputs} & {port.name for port in program.outputs} | (sides[0] & sides[1])
    sided = (f"{INPUT}:", f"{OUTPUT}:")
    return {key: key_text(key) if key[1] in both or key[1].startswith(sided) else key[1] for key in keys}


def key_text(key: Key) -> str:
    """Return the text `side:name`, by which files and messages name a port or a group."""
    return f"{key[0]}:{key[1]}"


def read_key(text: str) -> Key:
    """Return the port or group that a text in the form of `key_text` names. Raise ValueError for a text that does not
    have the form of `key_text`.
    """
    side, colon, name = text.partition(":")
    if not colon or side not in (INPUT, OUTPUT):
        raise ValueError(f"port {excerpt(text)}")
    return side, read_name(name)


def read_name(text: object) -> str:
    """Return the value, after checking that it is a printable name, as the ports of programs have. Raise ValueError for
    a value that is not a printable name.
    """
    if not isinstance(text, str) or not text or not text.isprintable():
        raise ValueError(f"name {excerpt(text)}")
    return text


def read_whole(value: object) -> int:
    """Return the value, after checking that it is an integer. Raise ValueError for a value that is not an integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{excerpt(value)} among the integers")
    return value


def _root(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError(f"root {excerpt(value)}")
    return int(value, 16)
