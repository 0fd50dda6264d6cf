"""Continuing a training where a finished run ended: the next run begins with the last commitments of the finished run,
so that equal roots join the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import alone
from circuitize.circuits.program import IntegerProgram

from .budget import openings, tensors
from .files import Manifest, read_manifest, read_step, step_path
from .setting import Run
from .state import PROVES, State


@dataclass(frozen=True)
class Earlier:
    """A finished run as its prover knows it: its manifest, the stored state, and the roots with which it ended.

    Verifiers do not see the prover's files of a finished run: they compare the roots of the two runs. The last roots of
    a finished run may be opened often enough for only one run that continues it.
    """

    folder: Path
    kept: Path
    manifest: Manifest
    state: State
    roots: Mapping[str, bytes]

    @property
    def next(self) -> int:
        """Return the number of the step that follows the last step of the run."""
        return self.state.step + 1

    def openings(self, program: IntegerProgram) -> int | None:
        """Return how often the last root of the run's dataset may be opened, or None if the run's proofs hide
        nothing.
        """
        if not self.manifest.zero_knowledge:
            return None
        return openings(tensors(program, self.manifest.examples), -(-self.manifest.steps // self.manifest.per_proof))

    def require_goes_on(self, run: Run) -> None:
        """Raise CircuitizeError unless `run` has the same program and kind of proofs as the finished run, and begins
        with the step after it.
        """
        if self.manifest.program != run.digest:
            raise CircuitizeError(
                f"{self.folder}: expected a run of program {run.digest}, found one of {self.manifest.program}; give "
                "the program that it is of"
            )
        if run.first != self.next:
            raise CircuitizeError(f"{self.folder}: expected to go on with step {self.next}, found step {run.first}")
        if run.zero_knowledge != self.manifest.zero_knowledge:
            kinds = ("not in zero knowledge", "in zero knowledge")
            raise CircuitizeError(
                f"{self.folder}: expected a run that is {kinds[run.zero_knowledge]}, found one that is "
                f"{kinds[self.manifest.zero_knowledge]}; go on with proofs of its kind"
            )

    def require_roots(self, current: Mapping[str, bytes]) -> None:
        """Raise CircuitizeError unless the given roots are those with which the run ended, including that of its
        dataset.
        """
        for name, root in current.items():
            if self.roots.get(name) != root:
                what = "the dataset that it was proved with" if name == DATA else f"the {name} that it ended with"
                raise CircuitizeError(f"{self.folder}: expected {what}, found another; go on with the same")

    def followed(self, fingerprint: bytes) -> tuple[State, bool]:
        """Return the state from which the run with the given fingerprint begins, where the finished run ended, and
        whether that run had not been recorded before.

        The prover's secret file of the finished run records which run continues it, before any root is opened for that
        run. Raise CircuitizeError if another run already continues from the finished run, since in zero knowledge its
        last roots may be opened often enough for only one. The caller must hold the lock of the finished run, which
        `alone` takes.
        """
        state = State.read(self.kept)
        if self.manifest.zero_knowledge and state.follower not in (b"", fingerprint):
            raise CircuitizeError(
                f"{self.folder}: expected a run that no other one goes on from, found one that does, with other "
                "scalars, seed or length; its last roots would tell about their values if they were opened so "
                "often: go on from the end of that run, or prove this one again in another folder"
            )
        replace(state, follower=fingerprint).write(self.kept)
        own = replace(state, secret=state.derived(f"after {fingerprint.hex()}"), follower=b"", promised=b"")
        return own.of(fingerprint), not state.follower

    def left(self, fingerprint: bytes) -> None:
        """Remove the record that the run with the given fingerprint continues from the finished run; that run was new
        and has shown nothing.

        The caller must have held the lock without interruption since it called `followed`; otherwise the same run might
        have begun in another folder and shown something there.
        """
        state = State.read(self.kept)
        if state.follower == fingerprint:
            replace(state, follower=b"").write(self.kept)

    def alone(self) -> AbstractContextManager[None]:
        """Return a context manager during which no other process can continue from the finished run. Raise
        CircuitizeError if another process is already continuing from the finished run.
        """
        return alone(self.kept, PROVES, wait=False)


def earlier(folder: Path, kept: Path) -> Earlier:
    """Return the finished run in a folder. Raise CircuitizeError if the folder holds no finished run, or if `kept` is
    not the secret file of its prover.
    """
    manifest, state = read_manifest(folder), State.read(kept)
    last = manifest.first + manifest.steps - 1
    if state.step != last:
        raise CircuitizeError(
            f"{kept}: expected a run that was proved up to step {last}, found one up to step {state.step}; prove the "
            "rest of it first"
        )
    proof = read_step(step_path(folder, last - (manifest.steps - 1) % manifest.per_proof))
    roots = {name: root for (side, name), root in proof.roots.items() if side == OUTPUT}
    return Earlier(folder, kept, manifest, state, roots | {DATA: proof.roots.get((INPUT, DATA), b"")})
