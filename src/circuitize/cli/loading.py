"""Finds the program that a command line names, and makes it an integer program."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from circuitize.api.exact import Exact, exact
from circuitize.api.values import given_values
from circuitize.circuits.encode import MAGIC
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.open_hypergraph import load_open_hypergraph
from circuitize.circuits.operation import Operation
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.circuits.saved import load, save
from circuitize.circuits.values import Given
from circuitize.frontends import catgrad
from circuitize.frontends.catgrad.installed import prepare
from circuitize.frontends.layers import Model

from .output import progress, remark
from .program_arguments import choices, given

FORMS = (
    "file.py:name (a Program, a catgrad model, or a function of no arguments that returns one), an ONNX file or a "
    "saved arrow"
)
ONNX = ".onnx"
PROGRAM_FILE = "program.arrow"
EXTRAS = {"catgrad": "catgrad", "sklearn": "demo", "matplotlib": "demo", "onnx": "onnx"}
"""By module, the extra of this package that brings it."""

MOST_NAMES = 8
"""Names of a file that a message lists."""

T = TypeVar("T")


def load_program(
    argument: str, *, integer: bool = False, renew: Collection[str] = (), options: Namespace | None = None
) -> Exact:
    """The program that PROGRAM names, quantized; with `renew`, that by which these groups of it get new roots.

    `options` are the command line's, where it has those of ONNX files.

    Raises CircuitizeError as `read_program` and `quantize` do, and for a group that the program has not.
    With `integer`, as verifiers have it, a saved arrow must be of the integer language: calibration would run whatever
    a file says, and proofs are of the integer program.
    """
    named = read_program(argument, integer=integer, options=options)
    try:
        loaded = quantized(named)
        kept = getattr(options, "save_program", None)
        if kept is not None:
            save_without_examples(loaded.integer, kept)
        return _renewing(loaded, renew) if renew else loaded
    except CircuitizeError as error:
        raise type(error)(f"{argument}: {error}") from None


def _renewing(loaded: Exact, groups: Collection[str]) -> Exact:
    from circuitize.api.renewal import renewal

    return exact(renewal(loaded.integer, groups), Phases())


def read_program(argument: str, *, integer: bool = False, options: Namespace | None = None) -> Program:
    """The program that PROGRAM names; where that is saved, one of the integer language if `integer` says so.

    `options` are the command line's, where it has those of ONNX files.

    Raises CircuitizeError, naming file and line where a user's own file fails.
    """
    path, name = _split(argument)
    if path.suffix == ONNX:
        return _from_onnx(path, integer, options)
    require_no_choices(argument, options)
    with progress("reading the program"):
        if name is not None:
            return _from_python(path, name)
        if path.suffix == ".py":
            programs = _names(run_file(path))
            raise CircuitizeError(f"{argument}: expected file.py:name, found no name; name one of {programs}")
        return _saved(path, integer)


def require_no_choices(argument: str, options: Namespace | None) -> None:
    """Raises CircuitizeError where options say something of an ONNX file, and PROGRAM is none."""
    said = [] if options is None else given(options)
    if said:
        raise CircuitizeError(f"{said[0]}: expected PROGRAM.onnx with it, found {argument}; leave it out")


def program_path(argument: str) -> Path:
    """The file that PROGRAM lies in."""
    return _split(argument)[0]


def _split(argument: str) -> tuple[Path, str | None]:
    path, _, name = argument.rpartition(":")
    return (Path(path), name) if path.endswith(".py") else (Path(argument), None)


def quantized(given: Program) -> Exact:
    """A program of either language with the integer program that it means."""
    with progress("quantizing"):
        return exact(given, Phases())


def save_without_examples(program: Program, path: Path) -> None:
    """Save a program for others to have: its examples may be private data, so they stay here."""
    with progress("saving the program"):
        save(program, path)


def _saved(path: Path, integer: bool) -> Program:
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise CircuitizeError(f"{path}: expected {FORMS}, found {error.strerror or error}; check the path") from None
    if start[:1] == b"{":
        found = load_open_hypergraph(path, integer=integer)
        if isinstance(found, Arrow):
            raise _bare(str(path))
        return found
    if start != MAGIC:
        raise CircuitizeError(
            f"{path}: expected {FORMS}, found a file that begins with {start!r}; see circuitize compile --help"
        )
    return load(path, integer=integer)


def _from_onnx(path: Path, integer: bool, options: Namespace | None) -> Program:
    if integer:
        raise CircuitizeError(
            f"{path}: expected the saved program that the proof is of, found an ONNX file, whose formats depend on "
            "what it was calibrated on; give program.arrow, which setup and compile write, or that of --save-program"
        )
    from circuitize.api.networks import Choices, program_of

    chosen = Choices() if options is None else choices(options)
    require_file(getattr(options, "save_program", None))
    try:
        with progress("reading the program"):
            return program_of(path, chosen, remark)
    except CircuitizeError as error:
        told = str(error)
        raise type(error)(told if str(path) in told or told.startswith("--") else f"{path}: {told}") from None


def came_with(loaded: Exact, options: Namespace) -> Mapping[str, Given] | None:
    """What inputs are given by --inputs, completed by what an ONNX file has: its weights, and scalars of every step.

    None where PROGRAM is no such file, or --inputs says nothing: then the first example is all.
    """
    if program_path(options.program).suffix != ONNX or not options.inputs or not loaded.given.examples:
        return None
    first, *others = loaded.given.examples
    held = [port.name for port in loaded.given.inputs if port.held]
    # A scalar that is another in another step, as Adam's, is to be said.
    alike = [
        port.name
        for port in loaded.given.inputs
        if port.role is Role.SCALAR and all(np.array_equal(first[port.name], each[port.name]) for each in others)
    ]
    _, found = given_values(loaded.integer, options.inputs, remark, options.raw_inputs)
    return {**{name: first[name] for name in (*held, *alike)}, **found}


def _from_python(path: Path, name: str) -> Program:
    module = run_file(path)
    where = f"{path}:{name}"
    if not hasattr(module, name):
        raise CircuitizeError(f"{where}: expected a program of that name, found none; the file has {_names(module)}")
    found = _program_of(getattr(module, name), where)
    if callable(found) and not isinstance(found, (Program, Arrow, Operation)):
        if not _takes_nothing(found):
            raise CircuitizeError(
                f"{where}: expected a function of no arguments, found {name}{inspect.signature(found)}; "
                "give its parameters defaults, or wrap it"
            )
        found = _run_user_code(path, found)
        if inspect.iscoroutine(found):
            found.close()
        found = _program_of(found, where)
    if isinstance(found, Arrow):
        raise _bare(where)
    if not isinstance(found, Program):
        remedy = f"the file has {_names(module)}"
        if isinstance(found, Model):
            remedy = "make one of it: training_step(model, loss, optimizer, batch), or predict(model, batch)"
        elif callable(found) and not isinstance(found, Operation):
            remedy = "return what the function makes: add ()"
        elif isinstance(found, (list, tuple)) and any(isinstance(entry, Program) for entry in found):
            remedy = "return one of them alone"
        raise CircuitizeError(f"{where}: expected a Program, found {type(found).__name__}; {remedy}")
    return found


def _bare(where: str) -> CircuitizeError:
    return CircuitizeError(
        f"{where}: expected a Program, found a bare arrow; wrap it as Program(arrow, inputs, outputs), "
        "with a Port(name, visibility, format) for each wire, which says who learns each value"
    )


def _program_of(found: object, where: str) -> Any:
    """The program of a catgrad model or step; anything else as it is."""
    try:
        return catgrad.program_of(found) or found
    except CircuitizeError as error:
        raise type(error)(f"{where}: {error}") from None


def run_file(path: Path) -> ModuleType:
    """A user's Python file as a module; beside it lie the files that it may import."""
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
    _run_user_code(path, lambda: execute(module))
    return module


