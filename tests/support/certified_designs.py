"""Designs in their shells, with certificates: made once for all tests of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from modal_designs import Integers, programs, single
from verilog_equivalence import Original, Timing

from circuitize.backends.verilog import folded
from circuitize.backends.verilog.certificate import certificate
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.project import Project, Vectors
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.circuits.program import IntegerProgram


def project(program: IntegerProgram, elements: str = "bytes", **options: Any) -> Project:
    design = enclosed(schedule(program, **options), Interface(elements=elements))
    return Project(design, program, Vectors({}, {}, np.zeros(0, bool)))


def folded_project(program: IntegerProgram, initial: Mapping[str, Integers], **options: Any) -> Project:
    design = enclosed(folded.schedule(program, initial=initial, **options), Interface(elements="bytes"))
    return Project(design, program, Vectors({}, {}, np.zeros(0, bool), initial=initial))


@cache
def certified_step() -> tuple[Project, dict[str, Any]]:
    """The training step of a 4-3-2 network, folded, with its certificate."""
    return _certified(programs(), 4)


@cache
def certified_layer() -> tuple[Project, dict[str, Any]]:
    """The same of a network of one layer, which takes half the time."""
    return _certified(single(), 2)


def _certified(
    of: tuple[IntegerProgram, IntegerProgram, dict[str, Integers]], lanes: int
) -> tuple[Project, dict[str, Any]]:
    step, _, initial = of
    made = folded_project(step, initial, lanes=lanes)
    return made, certificate(made)


@cache
def certified(make: Callable[[], IntegerProgram]) -> tuple[Project, dict[str, Any]]:
    made = project(make())
    return made, certificate(made)


LARGE = 1 << 9
"""Frames of so many clocks are too many to unroll."""


def compared(made: Project, found: dict[str, Any], folder: Path) -> Original:
    """A design that changed ones are compared with: in two frames one after the other, or at full speed if parallel."""
    beats = {stream.name: stream.beats for stream in made.design.streams if not stream.output}
    timings = [Timing(beats, 1, found["stages"] + 3)] if "stages" in found else []
    if found.get("clocks", LARGE) < LARGE:
        timings = [Timing(beats, found["clocks"], 1 + 2 * found["clocks"], starts) for starts in (False, True)]
    return Original(made.design.top, made.design.files, timings, folder)
