"""The accuracy of a run on its test set, as its prover and its verifier state it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from circuitize.circuits.reading import Json
from circuitize.circuits.values import to_reals
from circuitize.provers.tensor.runs.evaluation import Evaluation

from ..exact import Integers, Reals

RIGHT = "right"
"""The output that counts right answers."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The exact totals of an evaluation's outputs over all `batches` batches of a test set of `examples` examples, in
    units of 2^-`fraction_bits`.
    """

    examples: int
    batches: int
    totals: Mapping[str, Reals]
    fraction_bits: Mapping[str, int]

    @property
    def right(self) -> int | None:
        """Return the number of right answers on the test set, or None if the evaluation does not count them."""
        return int(self.totals[RIGHT]) if RIGHT in self.totals else None

    @property
    def accuracy(self) -> float | None:
        """Return the share of right answers on the test set, or None if the evaluation does not count them."""
        return None if self.right is None else self.right / self.examples

    def as_json(self) -> Json:
        """Return the evaluation's counts and, by output name, its exact totals with their fraction bits."""
        totals = {
            name: {"fraction_bits": self.fraction_bits[name], "total": total.tolist()}
            for name, total in self.totals.items()
        }
        counts = {"examples": self.examples, "batches": self.batches, "right": self.right, "accuracy": self.accuracy}
        return counts | {"totals": totals}


def evaluated(evaluation: Evaluation | None, results: Mapping[str, Integers]) -> Evaluated | None:
    """Return the result of an evaluation, from the integers that its proofs state."""
    if evaluation is None:
        return None
    formats = {port.name: port.format for port in evaluation.program.outputs if port.format is not None}
    return Evaluated(
        evaluation.size,
        evaluation.batches,
        {name: to_reals(formats[name], values) for name, values in results.items()},
        {name: format.fraction_bits for name, format in formats.items()},
    )
