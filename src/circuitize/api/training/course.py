"""The course of a training: the examples and scalars of each step, and a hash of everything that determines the
training's values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from circuitize.backends.tensor.dataset import batch_size
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port, Role
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.provers.tensor.runs.order import rows
from circuitize.provers.tensor.runs.scalars import Asked, Scalars

from ..exact import Exact, Integers


@dataclass(frozen=True)
class Course:
    """The course of a training: its step, the examples of its data inputs, the seed of their order, and the scalars of
    each step, all of them exact.

    The batches and scalars of a course are computed by the same functions as those of a proved run.
    """

    step: Exact
    data: Mapping[str, Integers]
    seed: bytes
    scalars: Scalars
    initial: Mapping[str, Integers]

    def __post_init__(self) -> None:
        leaving = {port.name: port.format for port in self.step.integer.outputs}
        stays = next((port.name for port in self.held if leaving.get(port.name) != port.format), None)
        if stays is not None or not self.held:
            found = "no parameters" if stays is None else f"{stays!r}, which does not leave it in its format"
            raise CircuitizeError(
                f"expected a step whose parameters leave as they enter, found {found}; training_step makes one"
            )
        if self.size < self.batch:
            raise CircuitizeError(f"expected at least {self.batch} examples, a batch, found {self.size}; add some")

    @property
    def size(self) -> int:
        """Return the number of examples in the dataset of the training."""
        return len(next(iter(self.data.values())))

    @cached_property
    def batch(self) -> int:
        """Return the number of examples that one step takes."""
        return batch_size(self.step.integer)

    @property
    def steps_of_epoch(self) -> int:
        """Return the number of steps in an epoch: the whole batches that the dataset's examples make."""
        return self.size // self.batch

    @cached_property
    def held(self) -> tuple[Port[Fixed], ...]:
        """Return the inputs whose values a step hands on to the next: parameters, the optimizer's state, and other
        state.
        """
        return tuple(port for port in self.step.integer.inputs if port.held)

    @cached_property
    def _asked(self) -> Asked:
        return Asked(tuple(p for p in self.step.integer.inputs if p.role is Role.SCALAR), self.scalars)

    def scalars_of(self, step: int) -> dict[str, Integers]:
        """Return the scalars of the step with the given number; the first step has number 1. Raise CircuitizeError if a
        scalar of the step is missing or outside its format.
        """
        return {name: values[0] for name, values in self._asked.of(step, 1).items()}

    def all_scalars(self, last: int) -> dict[str, Integers]:
        """Return the scalars of the steps 1 to `last`, by name, with one value for each step. Raise CircuitizeError for
        the same reasons as `scalars_of`.
        """
        steps = [self.scalars_of(step) for step in range(1, last + 1)]
        return {port.name: np.array([made[port.name] for made in steps], np.int64) for port in self._asked.ports}

    def batches(self, after: int, last: int) -> Iterator[dict[str, Raw]]:
        """Yield the inputs, except the held values, of each step from `after` + 1 to `last`."""
        for step in range(after + 1, last + 1):
            chosen = rows(self.seed, self.size, self.batch, step)
            given = {name: tensor[chosen] for name, tensor in self.data.items()} | self.scalars_of(step)
            yield {name: Raw(values) for name, values in given.items()}

    def stretch(self, after: int, count: int) -> dict[str, Integers]:
        """Return, by name, the inputs that `batches` yields for `count` steps, as arrays with the steps along the first
        axis.
        """
        steps = range(after + 1, after + 1 + count)
        chosen = np.stack([rows(self.seed, self.size, self.batch, step) for step in steps])
        scalars = [self.scalars_of(step) for step in steps]
        given = {name: tensor[chosen] for name, tensor in self.data.items()}
        return given | {name: np.stack([one[name] for one in scalars]) for name in scalars[0]}

    @cached_property
    def digest(self) -> str:
        """Return a hash of the program, the seed, the examples and the initial values, which determine a training
        together with its scalars.
        """
        return digest_of(f"{self.step.digest} {self.seed.hex()}", self.data, self.initial)

    def scalars_digest(self, last: int) -> str:
        """Return a hash of the scalars of the steps 1 to `last`; if `last` grows from call to call, each scalar is
        hashed only once.
        """
        done, found = self._hashed[-1] if self._hashed and self._hashed[-1][0] <= last else (0, hashlib.sha256())
        for step in range(done + 1, last + 1):
            for name, value in sorted(self.scalars_of(step).items()):
                found.update(json.dumps([name, int(value)]).encode())
        self._hashed[:] = [(last, found)]
        return found.hexdigest()

    @cached_property
    def _hashed(self) -> list[tuple[int, hashlib._Hash]]:
        """Return a list that keeps the last step whose scalars were hashed, and the state of the hash up to that
        step.
        """
        return []


def digest_of(named: str, *arrays: Mapping[str, Integers]) -> str:
    """Return a hash that covers a text and arrays by name."""
    found = hashlib.sha256(json.dumps(named).encode())
    for group in arrays:
        for name in sorted(group):
            found.update(json.dumps([name, group[name].shape]).encode())
            found.update(np.ascontiguousarray(group[name], "<i8").tobytes())
    return found.hexdigest()
