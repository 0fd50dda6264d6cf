"""`circuitize verify-run`: whether N consecutive training steps are proved, by the verifier's own program and seed."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Exact
from circuitize.api.expectations import whole_root
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import shown, written
from circuitize.circuits.program import Port, to_reals
from circuitize.provers.statement import FILE

from .loading import load_program, program_path
from .output import print_json, say, show, shown_number
from .run_values import from_step, required_scalars, seed_bytes
from .screen import one_line
from .verdict import RUN_FILE, require_digest, require_files, require_kind, require_outside

if TYPE_CHECKING:
    from circuitize.provers.tensor.runs.checking import Checked
    from circuitize.provers.tensor.runs.files import Manifest
    from circuitize.provers.tensor.runs.setting import Run

FINAL = "final."

BELIEVED_PER_PROOF = 16
BELIEVED_OPERATIONS = 1 << 14
"""So many steps in a proof, and so many operations in all of them, are planned for on the prover's word."""

BELIEVED_EXAMPLES = 1 << 20
"""So many examples are put in order on the prover's word."""


def run(options: Namespace) -> int:
    """Print the verdict and what was proved; 0 where the run holds, 1 where it does not."""
    from circuitize.provers.tensor.runs.checking import Refused, check, require_setting, security_bits
    from circuitize.provers.tensor.runs.files import STEPS, read_manifest
    from circuitize.provers.tensor.runs.setting import Run

    start = time.perf_counter()
    require_kind(options.run, RUN_FILE, FILE, ("a run of training steps", "one proof"), "verify")
    require_outside(program_path(options.program), options.run)
    if options.schedule is not None:
        require_outside(program_path(options.schedule), options.run)
    if options.digest is not None:
        require_digest(options.digest)
    for folder in (options.run, options.run / STEPS):
        require_files(folder)
    loaded = load_program(options.program, integer=True)
    given, stated = required_scalars(loaded.integer, options.schedule, options.scalar)
    manifest = read_manifest(options.run)
    seed = manifest.seed if options.seed is None else seed_bytes(options.seed)
    steps = manifest.steps if options.steps is None else options.steps
    examples = manifest.examples if options.examples is None else options.examples
    per_proof = manifest.per_proof if options.per_proof is None else options.per_proof
    _require_believable(loaded, manifest, options)
    reason, checked, planned = None, None, 0.0
    setting = None
    try:
        if options.digest is not None and options.digest.lower() != loaded.digest:
            raise Refused(f"the program is {loaded.digest}, expected {options.digest.lower()}")
        found = (manifest.first, manifest.steps, manifest.examples, manifest.seed)
        wanted = (options.first, steps, examples, seed)
        if found != wanted:
            raise Refused(f"the run is of {_extent(*found)}, expected {_extent(*wanted)}")
        if manifest.per_proof != per_proof:
            raise Refused(f"the run has {manifest.per_proof} steps in a proof, expected {per_proof}")
        setting = Run(loaded.integer, examples, steps, seed, given, per_proof, options.first, stated)
        expected = expected_roots(setting.kept, options.expect)
        require_setting(setting, manifest)
        planned = time.perf_counter() - start
        last = setting.last
        checked = check(setting, options.run, manifest, lambda step: show(f"verified step {step} of {last}"))
        _compare(expected, checked)
    except Refused as error:
        reason, checked = str(error), None
    show("")
    report = _report(loaded.digest, setting, checked, reason)
    report |= {"plan_seconds": round(planned, 4), "seconds": round(time.perf_counter() - start, 4)}
    if setting is not None and checked is not None:
        report["security_bits"] = round(security_bits(setting), 1)
    if options.json:
        print_json(report)
    elif reason is None:
        _print(options, report)
    else:
        say(f"NOT valid: {one_line(reason)}")
    return 0 if reason is None else 1


def _require_believable(loaded: Exact, manifest: Manifest, options: Namespace) -> None:
    """Raises CircuitizeError where a run claims so much that it takes long to look at, and the verifier did not say so.

    How many steps a proof has, and how many examples there are, decides what a plan and an order of examples take.
    """
    claimed, operations = manifest.per_proof, loaded.integer.arrow.edge_count * manifest.per_proof
    if options.per_proof is None and claimed > 1:
        most = BELIEVED_PER_PROOF if operations <= BELIEVED_OPERATIONS else 1
        if claimed > most:
            raise CircuitizeError(
                f"{options.run}: expected at most {most} steps in a proof unless you say so, found a claim of "
                f"{claimed}; give --per-proof {claimed} if these are the proofs that you asked for"
            )
    if options.examples is None and manifest.examples > BELIEVED_EXAMPLES:
        raise CircuitizeError(
            f"{options.run}: expected at most {BELIEVED_EXAMPLES:,} examples unless you say so, found a claim of "
            f"{manifest.examples:,}; give --examples N if you know how many there are"
        )


