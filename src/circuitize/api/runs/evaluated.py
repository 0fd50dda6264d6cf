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
    """The exact sums, in steps of 2^-bits, of an evaluation's outputs over all `batches` of a test set of
    `examples`.
    """

    examples: int
    batches: int
    totals: Mapping[str, Reals]
    fraction_bits: Mapping[str, int]

    @property
    def right(self) -> int | None:
        """How many answers are right, if the evaluation counts them."""
        return int(self.totals[RIGHT]) if RIGHT in self.totals else None

    @property
    def accuracy(self) -> float | None:
        """The share of right answers, if the evaluation counts them."""
        return None if self.right is None else self.right / self.examples

    def as_json(self) -> Json:
        """Return the counts and, by name, the exact totals with their fraction bits."""
        totals = {
            name: {"fraction_bits": self.fraction_bits[name], "total": total.tolist()}
            for name, total in self.totals.items()
        }
        counts = {"examples": self.examples, "batches": self.batches, "right": self.right, "accuracy": self.accuracy}
        return counts | {"totals": totals}


def evaluated(evaluation: Evaluation | None, results: Mapping[str, Integers]) -> Evaluated | None:
    """The result of an evaluation, from its integers."""
    if evaluation is None:
        return None
    formats = {port.name: port.format for port in evaluation.program.outputs if port.format is not None}
    return Evaluated(
        evaluation.size,
        evaluation.batches,
        {name: to_reals(formats[name], values) for name, values in results.items()},
        {name: format.fraction_bits for name, format in formats.items()},
    )
