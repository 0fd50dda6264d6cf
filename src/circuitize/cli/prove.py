"""The command `circuitize prove` runs a program on inputs, and proves to others that it was run."""

from __future__ import annotations

import os
import resource
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.api.key_folders import require_keys, require_keys_of, require_readable
from circuitize.api.provers import keyed_names, plain_names, prover
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file, require_plain_files, whole_file
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .loading import came_with, load_program
from .output import Phases, print_json, print_table, progress, remark, say

if TYPE_CHECKING:
    from circuitize.api.exact import Exact
    from circuitize.api.proofs import Proof
    from circuitize.api.weights import Weights


def run(options: Namespace) -> int:
    """Write the folder of a proof, and the prover's own files: the outputs, and the openings of the proof's
    commitments.
    """
    from circuitize.api.circuits import require_consent_to
    from circuitize.api.proofs import openings_file, proof_folder
    from circuitize.api.targets.provers import ProverTarget
    from circuitize.api.values import program_inputs, require_writable, write_outputs

    proving, keys = prover(options.prover), options.keys
    _require_options(options)
    openings = openings_path(options)
    phases = Phases()
    if keys is not None:
        require_keys(keys, proving.name, options.program)
    for path in options.inputs or ():
        require_readable("--inputs", path)
    require_readable("--openings-from", options.openings_from)
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program, renew=options.renew, options=options)
    if keys is not None:
        require_keys_of(keys, proving, loaded.digest, options.program)
    if not options.not_zero_knowledge:
        require_consent_to(proving, loaded.integer, "add --not-zero-knowledge")
    proving.require_memory(loaded.integer)
    require_writable(loaded.integer.outputs, options.outputs, options.raw_outputs)
    given = came_with(loaded, options)
    inputs = program_inputs(loaded.integer, options.inputs if given is None else given, remark, options.raw_inputs)
    with ExitStack() as stack:
        folder = stack.enter_context(proof_folder(options.output))
        weights = None if options.weights is None else accepted(loaded, options.weights)
        if weights is None:
            circuit = ProverTarget(proving.name).build(loaded, phases, memory=options.memory)
        else:
            circuit = weights.proving(loaded, memory=options.memory)
        key = None
        if keys is not None:
            with phases.phase("key", "reading the proving key"):
                key = proving.proving_key(keys)
        proof = circuit.prove_integers(
            inputs, key, options.openings_from, options.join, phases, remark, options.not_zero_knowledge
        )
        proof.write(folder)
        if proof.openings:
            proof.write_openings(stack.enter_context(openings_file(openings)))
        if options.outputs is not None:
            path = stack.enter_context(whole_file(options.outputs))
            write_outputs(path, loaded.integer.outputs, proof.proved.outputs, options.raw_outputs)
    for name, left in ({} if weights is None else weights.left()).items():
        if left is not None:
            remark(f"the root of {name} may be opened {left:,} times more")
    sizes = {} if keys is not None else circuit.sizes  # With keys, setup told them.
    report = report_of(proof, sizes, phases)
    if key is not None and key.verifying_key.setup == "development":
        remark("the proof was made with development keys: INSECURE, whoever made the keys can prove anything")
    if not proof.zero_knowledge:
        remark("the proof is NOT zero-knowledge: it tells whoever reads it about the values that it hides")
    if options.json:
        print_json(report)
    else:
        _print(options, report, sizes, openings if proof.openings else None)
    return 0


def _require_options(options: Namespace) -> None:
    """Raise CircuitizeError if the options of the command do not fit the prover."""
    keyed, name = options.prover in keyed_names(), options.prover
    if options.not_zero_knowledge and name not in plain_names():
        raise CircuitizeError(
            f"--not-zero-knowledge: expected the prover tensor with it, found {name}, which hides values"
        )
    if options.memory is not None and name != "tensor":
        raise CircuitizeError(f"--memory: expected --prover tensor with it, found the prover {name}; leave it out")
    if options.weights is not None and (name != "tensor" or options.renew):
        found = "--renew" if options.renew else f"the prover {name}"
        raise CircuitizeError(f"--weights: expected --prover tensor and a program that reads them, found {found}")
    if keyed and options.keys is None:
        raise CircuitizeError(
            f"expected --keys KEYS, found none; {name} needs a proving key: circuitize setup {options.program} "
            f"--prover {name} -o KEYS"
        )
    if options.renew and (keyed or options.openings_from is None):
        found = f"the prover {name}" if keyed else "none"
        raise CircuitizeError(
            f"--renew: expected --prover tensor and --openings-from FILE.json with it, found {found}; only roots that "
            "an earlier tensor proof made are made for a number of openings"
        )
    if not keyed and options.keys is not None:
        raise CircuitizeError(f"--keys: expected none, found {options.keys}; {name} proofs need no setup")