def _extent(first: int, steps: int, examples: int, seed: bytes) -> str:
    return f"{steps} steps{from_step(first)} on {examples} examples with seed {seed.hex()}"


def expected_roots(kept: Sequence[str], texts: Sequence[str]) -> Mapping[str, bytes]:
    """--expect parameters=ROOT, data=ROOT, final.parameters=ROOT, by name. Raises CircuitizeError for other names."""
    names = [*kept, "data", *(FINAL + name for name in kept)]
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise CircuitizeError(
                f"--expect: expected NAME=ROOT with a name among {', '.join(names)}, found {excerpt(text)}"
            )
        if name in found:
            raise CircuitizeError(f"--expect: expected each root once, found {name} twice; give it once")
        found[name] = whole_root(f"--expect {name}", value).to_bytes(32, "big")
    return found


def _compare(expected: Mapping[str, bytes], checked: Checked) -> None:
    from circuitize.provers.tensor.runs.checking import Refused

    found = {**checked.roots, **{FINAL + name: root for name, root in checked.final.items()}}
    for name, root in expected.items():
        if found[name] != root:
            raise Refused(f"expected {name} committed to by 0x{root.hex()}, the run has 0x{found[name].hex()}")


def _report(digest: str, setting: Run | None, checked: Checked | None, reason: str | None) -> dict[str, Any]:
    """What --json prints; of what an invalid run states, nothing."""
    report: dict[str, Any] = {
        "valid": checked is not None,
        "digest": digest,
        "roots": {},
        "final": {},
        "scalars": {},
        "publics": {},
        "setup": "none",
        "zero_knowledge": False,
        "reason": reason,
    }
    if setting is None or checked is None:
        return report
    formats = {port.name: port.format for port in setting.program.outputs}
    report["publics"] = {
        name: {"fraction_bits": f.fraction_bits, "reals": to_reals(f, np.stack(values)).tolist()}
        for name, values in checked.outputs.items()
        if (f := formats[name]) is not None
    }
    report["scalars"] = {
        port.name: _scalar(port, np.stack(checked.scalars[port.name]), port.name not in setting.stated)
        for port in setting.program.inputs
        if port.name in checked.scalars
    }
    return report | {
        "run": checked.identity.hex(),
        "first": setting.first,
        "steps": setting.steps,
        "per_proof": setting.per_proof,
        "examples": setting.size,
        "seed": setting.seed.hex(),
        "roots": {name: f"0x{root.hex()}" for name, root in checked.roots.items()},
        "final": {name: f"0x{root.hex()}" for name, root in checked.final.items()},
    }


def _scalar(port: Port, values: NDArray[np.int64], required: bool) -> dict[str, Any]:
    """A scalar by step, exactly, and whether the verifier required it or the run's proofs alone state it."""
    assert port.format is not None
    return {
        "required": required,
        "fraction_bits": port.format.fraction_bits,
        "integers": values.tolist(),
        "reals": to_reals(port.format, values).tolist(),
    }


def _course(name: str, scalar: Mapping[str, Any]) -> str:
    """What is said of a scalar: its value, or the first and the last and how many there are; and whose word that is."""
    integers, bits = scalar["integers"], scalar["fraction_bits"]
    first, last, different = shown(integers[0], bits), shown(integers[-1], bits), len(set(integers))
    same = different == 1
    course = f"is {first} in every step" if same else f"from {first} to {last}, {different:,} different values"
    if scalar["required"]:
        return f"{name} {course}, as required"
    remedy = f"--scalar {name}={written(integers[0], bits)}" if same else "--schedule FILE.py:NAME"
    return f"{name} {course}, as the run states: give {remedy} to require it"


def _print(options: Namespace, report: dict[str, Any]) -> None:
    say(
        f"valid: {options.run} proves {report['steps']:,} consecutive steps{from_step(report['first'])} of program "
        f"{report['digest']}, NOT in zero knowledge"
    )
    say(f"  batches of {report['examples']:,} examples by seed {report['seed']}")
    for name, scalar in report["scalars"].items():
        say(f"  {_course(name, scalar)}")
    for name, root in report["roots"].items():
        say(f"  {name} {'is' if name == 'data' else 'begins as'} {root}")
    for name, root in report["final"].items():
        say(f"  {name} ends as {root}")
    for name, public in report["publics"].items():
        say(f"  {name} from {shown_number(public['reals'][0])} to {shown_number(public['reals'][-1])}")
    say(f"  {report['security_bits']:.1f} bits of soundness, all proofs together; {report['seconds']:.2f} s")
