"""Going on where a finished run ended: the next one begins with its last commitments, so that equal roots join both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError

from ..groups import DATA, OUTPUT
from .files import Manifest, read_manifest, read_step, step_path
from .setting import Run
from .state import State


@dataclass(frozen=True)
class Earlier:
    """A finished run, as its prover has it: what it claims, what it kept, and the roots that it ended with.

    No verifier sees this: they compare roots. A run that goes on keeps the secret too, so whoever goes on from one run
    twice salts both alike, and leaves that are equal at one step of both have equal hashes.
    """

    folder: Path
    manifest: Manifest
    state: State
    roots: Mapping[str, bytes]

    @property
    def next(self) -> int:
        """The number of the step after its last."""
        return self.state.step + 1

    def require_goes_on(self, run: Run) -> None:
        """Raises CircuitizeError unless `run` is of the same program, with steps numbered on."""
        if self.manifest.program != run.digest:
            raise CircuitizeError(
                f"{self.folder}: expected a run of program {run.digest}, found one of {self.manifest.program}; give "
                "the program that it is of"
            )
        if run.first != self.next:
            raise CircuitizeError(f"{self.folder}: expected to go on with step {self.next}, found step {run.first}")

    def require_roots(self, current: Mapping[str, bytes]) -> None:
        """Raises CircuitizeError unless these are the roots that the run ended with, and that of its dataset."""
        for name, root in current.items():
            if self.roots.get(name) != root:
                what = "the dataset that it was proved with" if name == DATA else f"the {name} that it ended with"
                raise CircuitizeError(f"{self.folder}: expected {what}, found another; go on with the same")


def earlier(folder: Path, kept: Path) -> Earlier:
    """The finished run in a folder. Raises CircuitizeError where it is none, or `kept` is not what its prover kept."""
    manifest, state = read_manifest(folder), State.read(kept)
    last = manifest.first + manifest.steps - 1
    if state.step != last:
        raise CircuitizeError(
            f"{kept}: expected a run that was proved up to step {last}, found one up to step {state.step}; prove the "
            "rest of it first"
        )
    proof = read_step(step_path(folder, last - manifest.per_proof + 1))
    roots = {name: root for (side, name), root in proof.roots.items() if side == OUTPUT}
    return Earlier(folder, manifest, state, roots | {DATA: manifest.roots.get(DATA, b"")})
