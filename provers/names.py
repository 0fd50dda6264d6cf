"""The table of provers: for each prover the module that describes it, the bytes with which its keys begin, and whether
its proofs hide values.

Statements and folders of keys name their prover; this table resolves the name without importing the prover's own
modules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """The entry of one prover in the table of provers. The `module` of an entry contains the prover's descriptor as
    `PROVER`; its `verifying_magic` and `proving_magic` are the bytes with which the prover's keys begin, and are None
    for a prover without keys.

    A prover whose entry has `hides` makes zero-knowledge proofs by default; a prover whose entry has `plain` also makes
    proofs that hide nothing.
    """

    module: str
    hides: bool
    verifying_magic: bytes | None = None
    proving_magic: bytes | None = None
    plain: bool = False


PROVERS: dict[str, Entry] = {
    "groth16": Entry("circuitize.provers.groth16.descriptor", True, b"circuitize-g16vk", b"circuitize-g16pk"),
    "mirage": Entry("circuitize.provers.mirage.descriptor", True, b"circuitize-mirvk", b"circuitize-mirpk"),
    "halo2": Entry("circuitize.provers.halo2.descriptor", True, b"circuitize-hl2vk", b"circuitize-hl2pk"),
    "tensor": Entry("circuitize.provers.tensor.descriptor", True, plain=True),
}
"""The provers by name, in the order in which they are offered; `catalogue.register` adds further provers."""

SHIPPED = frozenset(PROVERS)
"""The provers that come with the package; further provers are registered."""

MAGIC_BYTES = 16


def names() -> tuple[str, ...]:
    """Return the names of all provers in the table, in the order of help texts and lists."""
    return tuple(PROVERS)


def keyed() -> tuple[str, ...]:
    """Return the names of the provers that have a setup, so that the verifier's key decides. For a prover without a
    setup, the verifier holds the program instead of a key.
    """
    return tuple(name for name, entry in PROVERS.items() if entry.verifying_magic is not None)


def hides(name: str) -> bool:
    """Return whether the proofs of a prover are zero-knowledge by default; for an unknown prover, return True."""
    return name not in PROVERS or PROVERS[name].hides


def kinds(name: str) -> frozenset[bool]:
    """Return the possible answers to whether a proof of a prover is zero-knowledge: True, False, or, as for an unknown
    prover, both.
    """
    found = PROVERS.get(name)
    if found is None:
        return frozenset((True, False))
    return frozenset((found.hides, found.hides and not found.plain))


def prover_of_key(start: bytes) -> str | None:
    """Return the name of the prover whose proving or verifying keys begin with the given bytes, or None."""
    magic = start[:MAGIC_BYTES]
    found = (name for name, one in PROVERS.items() if magic in (one.verifying_magic, one.proving_magic))
    return next(found, None) if magic else None
