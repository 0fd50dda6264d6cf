"""The command `circuitize report` writes a page about a program, with the verdicts on its proofs that this machine
reached.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from circuitize.api.expectations import read_expectations
from circuitize.api.reports.proved import Judged
from circuitize.api.reports.report import report, require_ending
from circuitize.api.training.folder import MANIFEST
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file, require_plain_files

from .loading import read_program
from .output import print_json, say, show
from .verdict import PROOF_FILE, RUN_FILE
from .verify import gathered, gathered_without_key
from .verify_run import REQUIRED, judged


def run(options: Namespace) -> int:
    """Write the page of the report; return exit status 1 if a proof or run does not hold, which the page says too."""
    require_ending(options.output)
    require_file(options.output)
    program = read_program(options.program, options=options)
    evidence = [_evidence(folder, options) for folder in options.folders]
    made = report(program, *evidence, title=options.program, progress=show)
    made.save(options.output)
    valid = [bool(one.verdict) for one in evidence if isinstance(one, Judged)]
    size = len(made.html.encode())
    if options.json:
        print_json({"bytes": size, "valid": valid})
    else:
        held = f"; {sum(valid)} of {len(valid)} proofs and runs hold" if valid else ""
        say(f"{options.output}: {size:,} bytes{held}")
    return 0 if all(valid) else 1


def _evidence(folder: Path, options: Namespace) -> Judged | Path:
    """Return the verdict on the proof or run in a folder, by the program, key and requirements of this command line;
    the folder of a training is returned unchanged.
    """
    require_plain_files(folder)
    if (folder / MANIFEST).is_file():
        return folder
    if (folder / RUN_FILE).is_file():
        verdict, _ = judged(Namespace(**{**vars(options), "run": folder}))
        asked = {name: getattr(options, name) for name in REQUIRED}
        asked |= {"first": options.first} if options.first > 1 else {}
        return Judged.of(verdict, "verify-run", folder, options.program, asked)
    if not (folder / PROOF_FILE).is_file():
        raise CircuitizeError(f"{folder}: expected a folder of prove, prove-run or train, found none; check the path")
    given = (folder, options.keys, options.program, options.digest)
    holder = gathered_without_key(*given) if options.keys is None else gathered(*given)
    holder = replace(holder, expectations=read_expectations(options.expect, holder.exact.integer, holder.bound))
    asked = {name: getattr(options, name) for name in ("keys", "digest", "expect")}
    return Judged.of(holder.check(folder), "verify", folder, options.program, asked)
