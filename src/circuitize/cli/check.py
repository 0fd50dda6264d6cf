"""The command `circuitize check` runs a program on every target that this machine has, and compares the results with
the integer executor's.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from circuitize.api.check import check, check_files

from .loading import load_program, require_no_choices
from .output import print_json, print_table, say, show


def run(options: Namespace) -> int:
    """Return exit status 0 if every target equals the integer executor on every input that was tried, and 1 if some
    target differs.
    """
    if Path(options.program).is_dir():
        require_no_choices(options.program, options)
        return _run_files(Path(options.program), options.json)
    checked = check(
        load_program(options.program, options=options), vectors=options.vectors, seed=options.seed, progress=show
    )
    found = checked.agreement
    if options.json:
        frames = {run.name: run.found.vectors for run in checked.designs if run.found is not None}
        left = {run.name: run.reason for run in checked.designs if run.found is None}
        told = {"targets": checked.targets, "frames": frames, "left_out": left, "digest": checked.digest}
        print_json({**vars(found), **told})
        return 1 if found.mismatches else 0
    verb = "equals" if len(checked.targets) == 1 else "equal"
    state = f"DIFFERS on {found.mismatches}" if found.mismatches else f"{verb} the integer executor"
    defined = found.vectors - found.undefined
    shown = " and ".join(checked.targets)
    say(f"{options.program}: {shown} {state} on {defined} of {found.vectors} inputs{_refused(found.undefined)}")
    if found.first_difference:
        say(f"  first difference: {found.first_difference}")
    if found.first_undefined:
        say("  that is no failure: inputs are tried at the ends of their formats too, where values may pass what the")
        say("  examples were calibrated on; there the program has no value, and no target accepts one")
        say(f"  the first of them: {found.first_undefined}")
    for run in checked.designs:
        tried = f"{run.found.vectors} frames{_refused(run.found.undefined)}" if run.found else None
        say(f"  {run.name}: {tried or 'left out, ' + run.reason}")
    if found.float_error:
        say("greatest difference from float64, by output")
        print_table([(name, f"{error:.3g}") for name, error in found.float_error.items()])
    return 1 if found.mismatches else 0


def _refused(undefined: int) -> str:
    """Return a remark on the inputs for which the program is undefined, which the integer executor and all targets must
    refuse.
    """
    return f"; {undefined} outside what the program is defined on, refused by all alike" if undefined else ""


def _run_files(folder: Path, as_json: bool) -> int:
    target, held, found = check_files(folder, show)
    if as_json:
        print_json({**vars(found), "targets": [target]})
    else:
        say(f"{folder}: {found.first_difference or f'its witness satisfies {held}'}")
    return found.mismatches
