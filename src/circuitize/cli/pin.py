"""The command `circuitize pin` checks a run, and writes the one file with which others check the run again."""

from __future__ import annotations

import time
from argparse import Namespace

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file

from .output import remark
from .verify_run import judged, told


def run(options: Namespace) -> int:
    """Check a run, print the verdict, and write a pin if the run holds; return exit status 0, or 1 without a pin if the
    run does not hold.
    """
    start = time.perf_counter()
    require_file(options.output)
    if options.output.resolve().is_relative_to(options.run.resolve()):
        raise CircuitizeError(f"{options.output}: expected a path outside {options.run}, which is the prover's")
    verdict, loaded = judged(options, options.output)
    if verdict:
        remark(f"{options.output}: circuitize verify-run {options.run} --pin {options.output} checks this run again")
    return told(options, start, verdict, loaded)
