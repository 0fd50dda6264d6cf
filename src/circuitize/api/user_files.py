"""Running a user's own Python files: their programs and functions, and their errors as one line that names the
place.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import Program
from circuitize.frontends import catgrad
from circuitize.frontends.catgrad.installed import prepare
from circuitize.frontends.layers import Model

EXTRAS = {"catgrad": "catgrad", "sklearn": "demo", "matplotlib": "demo", "onnx": "onnx"}
"""The extra of this package that installs each module."""

MOST_NAMES = 8
"""The greatest number of names in a file that a message lists."""

T = TypeVar("T")


def program_in(path: Path, name: str) -> Program:
    """Return the program with the given name in a user's file, or the program that a function of that name returns.

    Raise CircuitizeError, naming the file and the line, if the user's file fails.
    """
    module = run_file(path)
    where = f"{path}:{name}"
    if not hasattr(module, name):
        raise CircuitizeError(f"{where}: expected a program of that name, found none; the file has {names_in(module)}")
    found = _program_of(getattr(module, name), where)
    if callable(found) and not isinstance(found, (Program, Arrow, Operation)):
        if not _takes_nothing(found):
            raise CircuitizeError(
                f"{where}: expected a function of no arguments, found {name}{inspect.signature(found)}; "
                "give its parameters defaults, or wrap it"
            )
        found = _run(path, found)
        if inspect.iscoroutine(found):
            found.close()
        found = _program_of(found, where)
    if isinstance(found, Arrow):
        raise bare(where)
    if not isinstance(found, Program):
        remedy = f"the file has {names_in(module)}"
        if isinstance(found, Model):
            remedy = "make one of it: training_step(model, loss, optimizer, batch), or predict(model, batch)"
        elif callable(found) and not isinstance(found, Operation):
            remedy = "return what the function makes: add ()"
        elif isinstance(found, (list, tuple)) and any(isinstance(entry, Program) for entry in found):
            remedy = "return one of them alone"
        raise CircuitizeError(f"{where}: expected a Program, found {type(found).__name__}; {remedy}")
    return found


def bare(where: str) -> CircuitizeError:
    """Return the error for an arrow that has no names and formats for its wires, with the remedy."""
    return CircuitizeError(
        f"{where}: expected a Program, found a bare arrow; wrap it as Program(arrow, inputs, outputs), "
        "with a Port(name, visibility, format) for each wire, which says who learns each value"
    )


def _program_of(found: object, where: str) -> object:
    """Return the program of a catgrad model or step; return any other value unchanged."""
    try:
        return catgrad.program_of(found) or found
    except CircuitizeError as error:
        raise restated(error, f"{where}: {error}") from None


def run_file(path: Path) -> ModuleType:
    """Import a user's Python file as a module, which may import files in the same folder."""
    if not path.is_file():
        reason = "a folder" if path.is_dir() else "no such file"
        raise CircuitizeError(f"{path}: expected a Python file, found {reason}; check the path")
    name = f"_circuitize_program_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[name] = module
    execute = spec.loader.exec_module
    if importlib.util.find_spec("catgrad"):
        prepare()
    _run(path, lambda: execute(module))
    return module


def run_own(text: str, function: Callable[[], T]) -> T:
    """Return the result of a function in a user's file, FILE.py:NAME; an exception in the function becomes an error of
    one line that names the place.
    """
    if not _takes_nothing(function):
        raise CircuitizeError(
            f"{text}: expected a function of no arguments, found another; give its parameters defaults"
        )
    return _run(Path(text.rpartition(":")[0]), function)


def _run(path: Path, code: Callable[[], T]) -> T:
    """Run a user's own code: what it prints goes to standard error, and an exception becomes an error of one line that
    names the place.
    """
    try:
        with redirect_stdout(sys.stderr):
            return code()
    except SyntaxError as error:
        place = _shown(error.filename or str(path.resolve()), path)
        line = f":{error.lineno}" if error.lineno else ""
        raise CircuitizeError(f"{place}{line}: expected Python, found {error.msg}; correct the file") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, ValueError) and "null bytes" in str(error):  # A SyntaxError from Python 3.11.4 on.
            told = f"expected Python, found {error}; correct the file"
            raise CircuitizeError(f"{_shown(str(path.resolve()), path)}: {told}") from None
        place = _place(error, path)
        if isinstance(error, CircuitizeError):
            told = str(error)
            raise CircuitizeError(told if place in told else f"{place}: {told}") from None
        remedy = _missing_module(error) if isinstance(error, ModuleNotFoundError) else "correct the file"
        told = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise CircuitizeError(f"{place}: {told}; {remedy}") from None


def _missing_module(error: ModuleNotFoundError) -> str:
    """Return how to install a module that a user's file imports and that is missing: by an extra of this package, if
    one contains the module.
    """
    name = (error.name or "").partition(".")[0]
    wanted = f"'circuitize[{EXTRAS[name]}]'" if name in EXTRAS else name
    return f"install it for this Python (pip install {wanted}), or put it beside the file"


def _place(error: BaseException, path: Path) -> str:
    """Return the file and the line in the user's file at which the code failed, or those of the innermost frame if no
    frame is in the user's file.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename) == path.resolve()]
    frame = (own or frames)[-1]
    return f"{_shown(frame.filename, path)}:{frame.lineno}"


def _shown(filename: str, path: Path) -> str:
    return str(path) if Path(filename) == path.resolve() else filename


def _takes_nothing(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def names_in(module: ModuleType) -> str:
    """Return, for a message, the names in a user's file that may be programs."""
    names = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            isinstance(value, Program)
            or (inspect.isfunction(value) and value.__module__ == module.__name__ and _takes_nothing(value))
        )
    ]
    others = f" and {len(names) - MOST_NAMES} others" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + others or "no program"
