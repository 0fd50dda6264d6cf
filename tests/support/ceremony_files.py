"""A ceremony of two contributors, made by snarkjs, and the files of the small program that it is held for."""

from pathlib import Path
from typing import Any

from cli_programs import run
from node_tools import ask

PROGRAM = f"{Path(__file__).with_name('ceremony_program.py')}:product"


def call(function: str, *given: object) -> Any:
    """What a function of snarkjs returns; an AssertionError where it fails."""
    (found,) = ask({"tool": "call", "of": function, "given": given})
    return found


def powers(folder: Path, power: int) -> Path:
    """A prepared powers.ptau for 2^power rows; seconds grow with 2^power: 10 at power 9."""
    ask({"tool": "powers", "power": power, "path": folder / "first.ptau"})
    call("powersOfTau.contribute", folder / "first.ptau", folder / "second.ptau", "one", "entropy")
    call("powersOfTau.preparePhase2", folder / "second.ptau", folder / "powers.ptau")
    return folder / "powers.ptau"


def compiled(folder: Path, program: str = PROGRAM) -> Path:
    """A folder with circuit.r1cs and witness.wtns."""
    assert run("compile", program, "--target", "r1cs", "--witness", "-o", folder).status == 0
    return folder
