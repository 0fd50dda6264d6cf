"""The table of provers for choosing one: their names, the facts for a choice, and the prover to which a key's file
belongs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.provers import names

if TYPE_CHECKING:
    from circuitize.provers.contract import Prover as Prover


def prover_names() -> tuple[str, ...]:
    """Return the names of all provers, in the order of help and lists."""
    return names.names()


def keyed_names() -> tuple[str, ...]:
    """Return the provers with a setup, for which a verifier holds a key. For provers without a setup, the verifier
    holds the program.
    """
    return names.keyed()


def plain_names() -> tuple[str, ...]:
    """Return the provers that can make proofs which hide nothing."""
    return tuple(name for name in names.names() if False in names.kinds(name))


def prover(name: str) -> Prover:
    """The prover with a given name. Raise CircuitizeError if there is no prover of that name."""
    from circuitize.provers.catalogue import prover

    return prover(name)


def prover_of_key(path: Path) -> str | None:
    """The prover to which a key's file belongs, told by its first bytes; None if they begin no key.

    Raise OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        return names.prover_of_key(file.read(names.MAGIC_BYTES))
