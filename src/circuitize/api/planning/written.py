"""The folder that `circuitize plan -o` writes: the program of one point, its inputs, its options and commands, and the
whole front.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.api.values import write_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import whole_folder
from circuitize.circuits.port import Port
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json
from circuitize.circuits.saved import save
from circuitize.circuits.types import Fixed

from .point import INPUTS_FILE, PROGRAM_FILE, Point

if TYPE_CHECKING:
    from .front import Planned

PLAN_FILE, PICTURE_FILE = "plan.json", "front.svg"
FILES = (PLAN_FILE, PROGRAM_FILE, INPUTS_FILE, PICTURE_FILE)


def require_examples(program: Program) -> None:
    """Raise CircuitizeError for a program without an example."""
    if not program.examples:
        raise CircuitizeError(
            "expected a program with an example, whose values the commands take, found none; leave out -o, or give the "
            "file.py:name that has examples"
        )


def write(planned: Planned, folder: Path, number: int) -> Point:
    """Write the folder of a point, after building the point's circuit again to check its counts.

    In the folder, `program.arrow` may be given to others; `inputs.npz`, for its owner alone, has the values of the
    first example that the commands take; `plan.json` has the front and the commands; `front.svg` is drawn if matplotlib
    is installed.

    Raise CircuitizeError if the front has no point of the given number, if the point's circuit has other counts, or if
    the folder contains other files.
    """
    point = planned[number]
    require_examples(point.program)
    point.require_counts()
    with whole_folder(folder, PLAN_FILE, FILES) as whole:
        save(point.program, whole / PROGRAM_FILE)
        first = point.program.examples[0]
        write_npz(whole / INPUTS_FILE, {p.name: first[p.name] for p in point.program.inputs if _goes_in(point, p)})
        content: Json = {
            **planned.as_json(),
            "chosen": number,
            "options": point.options,
            "commands": point.commands_in(folder),
        }
        write_whole(whole / PLAN_FILE, [json.dumps(content, indent=1).encode()])
        if _drawable():
            planned.plot(whole / PICTURE_FILE)
    return point


def _goes_in(point: Point, port: Port[Fixed]) -> bool:
    """Return whether the commands of a point take the value of an input: commands for hardware and runs take held
    inputs, those for single proofs take all inputs.
    """
    return port.held or not (point.target == "verilog" or "per_proof" in point.choices)


def _drawable() -> bool:
    return find_spec("matplotlib") is not None
