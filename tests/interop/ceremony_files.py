"""A ceremony of two contributors, made by snarkjs, and the files of the small program that it is held for."""

from pathlib import Path

from cli_programs import run
from interop.node_tools import FOLDER, snarkjs

PROGRAM = f"{FOLDER / 'ceremony_program.py'}:product"


def told(*arguments: object) -> str:
    """What snarkjs prints; an AssertionError where it fails."""
    status, output = snarkjs(*arguments)
    assert status == 0, output
    return output


def powers(folder: Path, power: int) -> Path:
    """A prepared powers.ptau for 2^power rows; seconds grow with 2^power: 10 at power 9."""
    told("powersoftau", "new", "bn128", power, folder / "first.ptau")
    told("powersoftau", "contribute", folder / "first.ptau", folder / "second.ptau", "--name=one", "-e=entropy")
    told("powersoftau", "prepare", "phase2", folder / "second.ptau", folder / "powers.ptau")
    return folder / "powers.ptau"


def compiled(folder: Path, program: str = PROGRAM) -> Path:
    """A folder with circuit.r1cs and witness.wtns."""
    assert run("compile", program, "--target", "r1cs", "--witness", "-o", folder).status == 0
    return folder
