"""The salts of a proof's commitments: secrets that the prover keeps to open a commitment, or to commit to it again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.program import Program, Visibility
from circuitize.circuits.reading import parse_json, read_at_most

from .statement import INPUT, OUTPUT, Key, bound_ports, key_text

VERSION = 1
SALTS = "the openings"
"""What such a file holds, in a message."""
MOST_BYTES = 1 << 22
"""Openings of twenty thousand commitments."""


def draw_salts(program: Program, earlier: Path | None = None) -> dict[Key, int]:
    """A fresh secret salt for each committed port, out of the operating system's randomness.

    `earlier` is the openings file of another proof: an input that it has as an output gets that output's salt, so that
    equal values have equal roots and the two proofs join. Raises FormatError for a damaged file.
    """
    from circuitize.backends.r1cs.field import BN254

    committed = [key for key, port in bound_ports(program) if port.visibility is Visibility.COMMITTED]
    known = {} if earlier is None else read_openings(earlier)
    return {
        key: known[joined]
        if (joined := (OUTPUT, key[1])) in known and key[0] == INPUT
        else secrets.randbelow(BN254.prime)
        for key in committed
    }


def write_openings(path: Path, digest: str, salts: Mapping[Key, int]) -> None:
    """Write salts for their owner's eyes only, whole or not at all."""
    named = {key_text(key): hex(salt) for key, salt in salts.items()}
    content = {"circuitize": VERSION, "secret": "keep this file, never send it", "digest": digest, "salts": named}
    write_whole(path, [(json.dumps(content, indent=1) + "\n").encode()], private=True)


def read_openings(path: Path) -> dict[Key, int]:
    """The salts of an earlier proof, by port. Raises FormatError for any other or damaged file."""
    try:
        written = read_at_most(path, MOST_BYTES, "openings that prove wrote", "give another file")
        content = parse_json(written, MOST_BYTES >> 4)
        if content["circuitize"] != VERSION:
            raise ValueError(f"version {content['circuitize']!r}")
        salts = {}
        for name, salt in content["salts"].items():
            side, _, port = name.partition(":")
            salts[side, port] = int(salt, 16)
        return salts
    except OSError as error:
        raise FormatError(f"{path}: expected openings, found {error.strerror or error}; check the path") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{path}: expected openings that prove wrote, found another file ({error})") from None
