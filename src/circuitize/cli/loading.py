"""Loading the program that a command line names, and the integer program to which it is quantized."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Mapping
from pathlib import Path

from circuitize.api.exact import Exact, exact
from circuitize.api.named import ONNX, program_named, split_name
from circuitize.api.values import completed
from circuitize.circuits.errors import CircuitizeError, restated
from circuitize.circuits.folder import require_file
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Program
from circuitize.circuits.saved import save
from circuitize.circuits.values import Given

from .output import progress, remark
from .program_arguments import choices, given

PROGRAM_FILE = "program.arrow"


def load_program(
    argument: str, *, integer: bool = False, renew: Collection[str] = (), options: Namespace | None = None
) -> Exact:
    """Return the program that the argument PROGRAM names, quantized; with `renew`, return the program that renews the
    roots of the groups named there.

    The argument `options` holds the options of the command line, if the command has options for ONNX files.

    Raise CircuitizeError for the same reasons as `read_program` and `quantize`, and for a group that the program does
    not have. With `integer`, as verifiers use it, a saved arrow must be of the integer language: calibrating a program
    of reals would run any content of the file, and proofs are about integer programs.
    """
    named = read_program(argument, integer=integer, options=options)
    try:
        loaded = quantized(named)
        kept = getattr(options, "save_program", None)
        if kept is not None:
            save_without_examples(loaded.integer, kept)
        return _renewing(loaded, renew) if renew else loaded
    except CircuitizeError as error:
        raise restated(error, f"{argument}: {error}") from None


def _renewing(loaded: Exact, groups: Collection[str]) -> Exact:
    from circuitize.api.renewal import renewal

    return exact(renewal(loaded.integer, groups), Phases())


def read_program(argument: str, *, integer: bool = False, options: Namespace | None = None) -> Program:
    """Return the program that the argument PROGRAM names, as `program_named` finds it.

    The argument `options` holds the options of the command line, if the command has options for ONNX files.
    """
    chosen = None
    if program_path(argument).suffix != ONNX:
        require_no_choices(argument, options)
    elif options is not None and not integer:
        chosen = choices(options)
        require_file(getattr(options, "save_program", None))
    with progress("reading the program"):
        return program_named(argument, integer=integer, choices=chosen, remark=remark)


def require_no_choices(argument: str, options: Namespace | None) -> None:
    """Raise CircuitizeError if options for ONNX files are given and PROGRAM is not an ONNX file."""
    said = [] if options is None else given(options)
    if said:
        raise CircuitizeError(f"{said[0]}: expected PROGRAM.onnx with it, found {argument}; leave it out")


def program_path(argument: str) -> Path:
    """Return the path of the file that contains the program PROGRAM."""
    return split_name(argument)[0]


def quantized(given: Program) -> Exact:
    """Return a program of either language with the integer program to which it is quantized."""
    with progress("quantizing"):
        return exact(given, Phases())


def save_without_examples(program: Program, path: Path) -> None:
    """Save a program for other people: its examples may be private data, so they are not saved."""
    with progress("saving the program"):
        save(program, path)


def came_with(loaded: Exact, options: Namespace) -> Mapping[str, Given] | None:
    """Return the values of --inputs, completed with the values that an ONNX file contains. Return None if neither
    --inputs nor an ONNX file is given.
    """
    if program_path(options.program).suffix != ONNX or not options.inputs or not loaded.given.examples:
        return None
    return completed(loaded.integer, loaded.given.examples, options.inputs, remark, options.raw_inputs)
