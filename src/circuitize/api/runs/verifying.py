"""Verifying a run: what the verifier holds decides; the folder only claims.

Soundness: the program, the number of the first step, and all that is given are the verifier's; the folder claims. What
it claims of seed, lengths and number of examples must equal what is given; where nothing is, the claim becomes part of
the setting, and the verdict says it. `checking.check` decides on a setting: whether there are proofs of that program,
with those batches and scalars, each joined to the next by its roots. Roots, public outputs, and scalars that are not
given, are believed once these proofs bind them; then roots are compared with those that are expected.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.folder import require_plain_files
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import Program
from circuitize.circuits.scan import Told
from circuitize.provers.statement import FILE
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs.checking import Checked, Refused
from circuitize.provers.tensor.runs.dividing import MOST_CHOSEN, is_heavy
from circuitize.provers.tensor.runs.files import MANIFEST, RENEWALS, STEPS, Manifest, read_manifest
from circuitize.provers.tensor.runs.setting import Run

from ..exact import exact
from ..expectations import whole_root
from .proving import seed_bytes
from .scalars import Schedule, required_scalars
from .spelling import PYTHON, Spelling
from .steps import from_step, whole_number
from .verdict import RunVerdict, verdict_of

FINAL = "final."

BELIEVED_EXAMPLES = 1 << 20
"""So many examples are put in order on the prover's word."""


def verify_run(
    program: Program,
    folder: Path | str,
    *,
    steps: int | None = None,
    first: int = 1,
    seed: bytes | str | None = None,
    examples: int | None = None,
    per_proof: int | None = None,
    scalars: Mapping[str, Any] | None = None,
    schedule: Schedule | None = None,
    digest: str | None = None,
    expect: Mapping[str, str | None] | None = None,
    progress: Progress = silent,
    spelling: Spelling = PYTHON,
) -> RunVerdict:
    """The verdict on the run in a folder, by the verifier's own program.

    What is given is required: how many `steps`, the number of the `first`, the `seed` (bytes or hexadecimal), how many
    `examples` the dataset has, `scalars` of all steps by name, exactly, a `schedule` for the others, the `digest` of
    the program, and roots, in hexadecimal: `expect={"data": ..., "parameters": ..., "final.parameters": ...}`. What is
    not given is as the run states it, and the verdict says what that is. A prover who chose the seed chose the batches.

    Raises CircuitizeError where there is no run to check, for scalars that are no values of their formats, other names
    of roots, and claims that are believed only if they are required: very many examples, or steps in a proof.
    """
    start, path = time.perf_counter(), Path(folder)
    for each_folder in (path, path / STEPS, path / RENEWALS):
        require_plain_files(each_folder)
    own = exact(program, Phases())
    if (path / FILE).is_file() and not (path / MANIFEST).exists():
        raise CircuitizeError(
            f"{path}: expected a run of training steps, found one proof (it has {FILE}); use {spelling.verifier}"
        )
    required, stated = required_scalars(own.integer, scalars, schedule, spelling)
    manifest = read_manifest(path)
    drawn = manifest.seed if seed is None else seed_bytes(seed, spelling)
    first, steps, size, each = (
        whole_number(spelling.option(name), getattr(manifest, name) if given is None else given)
        for name, given in (("first", first), ("steps", steps), ("examples", examples), ("per_proof", per_proof))
    )
    _require_believable(path, manifest, examples is not None, per_proof is not None, spelling)
    planned = 0.0
    try:
        if digest is not None and digest.lower() != own.digest:
            raise Refused(f"the program is {own.digest}, expected {digest.lower()}")
        found, wanted = (manifest.first, manifest.steps, manifest.examples, manifest.seed), (first, steps, size, drawn)
        if found != wanted:
            raise Refused(f"the run is of {_extent(*found)}, expected {_extent(*wanted)}")
        if manifest.per_proof != each:
            raise Refused(f"the run has {manifest.per_proof} steps in a proof, expected {each}")
        if each > steps:
            raise Refused(f"the run claims {each:,} steps in a proof, expected at most {steps:,}, as many as there are")
        setting = Run(
            *(own.integer, size, steps, drawn, required, each, first, stated),
            zero_knowledge=manifest.zero_knowledge,
            begun=manifest.openings if first > 1 else None,
            told=Told(manifest.told),
        )
        expected = _expected_roots(setting.kept, expect or {}, spelling)
        checking.require_setting(setting, manifest)
        if per_proof is None and is_heavy(setting):
            raise CircuitizeError(
                f"{path}: expected fewer steps in a proof of this program unless you say so, found a claim of "
                f"{each:,}, which takes long to check; give {spelling.option('per_proof', each)} if you asked for that"
            )
        planned = time.perf_counter() - start
        checked = checking.check(
            setting, path, manifest, lambda step: progress(f"verified step {step:,} of {setting.last:,}")
        )
        _compare(expected, checked)
    except Refused as error:
        return RunVerdict(digest=own.digest, valid=False, reason=str(error), plan_seconds=planned)
    finally:
        progress("")
    return verdict_of(setting, checked, planned)


def _require_believable(folder: Path, manifest: Manifest, examples: bool, per_proof: bool, spelling: Spelling) -> None:
    """Raises CircuitizeError where a run claims so much that it takes long to look at, unless the verifier said so.

    How many steps a proof has, and how many examples there are, decides what a plan and an order of examples take.
    """
    claimed = manifest.per_proof
    if not per_proof and claimed > MOST_CHOSEN:
        raise CircuitizeError(
            f"{folder}: expected at most {MOST_CHOSEN:,} steps in a proof unless you say so, found a claim of "
            f"{claimed:,}; give {spelling.option('per_proof', claimed)} if these are the proofs that you asked for"
        )
    if not examples and manifest.examples > BELIEVED_EXAMPLES:
        raise CircuitizeError(
            f"{folder}: expected at most {BELIEVED_EXAMPLES:,} examples unless you say so, found a claim of "
            f"{manifest.examples:,}; give {spelling.option('examples', 'N')} if you know how many there are"
        )


def _extent(first: int, steps: int, examples: int, seed: bytes) -> str:
    return f"{steps} steps{from_step(first)} on {examples} examples with seed {seed.hex()}"


def _expected_roots(kept: Sequence[str], expect: Mapping[str, str | None], spelling: Spelling) -> dict[str, bytes]:
    """Roots by the names `parameters`, `data`, `final.parameters`. Raises CircuitizeError for others."""
    where, names = spelling.option("expect"), [*kept, "data", *(FINAL + name for name in (*kept, "data"))]
    found = {}
    for name, root in expect.items():
        if name not in names or root is None:
            given = name if root is None else f"{name}={root}"
            raise CircuitizeError(
                f"{where}: expected NAME=ROOT with a name among {', '.join(names)}, found {excerpt(given)}"
            )
        found[name] = whole_root(f"{where} {name}", root).to_bytes(32, "big")
    return found


def _compare(expected: Mapping[str, bytes], checked: Checked) -> None:
    found = {**checked.roots, **{FINAL + name: root for name, root in checked.final.items()}}
    for name, root in expected.items():
        if found[name] != root:
            raise Refused(f"expected {name} committed to by 0x{root.hex()}, the run has 0x{found[name].hex()}")
