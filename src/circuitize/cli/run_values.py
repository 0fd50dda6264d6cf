"""What the command line of a run says besides its program: scalars, a schedule, roots, and how messages name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from circuitize.api.runs.data import Data
from circuitize.api.runs.evaluated import RIGHT, Evaluated
from circuitize.api.runs.scalars import Schedule, by_step
from circuitize.api.runs.spelling import Spelling
from circuitize.api.user_files import run_file, run_own
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.exact import exact_number
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.frontends.dataset import Dataset, dataset
from circuitize.frontends.datasets import Split
from circuitize.frontends.layers import Model

from .output import shown_number


class Options(Spelling):
    """Parameters as options of the command line."""

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
    """What --scalar NAME=VALUE says, by name."""
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


def read_schedule(text: str | None) -> Schedule | None:
    """FILE.py:NAME: a Recipe, or a function from the step 1, 2, ... to the scalars by name; NAME.KEY out of a dict."""
    if text is None:
        return None
    return by_step(_named("--schedule", text), text)


def read_dataset(text: str | None, target: str | None = None, unscaled: bool = False) -> Data | None:
    """FILE.npz; FILE.csv with the column to predict; or FILE.py:NAME: arrays by name, a Dataset or Split, or a function
    of no arguments that returns one.
    """
    for option, given in (("--target", target is not None), ("--unscaled", unscaled)):
        if given and not (text or "").endswith(".csv"):
            raise CircuitizeError(f"{option}: expected --dataset FILE.csv with it, found another; leave it out")
    if text is None or text.endswith(".npz"):
        return None if text is None else Path(text)
    if text.endswith(".csv"):
        return dataset(text, target=target, standardise=not unscaled)
    found = _named("--dataset", text)
    if callable(found) and not isinstance(found, Dataset | Split):
        found = run_own(text, found)
    if not isinstance(found, Dataset | Split | Mapping):
        raise CircuitizeError(
            f"--dataset: expected FILE.py:NAME of a Dataset or arrays by name, found {type(found).__name__}; "
            "cz.dataset makes one"
        )
    return found


def read_model(text: str | None) -> Model | None:
    """FILE.py:NAME: a Model; NAME.KEY out of a dict."""
    if text is None:
        return None
    found = _named("--model", text)
    if not isinstance(found, Model):
        raise CircuitizeError(f"--model: expected FILE.py:NAME of a Model, found {text!r}")
    return found


def _named(option: str, text: str) -> object:
    """What a file has under a name, or a dict in it under a key."""
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        raise CircuitizeError(f"{option}: expected FILE.py:NAME, found {text!r}")
    name, _, key = name.partition(".")
    found = getattr(run_file(Path(path)), name, None)
    return found if not key else found.get(key) if isinstance(found, Mapping) else None


def said_of(evaluation: Evaluated | None) -> list[str]:
    """What is said of a run's worth: right answers, and the mean over batches of all else."""
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
    """What --expect NAME=ROOT says, by name; no root where the text has none."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in found:
            raise CircuitizeError(f"--expect: expected each root once, found {name} twice; give it once")
        found[name] = value if equals else None
    return found
