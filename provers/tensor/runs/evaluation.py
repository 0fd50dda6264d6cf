"""The evaluation of a run: how well its final values perform on a committed test set, proved in the same chain of
roots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import circuitize._native as _native
from circuitize.backends.tensor.dataset import ROWS, Dataset, batch_ports, batch_size
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT, PortKey, input_groups
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Told, scan
from circuitize.circuits.types import Fixed

from ..plan import OPENINGS, Plan, plan
from ..prover import commit
from .budget import tensors
from .chunk import BATCH, Chunk
from .start import formats_program

TEST = "test"
"""The name of the test set's root, among those of a run."""

PUBLIC_SECRET = b"circuitize: a public test set \0\0"
"""The secret of a root that anybody may make again from the test set, to see that it commits to that set."""


@dataclass(frozen=True)
class Evaluation:
    """A program that evaluates the final values of a run on each batch of a test set of `size` examples, in the order
    of the examples.

    Soundness: prover and verifier each make an Evaluation from their own inputs, and neither takes it from the other.
    An Evaluation fixes the program, the plan and the rows of each batch: every example is in exactly one batch. The
    proof of an evaluation states the sums of the public outputs over all batches, the roots of the evaluated values,
    which are those after the run's last step, and the root of the test set, which is part of the run's name, so that
    the test set was fixed before the first step. The proof of an evaluation also shows that the test set is in format.
    Raise Unprovable for a program that takes no held values, or that has no public output.
    """

    program: IntegerProgram
    size: int
    zero_knowledge: bool = True

    def __post_init__(self) -> None:
        batch = batch_size(self.program)
        public = [port for port in self.program.outputs if port.visibility is Visibility.PUBLIC]
        if not public or len(public) != len(self.program.outputs):
            raise Unprovable("expected an evaluation whose outputs are public, and at least one, found others")
        for port in self.program.inputs:
            if not port.held and port.visibility is not Visibility.COMMITTED:
                raise Unprovable(f"expected input {port.name!r} of an evaluation to be committed, found it public")
        if self.size < batch or self.size % batch:
            raise CircuitizeError(
                f"expected a test set of whole batches of {batch}, found {self.size} examples; choose a batch that "
                "divides them"
            )

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the names of the groups of values that the program evaluates."""
        return tuple(name for name in input_groups(self.program) if name != DATA)

    @property
    def batches(self) -> int:
        """Return the number of batches in the test set."""
        return self.size // batch_size(self.program)

    @cached_property
    def chunk(self) -> Chunk:
        """Return the chunk of the evaluation's proof: all batches, as steps that hand nothing on to each other."""
        made = scan(self.program, self.batches, Told.TOTAL)
        dataset = Dataset(self.size, {port.name: (port.name, BATCH) for port in batch_ports(self.program)}, axes=2)
        openings = OPENINGS if self.zero_knowledge else None
        return Chunk(made, plan(made.program, assumed=self.kept, dataset=dataset, openings=openings, scanned=made))

    @cached_property
    def tensors(self) -> tuple[Port[Fixed], ...]:
        """Return the ports of the test set of the evaluation."""
        return tensors(self.program, self.size)

    @property
    def rows(self) -> dict[str, Integers]:
        """Return the numbers of the examples in each batch, as an array [batches, examples] under the single name
        BATCH.
        """
        return {BATCH: np.arange(self.size).reshape(self.batches, -1)}

    @property
    def publics(self) -> dict[PortKey, Integers]:
        """Return the public values that enter the proof of an evaluation: the numbers of the examples in all
        batches.
        """
        return {(ROWS, label): rows for label, rows in self.rows.items()}

    def inputs(self, held: Mapping[str, Integers], data: Mapping[str, Integers]) -> dict[str, Integers]:
        """Return all inputs of the evaluation's program: the held values and the test set."""
        rows = self.rows[BATCH]
        batches = {port.name: data[port.name][rows] for port in self.tensors}
        return {port.name: held[port.name] for port in self.program.inputs if port.held} | batches

    def require_value(self, held: Mapping[str, Integers], data: Mapping[str, Integers]) -> None:
        """Raise CircuitizeError if the evaluation is undefined on the values with which a run begins; it may still be
        undefined on later values.

        The evaluation is run batch by batch, so that this check takes as long as the evaluation itself.
        """
        try:
            self.chunk.scan.inputs(self.inputs(held, data))
        except CircuitizeError as error:
            raise CircuitizeError(f"evaluation of what the run begins with: {error}") from None

    @cached_property
    def _laid(self) -> Plan:
        """Return the plan by which the test set is committed to."""
        program = formats_program((), self.tensors, None)
        return plan(program, openings=OPENINGS if self.zero_knowledge else None)

    def content(self, data: Mapping[str, Integers]) -> bytes:
        """Return a hash of a test set that covers the same content as its root: the list of its ports, and all
        values.
        """
        found = hashlib.sha256(self._laid.encoded_lists[0])
        for port in self.tensors:
            found.update(np.ascontiguousarray(data[port.name], "<i8").tobytes())
        return found.digest()

    def commitment(self, data: Mapping[str, Integers], secret: bytes) -> _native.TensorCommitment:
        """Return the commitment to the test set, made with the secret of its root."""
        return commit(self._laid, self._laid.trace(data), (INPUT, DATA), secret)

    def results(self, publics: Mapping[PortKey, Integers]) -> dict[str, Integers]:
        """Return the results of the evaluation by output name: sums over all batches."""
        return {port.name: publics[OUTPUT, port.name] for port in self.program.outputs}
