"""Tensor proofs as a target to compare with the integer executor: a run is proved, and proofs of forged runs are
attempted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.tensor.groups import INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.program import IntegerProgram, named_inputs, named_outputs
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove_values
from circuitize.provers.tensor.verifier import refusal
from circuitize.sims import integer
from circuitize.sims.forgery import forgeries

Integers = NDArray[np.int64]
Trace = Sequence[Integers]


class TensorProof:
    """The tensor proofs of a program, as a target that is compared with the integer executor. Raise Unprovable if the
    program has no tensor proof.
    """

    name = "tensor"

    def __init__(self, program: IntegerProgram) -> None:
        self.program = program
        self.plan = plan(program)
        self.executed = replace(program, arrow=self.plan.arrow)

    def difference(self, trace: Trace) -> str | None:
        """Return a text that says why the proof of a run does not hold, or where the proof's statement differs from the
        run; return None if the proof holds and states the run.
        """
        inputs, outputs = named_inputs(self.program, trace), named_outputs(self.program, trace)
        try:
            values = integer.trace(self.executed, inputs)
        except Undefined as error:
            return f"undefined: {error}"
        proved = prove_values(self.program, self.plan, values, self.plan.values(values))
        reason = refusal(self.program, proved.statement, proved.proof, self.plan)
        if reason is not None:
            return f"the proof does not hold: {reason}"
        for (side, name), stated in proved.statement.publics.items():
            run = {INPUT: inputs, OUTPUT: outputs}[side][name]
            if not np.array_equal(stated, run):
                at = tuple(int(i) for i in np.argwhere(stated != run)[0])
                return f"{side} {name}, element {list(at)}: {stated[at]} in the proof, {run[at]} in the run"
        for port in self.program.outputs:
            if not np.array_equal(proved.outputs[port.name], outputs[port.name]):
                return f"{OUTPUT} {port.name}: another value in the proof than in the run"
        return None

    def accepts(self, forged: Trace) -> bool:
        """Return whether some forged run on the given inputs has a proof that holds."""
        inputs = named_inputs(self.program, forged)
        return any(self._holds(values) for _, values in forgeries(self.executed, inputs))

    def of(self, program: IntegerProgram) -> TensorProof:
        """Return the same kind of target for another program."""
        return TensorProof(program)

    def _holds(self, values: list[Integers]) -> bool:
        try:
            # A forgery may divide by what its Check let pass.
            with np.errstate(all="ignore"):
                proved = prove_values(self.program, self.plan, values, self.plan.values(values))
        except CircuitizeError:
            return False
        return refusal(self.program, proved.statement, proved.proof, self.plan) is None
