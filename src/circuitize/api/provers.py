"""The provers there are, for whoever chooses one: their names, what a choice needs, and whose a key's file is."""

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
    """Those with a setup: whoever verifies holds a key. For the others it holds the program."""
    return names.keyed()


def plain_names() -> tuple[str, ...]:
    """Those that make proofs which hide nothing, for whoever asks for one."""
    return tuple(name for name in names.names() if False in names.kinds(name))


def prover(name: str) -> Prover:
    """The prover of that name. Raise CircuitizeError where there is none."""
    from circuitize.provers.catalogue import prover

    return prover(name)


def prover_of_key(path: Path) -> str | None:
    """The prover that a key's file is of, told by its first bytes; None if they begin no key.

    Raise OSError where it cannot be read.
    """
    with path.open("rb") as file:
        return names.prover_of_key(file.read(names.MAGIC_BYTES))
