"""The table of provers: the module that describes each, the bytes with which its keys begin, and whether its proofs
hide values.

Statements and folders of keys name provers; this table resolves the names without a prover's own modules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """The entry of one prover in the table of provers. The `module` of an entry holds the prover's descriptor as
    `PROVER`; its `magic` begins the prover's keys and is empty for a prover without keys.

    A prover whose entry says `hides` makes zero-knowledge proofs; a prover with `plain` proofs also makes proofs that
    hide nothing.
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
    """Return the names of all provers of the package, in the order of help and lists."""
    return tuple(PROVERS)


def keyed() -> tuple[str, ...]:
    """Return the provers with a setup, for which the verifier's key decides. For provers without a setup, the verifier
    holds the program.
    """
    return tuple(name for name, entry in PROVERS.items() if entry.verifying_magic is not None)


def hides(name: str) -> bool:
    """Whether proofs of a prover are zero-knowledge, by default; those of an unknown prover may be."""
    return name not in PROVERS or PROVERS[name].hides


def kinds(name: str) -> frozenset[bool]:
    """Whether proofs of a prover may be zero-knowledge, and whether they may not be; both are true for an unknown
    prover.
    """
    found = PROVERS.get(name)
    if found is None:
        return frozenset((True, False))
    return frozenset((found.hides, found.hides and not found.plain))


def prover_of_key(start: bytes) -> str | None:
    """The prover whose keys, verifying or proving ones, begin with the given bytes."""
    magic = start[:MAGIC_BYTES]
    found = (name for name, one in PROVERS.items() if magic in (one.verifying_magic, one.proving_magic))
    return next(found, None) if magic else None
