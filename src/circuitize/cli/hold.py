"""The command `circuitize hold` checks a proof or a run, and writes the file with which the web page checks it
again.
"""

from __future__ import annotations

import hashlib
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path

from circuitize.api.expectations import read_expectations, values_file
from circuitize.api.holding import hold_proof, hold_run
from circuitize.api.provers import keyed_names
from circuitize.api.runs.verdict import RunVerdict
from circuitize.api.verdict import Verdict
from circuitize.api.verifier import keyless_prover
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import require_file, require_plain_files

from . import verify, verify_run
from .output import print_json, remark, say, show
from .screen import one_line, visible
from .verdict import RUN_FILE, require_outside


def run(options: Namespace) -> int:
    """Check a folder, print the verdict, and write a held file if the folder's proofs hold; return exit status 0, or 1
    without a file if they do not hold.
    """
    require_file(options.output)
    require_outside(options.output, options.folder)
    if not options.folder.is_dir():
        raise CircuitizeError(
            f"{options.folder}: expected the folder of a proof or of a run, found none; check the path"
        )
    require_plain_files(options.folder)
    verdict, content = _run(options) if (options.folder / RUN_FILE).is_file() else _proof(options)
    if content:
        write_whole(options.output, [content])
    if options.json:
        held = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} if content else None
        print_json(verdict.as_json() | {"held": held})
    elif not content:
        say(f"NOT valid: {one_line(str(verdict.reason))}")
    else:
        for line in _lines(verdict, options.folder):
            say(line)
        say(f"held: {options.output}, {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    return 0 if content else 1


def _run(options: Namespace) -> tuple[RunVerdict, bytes]:
    for name in ("keys", "prover", "program", "digest", "expect"):
        if getattr(options, name):
            raise CircuitizeError(f"--{name}: expected none for a run, whose --pin says what it must be; leave it out")
    if options.pin is None:
        raise CircuitizeError(
            f"{options.folder}: expected --pin FILE for a run, found none; circuitize pin writes one, by your program"
        )
    require_outside(options.pin, options.folder)
    return hold_run(options.folder, options.pin, partial(_lines, folder=Path("it")), progress=show)


def _proof(options: Namespace) -> tuple[Verdict, bytes]:
    if options.pin is not None:
        raise CircuitizeError(f"--pin: expected none for a single proof, found {options.pin}; give --keys or --program")
    name = options.prover
    keyless = name not in keyed_names() if name else options.keys is None and keyless_prover(options.folder) is not None
    given = (options.folder, options.keys, options.program, options.digest, name)
    verifier = verify.gathered_without_key(*given) if keyless else verify.gathered(*given)
    for path in filter(None, map(values_file, options.expect)):
        require_outside(path, options.folder)
    wanted = read_expectations(options.expect, verifier.exact.integer, verifier.bound)
    verdict, content = hold_proof(
        replace(verifier, expectations=wanted), options.folder, partial(_lines, folder=Path("it"))
    )
    if verdict.setup == "development":
        remark(verify.DEVELOPMENT)
    return verdict, content


def _lines(verdict: Verdict | RunVerdict, folder: Path) -> list[str]:
    """Return the lines that the command prints about a folder whose proofs hold, in printable characters."""
    if isinstance(verdict, RunVerdict):
        lines = verify_run.lines_of(str(folder), verdict)
    else:
        lines = verify.lines_of(str(folder), verdict)
        if verdict.setup == "development":
            lines.append(f"  {verify.DEVELOPMENT}")
    return list(map(visible, lines))
