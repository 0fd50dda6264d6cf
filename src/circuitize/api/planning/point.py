"""A point of a front of designs: a way to build the program, its costs, and the commands that build it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from .design import Choice, Design
from .quantities import kind
from .recount import recounted

PROVERS = {"r1cs": "groth16", "mirage": "mirage", "plonkish": "halo2", "tensor": "tensor"}
"""The prover for which each target's circuits are."""

PROGRAM_FILE, INPUTS_FILE = "program.arrow", "inputs.npz"

FORMATS = ("fraction_bits", "significant_bits")


@dataclass(frozen=True)
class Point:
    """A point of a front: a design in which everything is decided. The fields `steps` and `dataset_size` of a point are
    those of the query.
    """

    design: Design
    steps: int
    dataset_size: int | None

    @property
    def program(self) -> IntegerProgram:
        """Return the integer program in the formats of this point, with its examples."""
        return self.design.program

    @property
    def target(self) -> str:
        """Return the name of the target for which the point builds the program."""
        return self.design.target

    @property
    def choices(self) -> Mapping[str, Choice]:
        """Return the formats and the partition of the point, by name."""
        return self.design.choices

    @property
    def takes(self) -> Mapping[str, float]:
        """Return all known costs of the point, by quantity."""
        return self.design.takes

    @property
    def options(self) -> dict[str, Choice]:
        """Return the partition of the point as the options of `compile` or of `prove_run` that produce it."""
        return {name: choice for name, choice in self.choices.items() if name not in FORMATS}

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={choice}" for name, choice in self.choices.items())
        return f"Point({self.target}, {chosen})"

    def as_json(self) -> Json:
        """Return the point as `circuitize plan --json` writes it, with each figure marked as counted, measured or
        predicted.
        """
        return {
            "target": self.target,
            "digest": program_digest(self.program),
            "choices": dict(self.choices),
            "takes": {name: {"value": value, "is": kind(name, self.target)} for name, value in self.takes.items()},
        }

    def recount(self) -> dict[str, float]:
        """Build the circuit of the point again, and return the quantities that are counted in that circuit."""
        return recounted(self.design, self.steps, self.dataset_size)

    def require_counts(self) -> None:
        """Raise CircuitizeError if the circuit of the point, built again, has other counts than the point states."""
        for name, count in self.recount().items():
            if count != self.takes[name]:
                raise CircuitizeError(
                    f"expected {self.takes[name]:,.0f} {name} of {self!r}, found {count:,.0f} in the circuit; this is "
                    "a bug in circuitize: please report it"
                )

    def commands_in(self, folder: Path) -> list[str]:
        """Return the command lines that build the point from the program and the inputs that `Planned.write` wrote to a
        folder.

        Words in capitals in a command stand for the user's own files and names.
        """
        named = shlex.quote(str(folder / PROGRAM_FILE))
        given = f"--inputs {shlex.quote(str(folder / INPUTS_FILE))}"
        prover = PROVERS.get(self.target)
        said = " ".join(f"--{name.replace('_', '-')} {choice}" for name, choice in self.options.items())
        if self.target == "verilog":
            return [f"circuitize compile {named} --target verilog {said} {given} -o design"]
        if "per_proof" in self.choices:
            return [
                f"circuitize prove-run {named} --steps {self.steps} {said} {given} --dataset DATASET.npz --seed HEX "
                f"{self._scalars()}-o run"
            ]
        if prover == "tensor":
            return [f"circuitize prove {named} --prover tensor {given} -o proof"]
        if self.target == "plonkish" and not self._is_proved():
            return [f"circuitize compile {named} --target plonkish {said} -o circuit"]
        return [
            f"circuitize setup {named} --prover {prover} -o keys",
            f"circuitize prove {named} --prover {prover} --keys keys {given} -o proof",
        ]

    def _is_proved(self) -> bool:
        """Return whether the target's prover takes the Plonkish layout of this point."""
        from circuitize.backends.plonkish.cost import best

        return best(self.program) == self.choices["k"]

    def _scalars(self) -> str:
        from circuitize.circuits.port import Role

        names = [port.name for port in self.program.inputs if port.role is Role.SCALAR]
        return "".join(f"--scalar {shlex.quote(name)}=NUMBER " for name in names)
