"""The parameters that several commands take, and how their values are written."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from circuitize.api.provers import keyed_names, prover_names

PROGRAM = (
    "file.py:name (a Program, or a function of no arguments that returns one), an ONNX file (with the options below), "
    "a .keras file of HGQ2, logic that da4ml or alkaid saved, or a saved arrow"
)
SAVED = "file.py:name (a Program, or a function of no arguments that returns one) or a saved arrow"


def prover(command: ArgumentParser, required: bool = True, keyless: bool = False) -> None:
    """Add the option --prover to a command; if `keyless` is true, tensor is among its choices."""
    help = None if required else "the prover that the key must be for (default: the one that the key is for)"
    command.add_argument("--prover", choices=prover_names() if keyless else keyed_names(), required=required, help=help)


def repeated(command: ArgumentParser, flag: str, metavar: str, help: str) -> None:
    """Add a flag that may be given several times, so that its value is a list."""
    command.add_argument(flag, action="append", default=[], metavar=metavar, help=help)


def inputs(command: ArgumentParser, help: str) -> None:
    """Add the flags --inputs and --raw-inputs."""
    command.add_argument(
        "--inputs",
        type=Path,
        action="append",
        metavar="FILE.npz",
        help=f"{help}, by input name: real values, rounded once (default: the example); repeatable; or .safetensors",
    )
    command.add_argument(
        "--raw-inputs", action="store_true", help="the arrays of --inputs are integers of the inputs' formats"
    )


def outputs(command: ArgumentParser, help: str) -> None:
    """Add the flags --outputs and --raw-outputs."""
    command.add_argument("--outputs", type=Path, metavar="FILE.npz", help=help)
    command.add_argument(
        "--raw-outputs", action="store_true", help="write --outputs as integers of the outputs' formats"
    )


def output(
    command: ArgumentParser, flag: str, metavar: str, help: str, default: Path | None = None, required: bool = True
) -> None:
    """Add the flag for the file or folder that a command writes, stored as `output` in the options; the flag is
    required unless it has a default.
    """
    needed = required and default is None
    command.add_argument(flag, dest="output", type=Path, metavar=metavar, help=help, default=default, required=needed)


def whole(text: str) -> int:
    """Return the whole number of at least 0 that a text gives. Raise ArgumentTypeError for text that is not a whole
    number of at least 0.
    """
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"expected a whole number of at least 0, found {text!r}")
    return int(text)


def size_in_bytes(text: str) -> int:
    """Return the number of bytes in a size such as 500MB, whose units are powers of 1000. Raise ArgumentTypeError for
    text that is not a size.
    """
    units = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kMGT]B)?", text)
    if found is None or float(found[1]) == 0:
        raise ArgumentTypeError(f"expected a size like 500MB or 8GB, found {text!r}")
    return int(float(found[1]) * units[found[2] or ""])


def count(text: str) -> int:
    """Return the whole number of at least 1 that a text gives. Raise ArgumentTypeError for text that is not a whole
    number of at least 1.
    """
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)