def accepted(loaded: Exact, folder: Path) -> Weights:
    """Return the roots of a program's frozen inputs, which the proofs in a folder show to be commitments to values in
    format. Raise CircuitizeError if a root of frozen inputs is not shown to be in format.
    """
    from circuitize.api.weights import accept_weights

    require_plain_files(folder)
    with progress("checking the weights"):
        return accept_weights(loaded, folder)


def openings_path(options: Namespace) -> Path:
    """Return the path of the file for the proof's openings. Raise CircuitizeError, before any work, if the prover's
    secrets would be written into the folder for verifiers, or if one of the three results cannot be written.
    """
    from circuitize.api.proofs import require_new_openings, require_proof_folder

    if options.join and options.openings_from is None:
        raise CircuitizeError("--join: expected --openings-from FILE.json with it, found none; give that file")
    openings: Path = options.openings or Path(f"{os.path.normpath(options.output)}.openings.json")
    for kept in (openings, options.outputs):
        if kept is not None and kept.resolve().is_relative_to(options.output.resolve()):
            raise CircuitizeError(f"{kept}: expected a path outside {options.output}, which is for others to read")
        require_file(kept)
    require_new_openings(openings)
    if options.outputs is not None and options.outputs.resolve() == openings.resolve():
        raise CircuitizeError(f"--outputs: expected another file than that of the openings, found {openings} for both")
    require_proof_folder(options.output)
    return openings


def peak_bytes() -> int:
    """Return the peak memory of this process, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def report_of(proof: Proof, sizes: Mapping[str, int], phases: Phases) -> Json:
    """Return the object that `circuitize prove --json` prints: its CPU seconds are those of proving, and its memory is
    the peak memory of this process.
    """
    described: dict[str, Json] = {**phases.as_json()}
    described["prove"]["parts_seconds"] = {name: round(value, 4) for name, value in proof.proved.proof.phases.items()}
    bits = proof.security_bits
    return {
        "prover": proof.prover.name,
        "digest": proof.digest,
        "witness_seconds": round(phases.seconds["trace"] + phases.seconds["witness"], 4),
        "prove_seconds": round(phases.seconds["prove"], 4),
        "cpu_seconds": round(phases.cpu_seconds["prove"], 4),
        "peak_bytes": peak_bytes(),
        "proof_bytes": proof.size,
        "zero_knowledge": proof.zero_knowledge,
        **({} if bits is None else {"security_bits": bits}),
        **sizes,
        "phases": described,
    }


def _print(options: Namespace, report: Json, sizes: Mapping[str, int], openings: Path | None) -> None:
    hiding = "" if report["zero_knowledge"] else ", NOT zero-knowledge"
    say(f"proved {options.program} in {options.output}{hiding}")
    bits = report.get("security_bits")
    rows = [
        ("digest", report["digest"]),
        ("witness", f"{report['witness_seconds']:.2f} s"),
        ("proof", f"{report['prove_seconds']:.2f} s, {report['cpu_seconds']:.2f} CPU-seconds"),
        ("proof size", amount_of_bytes(report["proof_bytes"])),
        *([] if bits is None else [("security", f"{bits:.1f} bits, all rounds together")]),
        *((name.replace("_", " "), count) for name, count in sizes.items()),
        ("memory", amount_of_bytes(report["peak_bytes"])),
    ]
    kept = [] if openings is None else [("openings", f"{openings} (secret: keep it, never send it)")]
    kept += [] if options.outputs is None else [("outputs", str(options.outputs))]
    print_table([*rows, *kept])
