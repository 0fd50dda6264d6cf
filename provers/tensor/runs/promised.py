"""The promise with which a secret is stored before its run is proved: the secret is never used to commit to other
values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Role

from .scalars import Asked
from .setting import Run
from .state import State

DIGEST = hashlib.sha256().digest_size
COUNT = 8
"""The bytes in which a number of steps is written."""


def promised(run: Run, data: Mapping[str, Integers], steps: int) -> bytes:
    """Return the digest of a promise, which is stored beside a secret whose roots were published for the first `steps`
    steps of a run.

    The digest of a promise is a hash of everything that determines the values at each step except the initial values,
    which are stored themselves: the program, the kind of proofs, the seed, the dataset, and the scalars of these steps.
    """
    return _course(run, data) + steps.to_bytes(COUNT, "little") + _scalars(run, steps)


def steps_promised(state: State) -> int:
    """Return the number of the step up to which published roots fix the scalars of the run."""
    return int.from_bytes(state.promised[DIGEST : DIGEST + COUNT], "little")


def require_promised(run: Run, data: Mapping[str, Integers], state: State, kept: Path) -> None:
    """Raise CircuitizeError unless the run is the one for which the secret was stored."""
    if state.promised != promised(run, data, steps_promised(state)):
        raise CircuitizeError(
            f"{kept}: expected the program, seed, dataset, scalars and kind of proofs of the training whose roots "
            "were written down, found others; give the same, or choose another folder for this run"
        )


def with_dataset(run: Run, state: State) -> State:
    """Return the state with the secret for the root of the run's dataset, which may be opened as often as the run
    needs.

    A root that may be opened another number of times contains other random words, and therefore has another secret.
    """
    openings = str(run.openings) if run.zero_knowledge else "any"
    return replace(state, roots={**state.roots, DATA: state.derived(f"dataset {run.first - 1} opened {openings}")})


def _course(run: Run, data: Mapping[str, Integers]) -> bytes:
    found = hashlib.sha256(json.dumps([run.digest, run.zero_knowledge, run.seed.hex(), run.first, run.size]).encode())
    for name in sorted(data):
        found.update(json.dumps([name, data[name].shape]).encode())
        found.update(np.ascontiguousarray(data[name], "<i8").tobytes())
    return found.digest()


def _scalars(run: Run, steps: int) -> bytes:
    ports = tuple(port for port in run.program.inputs if port.role is Role.SCALAR)
    found = hashlib.sha256()
    if steps:
        for name, values in sorted(Asked(ports, run.scalars).of(run.first, steps).items()):
            found.update(json.dumps(name).encode() + np.ascontiguousarray(values, "<i8").tobytes())
    return found.digest()
