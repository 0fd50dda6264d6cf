"""The table of all provers by name; the modules of a prover are imported only when the prover is used."""

from __future__ import annotations

from importlib import import_module

from circuitize.circuits.errors import CircuitizeError

from .contract import Prover
from .names import PROVERS, Entry, names


def prover(name: str) -> Prover:
    """Return the prover that has the given name. Raise CircuitizeError if no prover has the given name."""
    if name not in PROVERS:
        raise CircuitizeError(f"expected a prover among {', '.join(names())}, found {name!r}; choose one of them")
    found: Prover = import_module(PROVERS[name].module).PROVER
    return found


def register(entry: Entry) -> Prover:
    """Add the prover that a module describes to the table, and return it; the command line, the API and the tests then
    offer it.

    Raise CircuitizeError if another prover has the same name or its keys begin with the same bytes, or if the entry
    contradicts the prover about whether proofs hide values or whether there are keys.
    """
    made: Prover = import_module(entry.module).PROVER
    told = {"hides": (made.hides, entry.hides), "keys": (made.ceremony is not None, entry.verifying_magic is not None)}
    for what, (found, said) in told.items():
        if found != said:
            raise CircuitizeError(f"expected an entry of {made.name} that says {what}: {found}, found {said}; mend it")
    magics = {magic for one in PROVERS.values() for magic in (one.verifying_magic, one.proving_magic)} - {None}
    if made.name in PROVERS or magics & {entry.verifying_magic, entry.proving_magic}:
        raise CircuitizeError(f"expected a prover with a name and keys of its own, found {made.name!r}; rename it")
    PROVERS[made.name] = entry
    return made
