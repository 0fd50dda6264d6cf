"""The target of tensor proofs: its sizes are the commitments, lookups and sums of a proof, counted before the proof is
made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from circuitize.circuits.reading import Json

from .contract import LeftOut, Shown
from .native import native_part
from .options import Options
from .provers import OwnCircuit

if TYPE_CHECKING:
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims import agree

MOST_PARTS = 12
"""The number of parts of a tensor proof that are printed; --json has all."""


class TensorProof(OwnCircuit):
    """The target of tensor proofs: it counts the plans of a single proof, with and without zero knowledge, and of one
    step of a run.
    """

    title = "tensor proof"
    measure = "lookups"
    counted = False
    rules_in = "circuitize.backends.tensor.lowering"

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        from circuitize.backends.tensor.errors import Unprovable

        with native_part():
            from circuitize.provers.tensor.cost import estimate
        try:
            return estimate(program)
        except Unprovable as error:
            raise LeftOut(str(error)) from None

    def shown(self, sizes: Json) -> Iterator[Shown]:
        kinds = [(self.title, sizes)]
        if sizes["zero_knowledge"]:
            kinds.append((self.title, sizes["not_zero_knowledge"]))
        if "with_weights" in sizes:
            kinds.append((f"{self.title} with weights apart", sizes["with_weights"]))
        if "step_of_a_run" in sizes:
            kinds.append((f"{self.title} of a step of a run", sizes["step_of_a_run"]))
        for title, own in kinds:
            yield title if own["zero_knowledge"] else f"{title}, NOT zero-knowledge"
            yield [(name.replace("_", " "), size) for name, size in own.items() if not isinstance(size, dict | bool)]
        parts = sorted(sizes["parts"].items(), key=lambda part: -sum(part[1].values()))
        yield f"tensor proof by part, looked up and committed, {len(parts[:MOST_PARTS])} of {len(parts)}"
        yield [(name, f"{part['lookups']:,} and {part['committed']:,}") for name, part in parts[:MOST_PARTS]]

    def check(self, program: IntegerProgram) -> agree.Target:
        with native_part():
            from circuitize.api.agreement import TensorProof
        return TensorProof(program)


tensor_proof = TensorProof("tensor")
