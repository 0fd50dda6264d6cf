"""The setting of a run as its prover and its verifier report it: the program, the steps, the batches and the roots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Self

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.reading import Json
from circuitize.provers.tensor.runs.checking import security_bits
from circuitize.provers.tensor.runs.setting import Run


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Steps:
    """The report of a run of consecutive steps of a program: the program's digest, the first step, the number of steps,
    the examples and the roots.

    The field `roots` holds the commitments to the run's starting values and dataset, and `final` those to its final
    values and the same dataset; roots, the run's name and its seed are in hexadecimal. The field `security_bits` is the
    soundness of all proofs of the run together, in bits. The field `losses` says for which steps the run states the
    public outputs: "none", "ends" (the first and the last step of each proof) or "all". The field `initial_seed` is the
    seed from which anybody can draw the starting values of the run, if the run has a public start.
    """

    digest: str
    name: str = ""
    first: int = 0
    steps: int = 0
    per_proof: int = 0
    examples: int = 0
    seed: str = ""
    roots: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    security_bits: float = 0.0
    zero_knowledge: bool = False
    losses: str = "none"
    initial_seed: str | None = None

    @classmethod
    def of(cls, run: Run, name: bytes, roots: Mapping[str, bytes], final: Mapping[str, bytes], **more: object) -> Self:
        """Return the report of a run, from its setting, its name and its roots."""
        return cls(
            digest=run.digest,
            name=name.hex(),
            first=run.first,
            steps=run.steps,
            per_proof=run.per_proof,
            examples=run.size,
            seed=run.seed.hex(),
            roots={name: f"0x{root.hex()}" for name, root in roots.items()},
            final={name: f"0x{root.hex()}" for name, root in final.items()},
            security_bits=security_bits(run),
            zero_knowledge=run.zero_knowledge,
            losses=run.told.value,
            initial_seed=None if run.start is None else run.start.seed.hex(),
            **more,
        )

    @property
    def extent(self) -> str:
        """Return the number of the run's steps in words, with the first step's number if the run continues a
        training.
        """
        return f"{self.steps:,} steps{from_step(self.first)}"

    @property
    def kind(self) -> str:
        """Return a word that says whether the proofs of the run are zero-knowledge."""
        return "zero-knowledge" if self.zero_knowledge else "NOT zero-knowledge"

    def as_json(self) -> Json:
        """Return the entries that the prover's and the verifier's reports of a run share, as an object for JSON."""
        names = ("first", "steps", "per_proof", "examples", "losses", "seed", "initial_seed", "roots", "final")
        return {"run": self.name} | {name: getattr(self, name) for name in names}


def whole_number(where: str, number: object) -> int:
    """Return a whole number as an int. Raise CircuitizeError for a value that is not a whole number."""
    try:
        return index(number)  # type: ignore[arg-type]
    except TypeError:
        raise CircuitizeError(f"{where}: expected a whole number, found {excerpt(number)}; give one") from None


def from_step(first: int) -> str:
    """Return the words ", from step N on" for messages about a run that does not begin with the first step of a
    training, or else an empty text.
    """
    return f", from step {first:,} on," if first > 1 else ""
