"""The scalars and roots that a command line gives for a run, and the spelling of options in messages."""

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
    """The spelling of a run's settings as options of the command line, for messages."""

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
    """Return the values of the options --scalar NAME=VALUE, by name."""
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
    """Return the lines about a run's evaluation: the number of right answers, and the mean over batches of each other
    output.
    """
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
    """Return the roots of the options --expect NAME=ROOT, by name; the root is None for a text without an equals
    sign.
    """
    found: dict[str, str | None] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in found:
            raise CircuitizeError(f"--expect: expected each root once, found {name} twice; give it once")
        found[name] = value if equals else None
    return found