def _run_user_code(path: Path, code: Callable[[], T]) -> T:
    """Run a user's own code: it prints to standard error, and what it raises becomes one line with its place."""
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
        place = _place(error, path)
        if isinstance(error, CircuitizeError):
            told = str(error)
            raise CircuitizeError(told if place in told else f"{place}: {told}") from None
        remedy = _missing_module(error) if isinstance(error, ModuleNotFoundError) else "correct the file"
        told = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise CircuitizeError(f"{place}: {told}; {remedy}") from None


def run_own(text: str, function: Callable[[], T]) -> T:
    """What a function of a user's file returns, FILE.py:NAME; what it raises becomes one line with its place."""
    if not _takes_nothing(function):
        raise CircuitizeError(
            f"{text}: expected a function of no arguments, found another; give its parameters defaults"
        )
    return _run_user_code(Path(text.rpartition(":")[0]), function)


def _missing_module(error: ModuleNotFoundError) -> str:
    """How to get a module that a user's file imports: by an extra of this package where it is one of those."""
    name = (error.name or "").partition(".")[0]
    wanted = f"'circuitize[{EXTRAS[name]}]'" if name in EXTRAS else name
    return f"install it for this Python (pip install {wanted}), or put it beside the file"


def _place(error: BaseException, path: Path) -> str:
    """File and line where the user's file was when it failed; the innermost frame if it never was in it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename) == path.resolve()]
    frame = (own or frames)[-1]
    return f"{_shown(frame.filename, path)}:{frame.lineno}"


def _shown(filename: str, path: Path) -> str:
    return str(path) if Path(filename) == path.resolve() else filename


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _names(module: ModuleType) -> str:
    """The names in a user's file that may be programs, for a message."""
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
