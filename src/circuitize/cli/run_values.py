"""The scalars and roots on the command line of a run, and the spelling of options in messages."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from circuitize.api.runs.evaluated import RIGHT, Evaluated
from circuitize.api.runs.spelling import Spelling
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.exact import exact_number
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program

from .output import shown_number


class Options(Spelling):
    """Settings of a run spelled as options of the command line."""

    dataset = "--dataset FILE.npz"
    schedule = "--schedule FILE.py:NAME"
    verifier = "circuitize verify"

    def option(self, name: str, value: object = None) -> str:
        option = f"--{name.replace('_', '-')}"
        return option if value is None or value is True else f"{option} {value}"

    def scalar(self, name: str, value: str | None = None) -> str:
        return f"--scalar {name}" if value is None else f"--scalar {name}={value}"


OPTIONS = Options()


def read_scalars(program: Program, texts: Sequence[str]) -> dict[str, Fraction]:
    """Return the values of --scalar NAME=VALUE, by name."""
    names = [port.name for port in program.inputs if port.role is Role.SCALAR]
    found: dict[str, Fraction] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise CircuitizeError(f"--scalar: expected NAME=VALUE with a name among {names}, found {text!r}")
        if name in found:
            raise CircuitizeError(f"--scalar: expected each scalar once, found {name} twice; give it once")
        found[name] = exact_number(f"--scalar {name}", value)
    return found


def said_of(evaluation: Evaluated | None) -> list[str]:
    """Return the printed result of a run's evaluation: right answers, and the mean over batches of all else."""
    if evaluation is None:
        return []
    found = []
    for name, total in evaluation.totals.items():
        if name == RIGHT:
            found.append(
                f"{evaluation.right} of {evaluation.examples} right, {evaluation.accuracy:.2%}, on the test set"
            )
        else:
            mean = shown_number(float(total) / evaluation.batches)
            found.append(f"{name} of {mean}, the mean of {evaluation.batches} batches of the test set")
    return found


def read_roots(texts: Sequence[str]) -> dict[str, str | None]:
    """Return the roots of --expect NAME=ROOT, by name; a text without an = has no root."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in found:
            raise CircuitizeError(f"--expect: expected each root once, found {name} twice; give it once")
        found[name] = value if equals else None
    return found
