"""Designs in their shells, with certificates: made once for all tests of a worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from circuitize.backends.verilog.certificate import certificate
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.project import Project, Vectors
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.circuits.program import IntegerProgram


def project(program: IntegerProgram, elements: str = "bytes", **options: Any) -> Project:
    design = enclosed(schedule(program, **options), Interface(elements=elements))
    return Project(design, program, Vectors({}, {}, np.zeros(0, bool)))


@cache
def certified(make: Callable[[], IntegerProgram]) -> tuple[Project, dict[str, Any]]:
    made = project(make())
    return made, certificate(made)
