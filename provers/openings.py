"""The openings of a proof's commitments: the secrets that the prover keeps, to open a commitment or to make it
again.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.tensor.ports import Listed, PortList, difference
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import alone, write_whole
from circuitize.circuits.phases import silent
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json, parse_json, read_at_most

from .statement import INPUT, OUTPUT, Key, bound_ports, key_text

VERSION = 2
KEPT = "the openings"
"""The name that error messages give to the content of a file of openings."""
MOST_BYTES = 1 << 22
"""The most bytes of a file of openings: those of twenty thousand commitments."""
POSEIDON, TENSOR, HIDING = "poseidon", "tensor", "tensor in zero knowledge 8"
"""The schemes of commitments: a salted hash of one port; a root of a group of ports, whose salts follow from a secret;
and a root that is made for a number of openings, since each tells some of the random words that hide its values, by
proofs of this version: in another version of proofs the same values and secret have another root.
"""


@dataclass(frozen=True)
class Opening:
    """The opening of one root: its salt or secret, the list of ports to which it commits, and how often it may still be
    opened.

    The field `left` of an opening is None for a root that may be opened any number of times.
    """

    salt: int
    root: int
    ports: PortList
    left: int | None = None


def draw_salts(program: IntegerProgram) -> dict[Key, int]:
    """Return a fresh secret salt for each committed port, drawn from the operating system's randomness."""
    from circuitize.backends.field import BN254

    return {key: secrets.randbelow(BN254.prime) for key in port_lists(program)}


def port_lists(program: IntegerProgram) -> dict[Key, PortList]:
    """Return, for each committed port, the list that contains this port alone."""
    made: dict[Key, PortList] = {}
    for key, port in bound_ports(program):
        if port.visibility is Visibility.COMMITTED and port.format is not None:
            format = port.format
            made[key] = (Listed(port.name, format.shape, format.fraction_bits, format.low, format.high, 1),)
    return made


def join(
    path: Path,
    scheme: str,
    wanted: Mapping[Key, PortList],
    root_of: Callable[[Key, int], int],
    only: Sequence[str] = (),
    say: Callable[[str], object] = silent,
) -> dict[Key, int]:
    """Return the salts of an earlier proof for those inputs to which it committed too: each of these inputs then gets
    the same root as in the earlier proof.

    The argument `wanted` holds the commitments to be made; the function `root_of` computes the root of an input with a
    given salt. An input may be joined to an earlier input or output of the same name, or of another name with the same
    list of ports, whichever has the same values; an output of the program is always new, and gets a new salt. If `only`
    has names, only the inputs with these names are joined to an earlier proof. The callback `say` is called with each
    port that is joined to an earlier proof. Raise CircuitizeError, with the first difference, if an earlier input of
    the same name has other ports, formats or values, or if no input joins; raise FormatError for a damaged file.
    """
    known = _read(path, scheme)
    inputs = [name for side, name in wanted if side == INPUT]
    strange = [name for name in only if name not in inputs]
    if strange:
        raise CircuitizeError(f"--join: expected a committed input among {inputs}, found {strange[0]!r}")
    joined: dict[Key, int] = {}
    spent: Counter[Key] = Counter()
    for key, ports in wanted.items():
        side, name = key
        earlier = [(other, name) for other in (OUTPUT, INPUT) if (other, name) in known]
        if side == OUTPUT or (only and name not in only):
            if earlier:
                say(f"{key_text(key)} is not joined to {path}: it has a salt of its own, and so another root")
            continue
        earlier += [other for other, opening in known.items() if other not in earlier and opening.ports == ports]
        reasons = []
        for other in earlier:
            opening = known[other]
            reason = difference(ports, opening.ports, ("this program", str(path)))
            if reason is None and root_of(key, opening.salt) != opening.root:
                listed = ", ".join(port.name for port in ports)
                reason = f"{key_text(key)} ({listed}) has other values than {key_text(other)} there"
            if reason is None and opening.left is not None and spent[other] >= opening.left:
                raise CircuitizeError(
                    f"--openings-from: expected a root that may be opened again, found {key_text(other)} of {path} "
                    "opened as often as it was made for; once more would tell others about its values: prove without "
                    "--openings-from, and they get a new root (--renew shows that one holds the same, in time)"
                )
            if reason is None:
                joined[key] = opening.salt
                spent[other] += 1
                say(f"{key_text(key)} is joined to {key_text(other)} of {path}: both have one root")
                if opening.left is not None and opening.left - spent[other] == 1:
                    say(f"that root may be opened once more: with --renew {name} the values then get a new one")
                break
            reasons.append(reason)
        if earlier and key not in joined:
            others = "join others alone: --join NAME"
            raise CircuitizeError(
                f"--openings-from: expected {key_text(key)} as {path} has it, found that {reasons[0]}; give the same "
                f"values (--inputs), or {others}"
            )
        if only and not earlier:
            raise CircuitizeError(f"--join {name}: expected that name, or its ports, in {path}, found {_names(known)}")
    if not joined:
        raise CircuitizeError(
            f"--openings-from: expected a committed input named as in {path} ({_names(known)}), or of the same ports, "
            f"found {inputs}; give the openings of a proof that shares one"
        )
    if scheme == HIDING:
        _spend(path, {key: (known[key], count) for key, count in spent.items()})
    return joined


