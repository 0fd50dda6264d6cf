"""The command `circuitize verify` says whether a proof holds, which the verifier's own files decide, never the proof's
folder.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.api.key_folders import verifying_key_file
from circuitize.api.provers import keyed_names, prover, prover_of_key
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_plain_files

from .loading import PROGRAM_FILE, load_program, program_path
from .output import print_json, progress, remark, say, shown_number
from .screen import one_line
from .verdict import PROOF_FILE, RUN_FILE, require_digest, require_kind, require_outside

if TYPE_CHECKING:
    from circuitize.api.verdict import Verdict
    from circuitize.api.verifier import Verifier

DEVELOPMENT = "the verifying key is a development key: INSECURE, whoever made it can prove anything"


def run(options: Namespace) -> int:
    """Print the verdict and the proved statement; return exit status 0 if the proof holds, and 1 if it does not."""
    from circuitize.api.expectations import read_expectations, values_file
    from circuitize.api.verifier import keyless_prover

    start = time.perf_counter()
    require_plain_files(options.proof)
    require_kind(options.proof, PROOF_FILE, RUN_FILE, ("one proof", "a run of training steps"), "verify-run")
    name = options.prover
    keyless = name not in keyed_names() if name else options.keys is None and keyless_prover(options.proof) is not None
    if options.renew and options.weights is not None:
        raise CircuitizeError(
            "--weights: expected the program itself, found --renew: a renewal joins the roots of one earlier proof"
        )
    if options.renew and not keyless:
        raise CircuitizeError(
            "--renew: expected a tensor proof with it, found one that is checked with a key; such roots need none"
        )
    given = (options.proof, options.keys, options.program, options.digest, name)
    verifier = gathered_without_key(*given, options.renew) if keyless else gathered(*given)
    for path in filter(None, (*map(values_file, options.expect), options.weights)):
        require_outside(path, options.proof)
    wanted = read_expectations(options.expect, verifier.exact.integer, verifier.bound)
    refused = None
    if options.weights is not None:
        verifier, refused = reading(verifier, options.weights)
    verdict = replace(verifier, expectations=wanted).check(options.proof) if refused is None else refused
    if verdict.setup == "development":
        remark(DEVELOPMENT)
    if options.json:
        print_json(verdict.as_json() | {"seconds": round(time.perf_counter() - start, 4)})
    else:
        _print(options.proof, verdict)
    return 0 if verdict.valid else 1


def reading(verifier: Verifier, folder: Path) -> tuple[Verifier, Verdict | None]:
    """Return a verifier for proofs that open the roots of frozen inputs in a folder, and None; if a root in the folder
    is not shown to be in format, return the verifier unchanged, and the verdict that refuses the root.
    """
    from circuitize.api.weights import judged

    for own in (folder, *folder.glob("*/")):
        require_plain_files(own)
    found, verdicts = judged(verifier.exact, folder)
    for group, verdict in verdicts.items():
        if verdict.reason is not None:
            return verifier, replace(verdict, reason=f"{folder / group}: {verdict.reason}")
        remark(f"{group} is in format, by a proof of {found.security_bits[group]:.1f} bits")
    return replace(verifier, prover=found.reading(verifier.prover, verifier.exact)), None


def _print(proof: Path, verdict: Verdict) -> None:
    if verdict.reason is not None:
        say(f"NOT valid: {one_line(verdict.reason)}")
        return
    for line in lines_of(str(proof), verdict):
        say(line)


def lines_of(proof: str, verdict: Verdict) -> list[str]:
    """Return the lines that report a proof that holds, under the given name."""
    hiding = "" if verdict.zero_knowledge else ", NOT in zero knowledge"
    lines = [f"valid: {proof} proves a run of program {verdict.digest}{hiding}"]
    lines += [f"  {name} = {shown_number(reals.tolist())}" for name, reals in verdict.publics.items()]
    lines += [f"  {name} is committed to by {root}" for name, root in verdict.roots.items()]
    if verdict.security_bits is not None:
        lines.append(f"  {verdict.security_bits:.1f} bits of soundness, all rounds together; without a setup")
    return lines


def gathered(
    proof: Path, keys: Path | None, program: str | None, digest: str | None, name: str | None = None
) -> Verifier:
    """Return a verifier with a key, made from the files that the command line names. Raise CircuitizeError if an input
    of the verifier is missing, or lies in the prover's folder.

    Soundness: a key or a program inside the proof's folder is refused, since a prover could have written both for an
    easier program.
    """
    from circuitize.api.verifier import Verifier, program_of_key

    if keys is None:
        given = [name for name, value in (("--program", program), ("--digest", digest)) if value is not None]
        raise CircuitizeError(
            f"{proof}: expected the verifier's own key (--keys KEYS), found {' and '.join(given) or 'none'}; a proof "
            "is checked with the verifying key that you made, or that you trust, for this program"
        )
    if digest is not None:
        require_digest(digest)
    path = verifying_key_file(keys)
    for own in (keys, path):
        require_outside(own, proof)
    if program is not None:
        require_outside(program_path(program), proof)
    with progress("reading the verifying key"):
        checking = prover(name or found_prover(path))
        key = checking.verifying_key(path)
    if program is not None:
        return Verifier(load_program(program, integer=True), checking, key, expected_digest=digest)
    beside = path.parent / PROGRAM_FILE
    require_outside(beside, proof)
    return Verifier(program_of_key(beside, key, path.name), checking, key, expected_digest=digest)


def gathered_without_key(
    proof: Path,
    keys: Path | None,
    program: str | None,
    digest: str | None,
    name: str | None = None,
    renew: Sequence[str] = (),
) -> Verifier:
    """Return a verifier without a key, whose only input is its own program; a program inside the proof's folder is
    refused, since the prover could have written it.
    """
    from circuitize.api.verifier import Verifier, keyless_prover

    name = name or keyless_prover(proof) or "tensor"
    if keys is not None:
        raise CircuitizeError(f"--keys: expected none, found {keys}; a {name} proof is checked without a key")
    if digest is not None:
        require_digest(digest)
    if program is None:
        raise CircuitizeError(
            f"{proof}: expected the verifier's own program (--program PROGRAM), found none; a {name} proof is "
            "checked against the program that you made, or that you trust"
        )
    require_outside(program_path(program), proof)
    own = load_program(program, integer=True, renew=renew)
    return Verifier(own, prover(name), None, expected_digest=digest)


def found_prover(path: Path) -> str:
    """Return the name of the prover to which a verifying key belongs; if the key names none, return the first prover,
    whose reader of keys reports the fault.
    """
    try:
        return prover_of_key(path) or keyed_names()[0]
    except OSError:
        return keyed_names()[0]
