"""The arguments of commands about runs of training steps."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from circuitize.api.provers import prover_names
from circuitize.api.training.executing import DEVICES, EXECUTORS

from .parameters import SAVED, count, inputs, output, outputs, repeated, size_in_bytes
from .program_arguments import program


def prove_run(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize prove-run`."""
    program(command)
    command.add_argument("--steps", type=count, required=True, metavar="N", help="how many steps")
    command.add_argument(
        "--seed", metavar="HEX", help="public seed of the order of examples (default with --after: that run's)"
    )
    command.add_argument("--after", type=Path, metavar="RUN", help="go on where that finished run of yours ended")
    _dataset(command)
    command.add_argument(
        "--per-proof", type=count, metavar="T", help="steps in one proof (default: as many as memory allows)"
    )
    command.add_argument(
        "--memory",
        type=size_in_bytes,
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
    inputs(command, "values to begin with, of all that is held")
    outputs(command, "write what is held at the end there, as real values")
    output(command, "-o", "RUN", "folder for the proofs, for others to read; one that was interrupted goes on")


def train(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize train`."""
    program(command)
    length = command.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=count, metavar="N", help="how many steps in all")
    length.add_argument("--epochs", type=count, metavar="N", help="how many times through the dataset")
    command.add_argument("--seed", required=True, metavar="HEX", help="public seed of the order of examples")
    _dataset(command)
    command.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="integer",
        help="exact integers, float64 (real), or both side by side with their distance (integer)",
    )
    command.add_argument(
        "--device",
        choices=DEVICES,
        default="numpy",
        help="where it runs: by numpy, or compiled by XLA for the processor (xla) or an NVIDIA GPU (cuda), to the same "
        "integers (numpy)",
    )
    command.add_argument("--evaluate", metavar="PROGRAM", help="a program that judges what is held, at each checkpoint")
    command.add_argument(
        "--test", metavar="DATA", help="the test set that it judges on (default: the rest of a CSV file or a Dataset)"
    )
    command.add_argument("--every", type=count, metavar="N", help="steps between checkpoints (default: an epoch's)")
    _public_start(command, "begin with what the --model draws by this public seed")
    _scalars(command, "a scalar of all steps (0.1, 1/10), rounded once (default: as in all of the program's examples)")
    command.add_argument(
        "--record", action="store_true", help="leave hashes of every wire of every step, for a dispute"
    )
    command.add_argument("--no-roots", action="store_true", help="do not commit to a run that proves this later")
    command.add_argument(
        "--per-proof", type=count, metavar="T", help="steps in a proof of that run: then its dataset has a root too"
    )
    command.add_argument(
        "--not-zero-knowledge", action="store_true", help="that run is to be proved without zero knowledge"
    )
    inputs(command, "values to begin with, of all that is held")
    command.add_argument(
        "--outputs", type=Path, metavar="FILE.npz", help="write what is held at the end there, as real values"
    )
    output(command, "-o", "TRAIN", "folder for checkpoints and metrics, yours alone; one that was interrupted goes on")


def dispute(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize dispute`."""
    for name in ("A", "B"):
        command.add_argument(name.lower(), type=Path, metavar=name, help="folder that train left, in integers")
    command.add_argument(
        "--prover",
        choices=(*prover_names(), "none"),
        default="tensor",
        help="what proves the step in dispute; none: the run of this machine decides (tensor)",
    )
    output(command, "-o", "PROOF", "folder for the proof, which tells all of that step", required=False)


def testify(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize testify`."""
    command.add_argument("train", type=Path, metavar="TRAIN", help="folder that train left, yours")
    command.add_argument("--step", type=count, required=True, metavar="N", help="the step in dispute")


def verify_run(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize verify-run`."""
    command.add_argument("run", type=Path, metavar="RUN", help="folder that prove-run wrote")
    held = command.add_mutually_exclusive_group(required=True)
    held.add_argument("--program", metavar="PROGRAM", help=f"the verifier's own step: {SAVED}")
    held.add_argument("--pin", type=Path, metavar="FILE", help="a pin: all that the run must be, in one file")
    _required_of_runs(command)


def report(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize report`."""
    program(command)
    command.add_argument(
        "folders",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="of a proof or a run, whose verdict the page says, or of a training, whose curves it shows",
    )
    command.add_argument(
        "--keys", type=Path, metavar="KEYS", help="for a proof: the verifier's own folder with its key"
    )
    _required_of_runs(command)
    output(command, "-o", "FILE.html", "where the page goes")


def pin(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize pin`."""
    command.add_argument("run", type=Path, metavar="RUN", help="folder that prove-run wrote")
    command.add_argument("--program", required=True, metavar="PROGRAM", help=f"the verifier's own step: {SAVED}")
    _required_of_runs(command)
    output(command, "-o", "FILE", "where the pin goes")


def _dataset(command: ArgumentParser) -> None:
    command.add_argument(
        "--dataset",
        metavar="DATA",
        help="all examples: FILE.npz of real values by data input, FILE.csv, or FILE.py:NAME of a Dataset, arrays by "
        "name, or a function of no arguments that returns one",
    )
    command.add_argument("--target", metavar="COLUMN", help="the column of FILE.csv to predict (default: the last)")
    command.add_argument(
        "--unscaled", action="store_true", help="take FILE.csv as it is, its columns not scaled to mean 0, deviation 1"
    )


def _required_of_runs(command: ArgumentParser) -> None:
    command.add_argument("--digest", metavar="HEX", help="the digest of the program it must be a run of")
    command.add_argument("--steps", type=count, metavar="N", help="how many steps it must have")
    command.add_argument(
        "--first", type=count, default=1, metavar="K", help="the number its first step must have (default: 1)"
    )
    command.add_argument("--seed", metavar="HEX", help="the seed it must have")
    command.add_argument("--examples", type=count, metavar="N", help="how many examples its dataset must have")
    command.add_argument(
        "--per-proof", type=count, metavar="T", help="steps that each proof must have (default: as it says)"
    )
    _public_start(command, "the seed of what it must begin with, drawn by the verifier's own --model")
    command.add_argument("--evaluate", metavar="PROGRAM", help="the verifier's own program that judges the run's end")
    command.add_argument("--test", type=Path, metavar="FILE.npz", help="the public test set that it must be judged on")
    command.add_argument("--test-examples", type=count, metavar="N", help="how many examples the test set must have")
    _scalars(
        command, "a scalar that all steps must have, exact (0.125, 6554/2^16) (default: shown as the run states it)"
    )
    repeated(
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
    repeated(command, "--scalar", "NAME=VALUE", f"{help}; repeatable")
