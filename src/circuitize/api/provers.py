"""The table of provers: their names, the facts by which one is chosen, and the prover to which a key's file belongs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.provers import names

if TYPE_CHECKING:
    from circuitize.provers.contract import Prover as Prover


def prover_names() -> tuple[str, ...]:
    """Return the names of all provers, in the order of help texts and lists."""
    return names.names()


def keyed_names() -> tuple[str, ...]:
    """Return the names of the provers that have a setup, so that a verifier holds a key. For a prover without a setup,
    the verifier holds the program instead of a key.
    """
    return names.keyed()


def plain_names() -> tuple[str, ...]:
    """Return the names of the provers that can make proofs which hide nothing."""
    return tuple(name for name in names.names() if False in names.kinds(name))


def prover(name: str) -> Prover:
    """Return the prover with a given name. Raise CircuitizeError if there is no prover of that name."""
    from circuitize.provers.catalogue import prover

    return prover(name)


def prover_of_key(path: Path) -> str | None:
    """Return the prover to which a key's file belongs, recognised by the first bytes of the file, or None if no key
    begins with these bytes.

    Raise OSError if the key's file cannot be read.
    """
    with path.open("rb") as file:
        return names.prover_of_key(file.read(names.MAGIC_BYTES))
