"""The arguments of the command line: each command, and the module that defines its arguments."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module
from typing import NoReturn

from circuitize import __version__
from circuitize.circuits.errors import CircuitizeError

EXAMPLES = """examples:
  circuitize demo
  circuitize estimate examples/iris.py:step
  circuitize setup examples/iris.py:step --prover groth16 -o keys
  circuitize prove examples/iris.py:step --prover groth16 --keys keys -o proof
  circuitize verify proof --keys keys

exit status: 0 done; 1 the answer is no; 2 bad use or bad input, in one line on standard error
"""

COMMANDS: dict[str, tuple[str, str | None]] = {
    "demo": ("the whole story on real data, on one screen", "circuit_arguments"),
    "compile": ("write a program's circuit, or its hardware", "circuit_arguments"),
    "export": ("write a program for others to read: an open hypergraph in JSON", "circuit_arguments"),
    "draw": ("draw a program: a picture in SVG, folded by layer, derivative and update", "circuit_arguments"),
    "simulate": ("run emitted Verilog, compare with the integer executor", "circuit_arguments"),
    "certify": ("show that a design computes its program for all inputs, in a file", "circuit_arguments"),
    "estimate": ("sizes of every target, before emitting", "circuit_arguments"),
    "plan": ("the best ways to build a program: formats, partitions, targets", "plan"),
    "cost": ("words moved and held, by tiles: for a cache, for an FPGA, for the prover of a run", "circuit_arguments"),
    "accuracy": ("errors against float64, wire by wire; formats that meet a target", "circuit_arguments"),
    "check": ("run every target, compare with the integer executor", "circuit_arguments"),
    "audit": ("whether the inputs determine every other wire of the circuit", "circuit_arguments"),
    "setup": ("take a ceremony's keys, or make INSECURE ones for trials", "proof_arguments"),
    "commit-weights": ("commit to weights that no step changes, once, and prove their formats", "proof_arguments"),
    "prove": ("run a program and prove that it was run", "proof_arguments"),
    "verify": ("decide whether a proof holds, with the verifier's own key", "proof_arguments"),
    "report": (
        "write a page about a program: picture, sizes, errors, and verdicts on what was proved",
        "run_arguments",
    ),
    "train": ("train without proofs: checkpoints, metrics, roots for a run to prove later", "run_arguments"),
    "dispute": ("find where two trainings differ that should agree, and prove that step", "run_arguments"),
    "testify": ("run a step of a training again, and write its wires for a referee", "run_arguments"),
    "prove-run": ("prove consecutive training steps (tensor proofs)", "run_arguments"),
    "verify-run": ("decide whether consecutive training steps are proved", "run_arguments"),
    "pin": ("check a run, and write the one file that its verifiers must hold", "run_arguments"),
    "hold": ("check a proof or a run, and write the file by which the web page checks it again", "proof_arguments"),
    "solidity": ("write a contract that verifies proofs on a chain, at most 64 publics", "proof_arguments"),
    "doctor": ("what this machine can do, and how to get the rest", None),
}
"""The purpose of each command, and the module whose function of the command's name adds its arguments, if it has
any.
"""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CircuitizeError(f"{message}; see {self.prog} --help")


def parser(command: str | None = None, alone: bool = False) -> ArgumentParser:
    """Return the parser of the command line; if a command is named, the parser has only that command's arguments, so
    that the modules of other commands are not imported.

    If `alone` is true, the parser knows only the named command, and is made in a tenth of the time.

    The parser raises CircuitizeError, with a message of one line, for any command line that it does not understand.
    """
    made = _Parser(
        prog="circuitize",
        description="Training steps as exact fixed-point circuits: sized, checked, proved and verified.",
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"circuitize {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (summary, module) in COMMANDS.items():
        if alone and name != command:
            continue
        own = commands.add_parser(name, help=summary, description=summary + ".", allow_abbrev=False)
        if command not in (None, name):
            continue
        if module is not None:
            getattr(import_module(f".{module}", __package__), name.replace("-", "_"))(own)
        own.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    return made
