"""What can be written on the command line."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from circuitize import __version__
from circuitize.api.provers import keyed_names, prover_names
from circuitize.api.targets.options import offered
from circuitize.api.targets.registry import TARGETS
from circuitize.api.targets.verilog import SIMULATORS
from circuitize.circuits.errors import CircuitizeError

PROGRAM = "file.py:name (a Program, or a function of no arguments that returns one) or a saved arrow"
EXAMPLES = """examples:
  circuitize demo
  circuitize estimate examples/iris.py:step
  circuitize setup examples/iris.py:step --prover groth16 -o keys
  circuitize prove examples/iris.py:step --prover groth16 --keys keys -o proof
  circuitize verify proof --keys keys

exit status: 0 done; 1 the answer is no; 2 bad use or bad input, in one line on standard error
"""


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CircuitizeError(f"{message}; see {self.prog} --help")


def parser() -> ArgumentParser:
    """The parser; raises CircuitizeError, one line, for anything it does not understand."""
    made = _Parser(
        prog="circuitize",
        description="Training steps as exact fixed-point circuits: sized, checked, proved and verified.",
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action="version", version=f"circuitize {__version__}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (
        _demo,
        _compile,
        _simulate,
        _estimate,
        _accuracy,
        _check,
        _audit,
        _setup,
        _prove,
        _verify,
        _prove_run,
        _verify_run,
        _pin,
        _solidity,
        _doctor,
    ):
        add(commands)
    return made


def _demo(commands: Any) -> None:
    command = _command(commands, "demo", "the whole story on real data, on one screen")
    _output(command, "-o", "DIR", "where the artefacts go (default: %(default)s)", Path("circuitize-demo"))
    command.add_argument(
        "--epochs", type=_count, metavar="N", help="epochs of training to prove (default: all of the recipe)"
    )


def _compile(commands: Any) -> None:
    command = _command(commands, "compile", "write a program's circuit, or its hardware", program=True)
    written = [target for target in TARGETS.values() if target.files is not None]
    command.add_argument("--target", choices=[target.name for target in written], required=True)
    _output(command, "-o", "DIR", "folder for what is written")
    _inputs(command, "; ".join(_grouped({target.name: target.inputs_are for target in written})))
    _target_options(command, "compile")


def _target_options(command: ArgumentParser, name: str) -> None:
    """What targets offer, each option after those that have it, or after the choice that it goes with."""
    for option, having in offered(TARGETS.values(), name).values():
        told = f"{option.only[1] if option.only else ', '.join(having)}: {option.help}"
        if option.kind == "flag":
            command.add_argument(option.flag, action="store_true", help=told)
        elif option.kind == "choice":
            command.add_argument(option.flag, choices=option.choices, help=told)
        else:
            type = Path if option.kind == "file" else _count
            command.add_argument(option.flag, type=type, metavar=option.metavar, help=told)


def target_options(options: Namespace) -> dict[str, Any]:
    """What a command line gives of the options that targets offer."""
    return {name: getattr(options, name) for name in offered(TARGETS.values(), options.command)}


def _grouped(told: Mapping[str, str]) -> list[str]:
    """Names that are told the same, before it."""
    groups: dict[str, list[str]] = {}
    for name, text in told.items():
        if text:
            groups.setdefault(text, []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in groups.items()]


def _simulate(commands: Any) -> None:
    command = _command(commands, "simulate", "run emitted Verilog, compare with the integer executor")
    command.add_argument("design", type=Path, metavar="DIR", help="folder that compile --target verilog wrote")
    command.add_argument(
        "--frames", type=_count, metavar="N", help="how many frames, random ones past its own (default: all its own)"
    )
    command.add_argument(
        "--seed", type=_whole, default=0, metavar="N", help="of gaps, stalls and random frames (default: %(default)s)"
    )
    command.add_argument("--simulator", choices=SIMULATORS, default="icarus", help="(default: %(default)s)")


def _estimate(commands: Any) -> None:
    command = _command(commands, "estimate", "sizes of every target, before emitting", program=True)
    _target_options(command, "estimate")


def _accuracy(commands: Any) -> None:
    command = _command(commands, "accuracy", "errors against float64, wire by wire; formats that meet a target")
    command.add_argument("program", metavar="PROGRAM", help="file.py:name (a Program of reals, with examples)")
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
    command.add_argument("--wires", type=_count, default=12, metavar="N", help="how many are shown (default: 12)")
    _output(command, "-o", "FILE.arrow", "save the integer program there, without examples", required=False)


def _check(commands: Any) -> None:
    command = _command(commands, "check", "run every target, compare with the integer executor")
    command.add_argument("program", metavar="PROGRAM", help=f"{PROGRAM}; or a folder that compile --witness wrote")
    command.add_argument(
        "--vectors", type=_count, default=10, metavar="N", help="how many inputs (default: %(default)s)"
    )
    command.add_argument(
        "--seed", type=_whole, default=0, metavar="N", help="of the random inputs (default: %(default)s)"
    )


def _audit(commands: Any) -> None:
    command = _command(commands, "audit", "whether the inputs determine every other wire of the circuit")
    command.add_argument(
        "program", metavar="PROGRAM", help=f"{PROGRAM}; or a .r1cs file, or a folder with circuit.r1cs"
    )
    command.add_argument("--each-row", action="store_true", help="also leave out each row in turn and say what changes")


def _setup(commands: Any) -> None:
    command = _command(commands, "setup", "take a ceremony's keys, or make INSECURE ones for trials", program=True)
    _prover(command)
    command.add_argument(
        "--zkey", type=Path, metavar="FILE", help="the key that snarkjs' ceremony made for the circuit"
    )
    command.add_argument(
        "--ptau", type=Path, metavar="FILE", help="the prepared powers of tau that it began with; for halo2, alone"
    )
    _output(command, "-o", "KEYS", "folder for the proving and the verifying key")


def _prove(commands: Any) -> None:
    command = _command(commands, "prove", "run a program and prove that it was run", program=True)
    _prover(command, keyless=True)
    command.add_argument("--keys", type=Path, metavar="KEYS", help="folder that setup wrote (not for tensor)")
    command.add_argument(
        "--not-zero-knowledge",
        action="store_true",
        help="tensor: a faster proof, which tells others about private and committed values",
    )
    _inputs(command, "values to prove with")
    _outputs(command, "write the outputs there, as real values")
    command.add_argument(
        "--openings",
        type=Path,
        metavar="FILE.json",
        help="where the secret salts of the commitments go (default: PROOF.openings.json, beside PROOF)",
    )
    command.add_argument(
        "--openings-from",
        type=Path,
        metavar="FILE.json",
        help="openings of an earlier proof: inputs of the same name or ports get its roots, if values agree",
    )
    _repeated(
        command,
        "--join",
        "NAME",
        "join this input alone to --openings-from, and others that are named (else all that it has too)",
    )
    _repeated(
        command,
        "--renew",
        "NAME",
        "tensor: prove instead that a new root of this group (parameters) holds what that of --openings-from does",
    )
    _output(command, "-o", "PROOF", "folder for the proof and its statement, for others to read")


def _verify(commands: Any) -> None:
    command = _command(commands, "verify", "decide whether a proof holds, with the verifier's own key")
    command.add_argument("proof", type=Path, metavar="PROOF", help="folder that prove wrote")
    command.add_argument("--keys", type=Path, metavar="KEYS", help="the verifier's own folder with verifying.key")
    _prover(command, required=False, keyless=True)
    command.add_argument("--program", metavar="PROGRAM", help=f"the program it must be a proof of: {PROGRAM}")
    command.add_argument("--digest", metavar="HEX", help="the digest of the program it must be a proof of")
    _repeated(command, "--renew", "NAME", "it must show that two roots of this group of the program hold the same")
    _repeated(
        command,
        "--expect",
        "NAME=VALUE|ROOT",
        "a public value, exact (0.25, 1024/2^12, [1, 2], raw:1024), or a commitment's root, that the proof must "
        "state; repeatable, each name once",
    )


def _prove_run(commands: Any) -> None:
    command = _command(commands, "prove-run", "prove consecutive training steps (tensor proofs)", program=True)
    command.add_argument("--steps", type=_count, required=True, metavar="N", help="how many steps")
    command.add_argument(
        "--seed", metavar="HEX", help="public seed of the order of examples (default with --after: that run's)"
    )
    command.add_argument("--after", type=Path, metavar="RUN", help="go on where that finished run of yours ended")
    command.add_argument("--dataset", type=Path, metavar="FILE.npz", help="all examples, by data input, as real values")
    command.add_argument(
        "--per-proof", type=_count, metavar="T", help="steps in one proof (default: as many as memory allows)"
    )
    command.add_argument(
        "--memory",
        type=_bytes,
        metavar="SIZE",
        help="memory of one proof, 8GB (default: 3/4 of the machine's; with --ray, what it has for each core)",
    )
    command.add_argument(
        "--ray",
        nargs="?",
        const="local",
        metavar="ADDRESS",
        help="prove on the cluster of Ray at this address, or without one on all cores of this machine",
    )
    command.add_argument(
        "--losses",
        choices=("none", "ends", "all"),
        default="none",
        help="of which steps the proofs tell public outputs: none, the first and last of each proof, or all (none)",
    )
    _public_start(command, "begin with what the --model draws by this public seed")
    command.add_argument("--evaluate", metavar="PROGRAM", help="a program that judges what the run ends with")
    command.add_argument("--test", type=Path, metavar="FILE.npz", help="the test set that it judges on, by data input")
    command.add_argument(
        "--public-test", action="store_true", help="commit to the test set so that whoever has it can check that"
    )
    _scalars(command, "a scalar of all steps (0.1, 1/10), rounded once (default: as in all of the program's examples)")
    command.add_argument(
        "--not-zero-knowledge", action="store_true", help="faster proofs, which tell others about committed values"
    )
    _inputs(command, "values to begin with, of all that is held")
    _outputs(command, "write what is held at the end there, as real values")
    _output(command, "-o", "RUN", "folder for the proofs, for others to read; one that was interrupted goes on")


def _verify_run(commands: Any) -> None:
    command = _command(commands, "verify-run", "decide whether consecutive training steps are proved")
    command.add_argument("run", type=Path, metavar="RUN", help="folder that prove-run wrote")
    held = command.add_mutually_exclusive_group(required=True)
    held.add_argument("--program", metavar="PROGRAM", help=f"the verifier's own step: {PROGRAM}")
    held.add_argument("--pin", type=Path, metavar="FILE", help="a pin: all that the run must be, in one file")
    _required_of_runs(command)


def _pin(commands: Any) -> None:
    command = _command(commands, "pin", "check a run, and write the one file that its verifiers must hold")
    command.add_argument("run", type=Path, metavar="RUN", help="folder that prove-run wrote")
    command.add_argument("--program", required=True, metavar="PROGRAM", help=f"the verifier's own step: {PROGRAM}")
    _required_of_runs(command)
    _output(command, "-o", "FILE", "where the pin goes")


def _required_of_runs(command: ArgumentParser) -> None:
    command.add_argument("--digest", metavar="HEX", help="the digest of the program it must be a run of")
    command.add_argument("--steps", type=_count, metavar="N", help="how many steps it must have")
    command.add_argument(
        "--first", type=_count, default=1, metavar="K", help="the number its first step must have (default: 1)"
    )
    command.add_argument("--seed", metavar="HEX", help="the seed it must have")
    command.add_argument("--examples", type=_count, metavar="N", help="how many examples its dataset must have")
    command.add_argument(
        "--per-proof", type=_count, metavar="T", help="steps that each proof must have (default: as it says)"
    )
    _public_start(command, "the seed of what it must begin with, drawn by the verifier's own --model")
    command.add_argument("--evaluate", metavar="PROGRAM", help="the verifier's own program that judges the run's end")
    command.add_argument("--test", type=Path, metavar="FILE.npz", help="the public test set that it must be judged on")
    command.add_argument("--test-examples", type=_count, metavar="N", help="how many examples the test set must have")
    _scalars(
        command, "a scalar that all steps must have, exact (0.125, 6554/2^16) (default: shown as the run states it)"
    )
    _repeated(
        command,
        "--expect",
        "NAME=ROOT",
        "a root it must begin with (parameters, data) or end with (final.parameters); repeatable",
    )


def _public_start(command: ArgumentParser, help: str) -> None:
    command.add_argument("--initial-seed", metavar="HEX", help=help)
    command.add_argument("--model", metavar="FILE.py:NAME", help="the Model that a public start is drawn for")


def _scalars(command: ArgumentParser, help: str) -> None:
    command.add_argument(
        "--schedule", metavar="FILE.py:NAME", help="the scalars of each step: a Recipe, or a function of the step"
    )
    _repeated(command, "--scalar", "NAME=VALUE", f"{help}; repeatable")


def _solidity(commands: Any) -> None:
    command = _command(commands, "solidity", "write a contract that verifies proofs on a chain, at most 64 publics")
    command.add_argument("keys", type=Path, metavar="KEYS", help="folder with verifying.key, or that file")
    _prover(command, required=False)
    _output(command, "-o", "FILE.sol", "where the contract goes")


def _doctor(commands: Any) -> None:
    _command(commands, "doctor", "what this machine can do, and how to get the rest")


def _command(commands: Any, name: str, summary: str, program: bool = False) -> ArgumentParser:
    command: ArgumentParser = commands.add_parser(name, help=summary, description=summary + ".", allow_abbrev=False)
    if program:
        command.add_argument("program", metavar="PROGRAM", help=PROGRAM)
    command.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    return command


def _prover(command: ArgumentParser, required: bool = True, keyless: bool = False) -> None:
    help = None if required else "the prover that the key must be for (default: the one that the key is for)"
    command.add_argument("--prover", choices=prover_names() if keyless else keyed_names(), required=required, help=help)


def _repeated(command: ArgumentParser, flag: str, metavar: str, help: str) -> None:
    command.add_argument(flag, action="append", default=[], metavar=metavar, help=help)


def _inputs(command: ArgumentParser, help: str) -> None:
    command.add_argument(
        "--inputs",
        type=Path,
        action="append",
        metavar="FILE.npz",
        help=f"{help}, by input name: real values, rounded once (default: the example); repeatable",
    )
    command.add_argument(
        "--raw-inputs", action="store_true", help="the arrays of --inputs are integers of the inputs' formats"
    )


def _outputs(command: ArgumentParser, help: str) -> None:
    command.add_argument("--outputs", type=Path, metavar="FILE.npz", help=help)
    command.add_argument(
        "--raw-outputs", action="store_true", help="write --outputs as integers of the outputs' formats"
    )


def _output(
    command: ArgumentParser, flag: str, metavar: str, help: str, default: Path | None = None, required: bool = True
) -> None:
    needed = required and default is None
    command.add_argument(flag, dest="output", type=Path, metavar=metavar, help=help, default=default, required=needed)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"expected a whole number of at least 0, found {text!r}")
    return int(text)


def _bytes(text: str) -> int:
    units = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kMGT]B)?", text)
    if found is None or float(found[1]) == 0:
        raise ArgumentTypeError(f"expected a size like 500MB or 8GB, found {text!r}")
    return int(float(found[1]) * units[found[2] or ""])


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)