def _spend(path: Path, spent: Mapping[Key, tuple[Opening, int]]) -> None:
    """Count openings as used in their file, before any of them is made: a proof that fails afterwards has used up its
    openings.

    Each opening is given in the state in which it was read before the file was locked, together with the number of
    times that the new proof opens its root. If the path is a link, the openings are counted in the file to which the
    link leads, since a new file in place of the link would be a second count. Raise CircuitizeError if another process
    has used up the remaining openings, if the file has another root by now, and for a file with several hard links,
    each of which would have a separate count.
    """
    path = path.resolve()
    with alone(path):
        if path.stat().st_nlink > 1:
            raise CircuitizeError(
                f"{path}: expected a file of one name, found one with {path.stat().st_nlink} (hard links), whose "
                "openings would be counted apart; remove the other names"
            )
        content, known = _read_whole(path, HIDING)
        for key, (earlier, count) in spent.items():
            found = known.get(key)
            if found is None or (found.salt, found.root) != (earlier.salt, earlier.root):
                raise CircuitizeError(
                    f"{path}: expected the root of {key_text(key)} that was there when the proof was begun, found "
                    f"{'another' if found else 'none'}: the file was exchanged meanwhile; prove again"
                )
            left = (found.left or 0) - count
            content["openings"][key_text(key)]["left"] = left
            if left < 0:
                raise CircuitizeError(
                    f"{path}: expected {count} openings of {key_text(key)} left, found fewer: another proof was made "
                    "meanwhile; prove without --openings-from, and the values get a new root"
                )
        write_whole(path, [_text(content)], private=True)


def _names(known: Mapping[Key, Opening]) -> str:
    return ", ".join(map(key_text, known)) or "nothing"


def drawn_or_joined(
    program: IntegerProgram,
    inputs: Mapping[str, NDArray[np.int64]],
    earlier: Path | None,
    only: Sequence[str] = (),
    say: Callable[[str], object] = silent,
) -> dict[Key, int]:
    """Return a salt for each committed port: if the port joins an input or output in an earlier file of openings, the
    salt of the latter, and otherwise a fresh one.
    """
    drawn = draw_salts(program)
    if earlier is None:
        return drawn
    from circuitize.backends.r1cs.commitments import commit

    formats = {port.name: port.format for port in program.inputs}

    def root_of(key: Key, salt: int) -> int:
        format = formats[key[1]]
        return commit(inputs[key[1]], format, salt)

    return drawn | join(earlier, POSEIDON, port_lists(program), root_of, only, say)


def named_salts(salts: Mapping[Key, int]) -> dict[str, int]:
    """Return the salts of committed ports by the names that the plans of witnesses use for them."""
    return {f"{side} {name}": salt for (side, name), salt in salts.items()}


