"""The argument PROGRAM of a command line, and its options for ONNX files, which supply information that such a file
lacks.
"""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import exact_number

from .parameters import PROGRAM, count

if TYPE_CHECKING:
    from circuitize.api.networks import Choices, Training
    from circuitize.frontends.formats import Format

VISIBILITIES = ("public", "private", "committed")
TRAINED = ("optimizer", "learning_rate", "calibration_steps", "freeze")
LOSSES = ("cross_entropy", "label_cross_entropy", "binary_cross_entropy", "mean_squared_error", "huber")
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw", "rmsprop", "lion", "lamb")
"""The choices of `api.networks`, repeated here because the parser does not import the training code; a test compares
both.
"""


def program(command: ArgumentParser, help: str = PROGRAM) -> None:
    """Add the argument PROGRAM to a command, with its options for an ONNX file."""
    command.add_argument("program", metavar="PROGRAM", help=help)
    group = command.add_argument_group(
        "PROGRAM.onnx", "what an ONNX file does not say (docs/networks.md); NAME is an input or an output of the file"
    )
    repeat = dict.fromkeys(VISIBILITIES, "who learns it: {} (weights: all parameters)")
    for flag, metavar, help in (
        ("--dim", "NAME=EXTENT", "an extent that the file leaves open, by its name (batch) or by input and axis (x:0)"),
        ("--format", "NAME=LOW:HIGH[:BITS]", "the format of an input, BITS fraction bits (default 0): x=-4:4:8"),
        (
            "--known",
            "NAME=NUMBER",
            "an input whose elements are this number in every run, part of the circuit: sr=16000",
        ),
        *((f"--{word}", "NAME", help.format(word)) for word, help in repeat.items()),
        ("--constant", "NAME", "a parameter that is part of the circuit, no input (weights: all)"),
        ("--only-output", "NAME", "an output to keep, where the others are not wanted"),
    ):
        group.add_argument(flag, action="append", default=[], metavar=metavar, help=f"{help}; repeatable")
    group.add_argument(
        "--calibrate", type=Path, metavar="FILE.npz", help="examples, rows by input name (default: random values)"
    )
    group.add_argument("--train", choices=LOSSES, metavar="LOSS", help=f"a training step: {', '.join(LOSSES)}")
    group.add_argument("--optimizer", choices=OPTIMIZERS, metavar="NAME", help=f"of a step: {', '.join(OPTIMIZERS)}")
    group.add_argument("--learning-rate", metavar="RATE", help="of a step, to calibrate and begin with (default: 1/10)")
    group.add_argument(
        "--calibration-steps",
        type=count,
        metavar="N",
        help="steps that are trained to calibrate on (default: once through --calibrate, 256 at most)",
    )
    group.add_argument("--freeze", action="append", default=[], metavar="NAME", help="a parameter that stays as it is")
    group.add_argument(
        "--fold-batch-norms",
        action="store_true",
        help="convolutions take in the batch norms behind them: fewer operations, other weights (no training step)",
    )
    group.add_argument(
        "--save-program", type=Path, metavar="FILE.arrow", help="also save the integer program, as verifiers hold it"
    )


def given(options: Namespace) -> list[str]:
    """Return the options for ONNX files that a command line gives, as they are written there."""
    names = (
        "dim",
        "format",
        "known",
        *VISIBILITIES,
        "constant",
        "only_output",
        "calibrate",
        "train",
        *TRAINED,
        "fold_batch_norms",
        "save_program",
    )
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name, None)]


def choices(options: Namespace) -> Choices:
    """Return the settings for an ONNX file that a command line chooses. Raise CircuitizeError for an option whose text
    has the wrong form.
    """
    from circuitize.api.networks import Choices

    if options.fold_batch_norms and options.train is not None:
        raise CircuitizeError(
            "--fold-batch-norms: expected a network whose norms are constants, found --train, which renews them; leave "
            "one out"
        )
    seen: dict[str, str] = {}
    for word in VISIBILITIES:
        for name in getattr(options, word):
            if seen.setdefault(name, word) != word:
                raise CircuitizeError(f"--{word} {name}: expected one visibility, found --{seen[name]} too; give one")
    return Choices(
        dims={name: _whole("--dim", text, name, value) for text, name, value in _pairs("--dim", options.dim)},
        formats={name: _format(text, value) for text, name, value in _pairs("--format", options.format)},
        known={
            name: float(exact_number(f"--known {name}", value)) for _, name, value in _pairs("--known", options.known)
        },
        visibility=seen,
        constants=options.constant,
        outputs=options.only_output,
        examples=options.calibrate,
        training=_training(options),
        fold_batch_norms=options.fold_batch_norms,
    )


def _training(options: Namespace) -> Training | None:
    from circuitize.api.networks import Training

    if options.train is None:
        said = [f"--{name.replace('_', '-')}" for name in TRAINED if getattr(options, name)]
        if said:
            raise CircuitizeError(
                f"{said[0]}: expected --train LOSS with it, found none; add it, or leave {said[0]} out"
            )
        return None
    rate = Fraction(1, 10)
    if options.learning_rate is not None:
        rate = exact_number("--learning-rate", options.learning_rate)
    chosen = options.optimizer or "sgd"
    return Training(options.train, chosen, rate, options.calibration_steps, options.freeze)


def _pairs(flag: str, texts: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return each text NAME=VALUE with its name and its value; a name may itself contain an =."""
    found: Mapping[str, str] = {}
    pairs = []
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise CircuitizeError(
                f"{flag} {text}: expected NAME=VALUE, found no {'=' if not equals else 'name'}; correct it"
            )
        if name in found:
            raise CircuitizeError(f"{flag} {text}: expected each name once, found {name!r} again; give it once")
        found = {**found, name: value}
        pairs.append((text, name, value))
    return pairs


def _whole(flag: str, text: str, name: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= 18 and int(value)):
        raise CircuitizeError(
            f"{flag} {text}: expected a whole number of at least 1, found {excerpt(value)}; correct it"
        )
    return int(value)


def _format(text: str, value: str) -> Format:
    from circuitize.frontends.formats import Format

    ends = value.split(":")
    try:
        low, high, bits = float(ends[0]), float(ends[1]), int(ends[2]) if len(ends) == 3 else 0
        if not 2 <= len(ends) <= 3 or not 0 <= bits <= 62 or not math.isfinite(low) or not math.isfinite(high):
            raise ValueError
    except (ValueError, IndexError, OverflowError):
        raise CircuitizeError(
            f"--format {text}: expected NAME=LOW:HIGH or NAME=LOW:HIGH:BITS, found {value!r}; write x=-4:4:8"
        ) from None
    low, high = low * 2**bits, high * 2**bits
    if not (low <= high and low.is_integer() and high.is_integer()):
        raise CircuitizeError(
            f"--format {text}: expected LOW at most HIGH, both multiples of 2^-{bits}, found {value!r}; round them"
        )
    return Format(bits, int(low), int(high))
