"""The arguments of commands about a program and its circuit."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from circuitize.api.targets.options import offered
from circuitize.api.targets.registry import TARGETS
from circuitize.api.targets.verilog import SIMULATORS
from circuitize.circuits.reading import Json

from .parameters import PROGRAM, count, inputs, output, whole
from .program_arguments import program

DEPTH, COSTS = 2, ("rows", "lookups", "bits")
"""The choices of `api.drawing`, repeated here because the parser does not import the drawing code; a test compares
both.
"""


def demo(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize demo`."""
    output(command, "-o", "DIR", "where the artefacts go (default: %(default)s)", Path("circuitize-demo"))
    command.add_argument(
        "--epochs", type=count, metavar="N", help="epochs of training to prove (default: all of the recipe)"
    )


def compile(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize compile`, which include the options of all targets."""
    program(command)
    written = [target for target in TARGETS.values() if target.files is not None]
    command.add_argument("--target", choices=[target.name for target in written], required=True)
    output(command, "-o", "DIR", "folder for what is written")
    inputs(command, "; ".join(_grouped({target.name: target.inputs_are for target in written})))
    _target_options(command, "compile")


def _target_options(command: ArgumentParser, name: str) -> None:
    """Add the options of targets to a command; each option follows those of the same targets, or the choice that it
    requires.
    """
    for option, having in offered(TARGETS.values(), name).values():
        told = f"{option.only[1] if option.only else ', '.join(having)}: {option.help}"
        if option.kind == "flag":
            command.add_argument(option.flag, action="store_true", help=told)
        elif option.kind == "choice":
            command.add_argument(option.flag, choices=option.choices, help=told)
        else:
            type = {"file": Path, "name": str}.get(option.kind, count)
            command.add_argument(option.flag, type=type, metavar=option.metavar, help=told)


def target_options(options: Namespace) -> Json:
    """Return the values that a command line gives to the options of targets."""
    return {name: getattr(options, name) for name in offered(TARGETS.values(), options.command)}


def _grouped(told: Mapping[str, str]) -> list[str]:
    """Return each help text once, after the names of all options that have this text."""
    groups: dict[str, list[str]] = {}
    for name, text in told.items():
        if text:
            groups.setdefault(text, []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in groups.items()]


def simulate(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize simulate`."""
    command.add_argument("design", type=Path, metavar="DIR", help="folder that compile --target verilog wrote")
    command.add_argument(
        "--frames", type=count, metavar="N", help="how many frames, random ones past its own (default: all its own)"
    )
    command.add_argument("--vectors", type=Path, metavar="FILE", help="frames, .npz or .csv, for its own")
    command.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="of gaps, stalls and random frames (default: %(default)s)"
    )
    command.add_argument("--simulator", choices=SIMULATORS, default="icarus", help="(default: %(default)s)")


def certify(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize certify`."""
    command.add_argument("design", type=Path, metavar="DIR", help="folder that compile --target verilog wrote")
    output(command, "-o", "FILE", "the certificate (default: %(default)s)", Path("certificate.json"))


def export(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize export`."""
    program(command)
    output(command, "-o", "FILE", "FILE.json, an open hypergraph, or FILE.arrow, a saved arrow; PROGRAM may be either")
    command.add_argument("--real", action="store_true", help="the program of reals, as it is before it is quantized")
    command.add_argument("--examples", action="store_true", help="with its examples, in a file for its owner alone")


def draw(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize draw`."""
    program(command)
    output(command, "-o", "FILE", "FILE.svg, a picture, or FILE.dot, a graph for Graphviz")
    command.add_argument("--unfolded", action="store_true", help="a box for each operation, its axes as strands")
    command.add_argument(
        "--depth", type=count, default=DEPTH, metavar="N", help="names kept of layers in layers (default: %(default)s)"
    )
    command.add_argument("--integers", action="store_true", help="the integer program, as it is quantized")
    command.add_argument("--types", action="store_true", help="write the format and the range of each wire")
    command.add_argument("--cost", choices=COSTS, help="colour the integer program by what its parts cost")


def estimate(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize estimate`, which include the options of all targets."""
    program(command)
    command.add_argument(
        "--target", action="append", choices=[*TARGETS], help="estimate this target alone (default: all); repeatable"
    )
    _target_options(command, "estimate")


def cost(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize cost`."""
    program(command)
    for flag, metavar, most, help in (
        ("--memory", "WORDS", 1 << 15, "words of the small memory"),
        ("--word", "BYTES", 4, "bytes of a word, of a cache"),
        ("--lanes", "N", 32, "products in a clock, of an FPGA"),
        ("--words-per-clock", "N", 1, "words that an FPGA's memory gives in a clock"),
        ("--steps", "N", 64, "steps of the run that is proved"),
    ):
        command.add_argument(flag, type=count, default=most, metavar=metavar, help=f"{help} (default: %(default)s)")


def accuracy(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize accuracy`."""
    program(command, "file.py:name (a Program of reals, with examples), or an ONNX file (with the options below)")
    command.add_argument(
        "--target-error",
        action="append",
        metavar="[OUTPUT=]ERROR",
        help="the fewest fraction bits that keep this output, or all, within an error; repeatable",
    )
    command.add_argument(
        "--target-cost",
        metavar="[TARGET=]COST",
        help="the most fraction bits that cost so much, by default of r1cs: "
        + ", ".join(f"{name}={target.measure}" for name, target in TARGETS.items()),
    )
    command.add_argument("--wires", type=count, default=12, metavar="N", help="how many are shown (default: 12)")
    output(command, "-o", "FILE.arrow", "save the integer program there, without examples", required=False)


def check(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize check`."""
    program(command, f"{PROGRAM}; or a folder that compile --witness wrote")
    command.add_argument(
        "--vectors", type=count, default=10, metavar="N", help="how many inputs (default: %(default)s)"
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="of the random inputs (default: %(default)s)"
    )


def audit(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize audit`."""
    program(command, f"{PROGRAM}; or a .r1cs file, or a folder with circuit.r1cs")
    command.add_argument("--each-row", action="store_true", help="also leave out each row in turn and say what changes")