def write_openings(path: Path, scheme: str, digest: str, openings: Mapping[Key, Opening]) -> None:
    """Write openings to a file that only its owner can read, and that appears complete or not at all."""
    named = {
        key_text(key): {
            "salt": hex(one.salt),
            "root": hex(one.root),
            "ports": [asdict(port) for port in one.ports],
            **({} if one.left is None else {"left": one.left}),
        }
        for key, one in openings.items()
    }
    content = {
        "circuitize": VERSION,
        "secret": "keep this file, never send it",
        "scheme": scheme,
        "digest": digest,
        "openings": named,
    }
    write_whole(path, [_text(content)], private=True)


def _text(content: Json) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def opened(
    salts: Mapping[Key, int],
    roots: Mapping[Key, int],
    lists: Mapping[Key, PortList],
    left: Mapping[Key, int] | None = None,
) -> dict[Key, Opening]:
    """Return the opening of each commitment, which the prover keeps; `left` says how often each root may still be
    opened, if that is limited.
    """
    return {key: Opening(salt, roots[key], lists[key], (left or {}).get(key)) for key, salt in salts.items()}


def read_openings(path: Path) -> dict[Key, int]:
    """Return the salts in the openings of an earlier proof, by port or group. Raise FormatError for a file that
    contains no openings, or that is damaged.
    """
    return {key: opening.salt for key, opening in _read(path, None).items()}


def left_of(path: Path) -> dict[Key, int | None]:
    """Return how often each root may still be opened, which is None for a root without a limit. Raise FormatError for a
    file that contains no openings.
    """
    return {key: opening.left for key, opening in _read(path, None).items()}


def _read(path: Path, scheme: str | None) -> dict[Key, Opening]:
    return _read_whole(path, scheme)[1]


def _read_whole(path: Path, scheme: str | None) -> tuple[Json, dict[Key, Opening]]:
    """Return the content of a file of openings as JSON, and the openings in it."""
    try:
        written = read_at_most(path, MOST_BYTES, "openings that prove wrote", "give another file")
        content = parse_json(written, MOST_BYTES >> 4)
        if content["circuitize"] != VERSION:
            raise ValueError(f"version {excerpt(content['circuitize'])}, expected {VERSION}")
        if scheme not in (None, content["scheme"]):
            raise ValueError(
                f"scheme {excerpt(content['scheme'])}, expected {scheme!r}: give those of such a prover, or none: the "
                "values then get a new root"
            )
        made = {}
        for name, one in content["openings"].items():
            side, colon, port = name.partition(":")
            if not colon or side not in (INPUT, OUTPUT):
                raise ValueError(f"port {excerpt(name)}")
            ports = tuple(map(_listed, one["ports"]))
            made[side, port] = Opening(_secret(one["salt"]), _secret(one["root"]), ports, _left(content["scheme"], one))
        return content, made
    except OSError as error:
        raise FormatError(f"{path}: expected openings, found {error.strerror or error}; check the path") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{path}: expected openings that prove wrote, found another file ({error})") from None


def _secret(text: str) -> int:
    found = int(text, 16)
    if not 0 <= found < 1 << 256:
        raise ValueError("a salt or a root past 32 bytes")
    return found


def _left(scheme: object, entry: Json) -> int | None:
    if scheme != HIDING:
        return None
    found = entry["left"]
    if type(found) is not int or found < 0:
        raise ValueError(f"{excerpt(found)} openings left")
    return found


def _listed(entry: Json) -> Listed:
    if entry.keys() != {field.name for field in fields(Listed)}:
        raise ValueError(f"port {excerpt(entry)}")
    made = Listed(**{**entry, "shape": tuple(entry["shape"])})
    numbers = (*made.shape, made.fraction_bits, made.low, made.high, made.blocks)
    if not isinstance(made.name, str) or not all(type(number) is int for number in numbers):
        raise ValueError(f"port {excerpt(entry)}")
    return made
