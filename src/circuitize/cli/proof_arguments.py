"""The arguments of commands about keys and single proofs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from .parameters import SAVED, inputs, output, outputs, prover, repeated, size_in_bytes
from .program_arguments import program


def setup(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize setup`."""
    program(command)
    prover(command)
    command.add_argument(
        "--zkey", type=Path, metavar="FILE", help="the key that snarkjs' ceremony made for the circuit"
    )
    command.add_argument(
        "--ptau", type=Path, metavar="FILE", help="the prepared powers of tau that it began with; for halo2, alone"
    )
    output(command, "-o", "KEYS", "folder for the proving and the verifying key")


def commit_weights(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize commit-weights`."""
    program(command)
    command.add_argument(
        "--not-zero-knowledge",
        action="store_true",
        help="roots for proofs that tell others about private and committed values",
    )
    inputs(command, "values of the frozen inputs")
    memory(command)
    output(command, "-o", "WEIGHTS", "folder for the roots and the proofs of their formats, for others to read")


def weights(command: ArgumentParser, help: str) -> None:
    """Add the option --weights: the folder with the roots of frozen inputs."""
    command.add_argument("--weights", type=Path, metavar="WEIGHTS", help=f"tensor: {help}")


def memory(command: ArgumentParser) -> None:
    """Add the option --memory: the greatest number of bytes that proving may need."""
    command.add_argument(
        "--memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="tensor: refuse, before there is work, a proof that needs more (8GB; default: what the machine has)",
    )


def prove(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize prove`."""
    program(command)
    prover(command, keyless=True)
    command.add_argument("--keys", type=Path, metavar="KEYS", help="folder that setup wrote (not for tensor)")
    command.add_argument(
        "--not-zero-knowledge",
        action="store_true",
        help="tensor: a faster proof, which tells others about private and committed values",
    )
    inputs(command, "values to prove with")
    outputs(command, "write the outputs there, as real values")
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
    repeated(
        command,
        "--join",
        "NAME",
        "join this input alone to --openings-from, and others that are named (else all that it has too)",
    )
    memory(command)
    weights(command, "folder that commit-weights wrote: frozen inputs have its roots, which are opened once more")
    repeated(
        command,
        "--renew",
        "NAME",
        "tensor: prove instead that a new root of this group (parameters) holds what that of --openings-from does",
    )
    output(command, "-o", "PROOF", "folder for the proof and its statement, for others to read")


def verify(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize verify`."""
    command.add_argument("proof", type=Path, metavar="PROOF", help="folder that prove wrote")
    _required_of_proofs(command)
    weights(command, "folder that commit-weights wrote, which is checked: the proof must be of these roots")
    repeated(command, "--renew", "NAME", "it must show that two roots of this group of the program hold the same")


def hold(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize hold`."""
    command.add_argument("folder", type=Path, metavar="FOLDER", help="folder that prove or prove-run wrote")
    command.add_argument("--pin", type=Path, metavar="FILE", help="of a run: the pin that it must be as")
    _required_of_proofs(command)
    output(command, "-o", "FILE", "where the held file goes")


def _required_of_proofs(command: ArgumentParser) -> None:
    command.add_argument("--keys", type=Path, metavar="KEYS", help="the verifier's own folder with verifying.key")
    prover(command, required=False, keyless=True)
    command.add_argument("--program", metavar="PROGRAM", help=f"the program it must be a proof of: {SAVED}")
    command.add_argument("--digest", metavar="HEX", help="the digest of the program it must be a proof of")
    repeated(
        command,
        "--expect",
        "NAME=VALUE|ROOT",
        "a public value, exact (0.25, 1024/2^12, [1, 2], raw:1024), or a commitment's root, that the proof must "
        "state; repeatable, each name once",
    )


def solidity(command: ArgumentParser) -> None:
    """Add the arguments of `circuitize solidity`."""
    command.add_argument("keys", type=Path, metavar="KEYS", help="folder with verifying.key, or that file")
    prover(command, required=False)
    output(command, "-o", "FILE.sol", "where the contract goes")
