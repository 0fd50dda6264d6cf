"""Objects other than programs that a text names in a user's file: a schedule, a dataset, a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from circuitize.api.user_files import run_file, run_own
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.dataset import Dataset, dataset
from circuitize.frontends.datasets import Split
from circuitize.frontends.layers import Model

from .data import Data
from .scalars import Schedule, by_step
from .spelling import PYTHON, Spelling


def schedule_named(text: str | None, spelling: Spelling = PYTHON) -> Schedule | None:
    """Return the schedule that a text FILE.py:NAME names, or NAME.KEY in a dict: a Recipe, or a function from a step's
    number to the step's scalars by name.

    The steps that a schedule is called with are counted from 1. Raise CircuitizeError if the named object is not a
    schedule.
    """
    return None if text is None else by_step(_named(spelling.option("schedule"), text), text)


def dataset_named(
    text: str | None, target: str | None = None, unscaled: bool = False, spelling: Spelling = PYTHON
) -> Data | None:
    """Return the dataset that a text names: FILE.npz; FILE.csv, whose column `target` is to be predicted and whose
    other columns are standardised unless `unscaled` is true; or FILE.py:NAME.

    A dataset in a Python file is a dict of arrays by name, a Dataset or Split, or a function of no arguments that
    returns one of these. Raise CircuitizeError if the named object is not a dataset, and for options of CSV files if
    the dataset is in no CSV file.
    """
    for name, given in (("target", target is not None), ("unscaled", unscaled)):
        if given and not (text or "").endswith(".csv"):
            expected = spelling.option("dataset", "FILE.csv")
            raise CircuitizeError(f"{spelling.option(name)}: expected {expected} with it, found another; leave it out")
    if text is None or text.endswith(".npz"):
        return None if text is None else Path(text)
    if text.endswith(".csv"):
        return dataset(text, target=target, standardise=not unscaled)
    option = spelling.option("dataset")
    found = _named(option, text)
    if callable(found) and not isinstance(found, Dataset | Split):
        found = run_own(text, found)
    if not isinstance(found, Dataset | Split | Mapping):
        raise CircuitizeError(
            f"{option}: expected FILE.py:NAME of a Dataset or arrays by name, found {type(found).__name__}; "
            "cz.dataset makes one"
        )
    return found


def model_named(text: str | None, spelling: Spelling = PYTHON) -> Model | None:
    """Return the Model that a text FILE.py:NAME names, or NAME.KEY in a dict. Raise CircuitizeError if the named object
    is not a Model.
    """
    if text is None:
        return None
    option = spelling.option("model")
    found = _named(option, text)
    if not isinstance(found, Model):
        raise CircuitizeError(f"{option}: expected FILE.py:NAME of a Model, found {text!r}")
    return found


def _named(option: str, text: str) -> object:
    """Return the object that a Python file has under a name, or under a key of a dict in the file. Raise
    CircuitizeError if there is none.
    """
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        raise CircuitizeError(f"{option}: expected FILE.py:NAME, found {text!r}")
    name, _, key = name.partition(".")
    found = getattr(run_file(Path(path)), name, None)
    if key:
        found = found.get(key) if isinstance(found, Mapping) else None
    if found is None:
        raise CircuitizeError(f"{option}: {text}: expected an object of that name, found none; check the name")
    return found
