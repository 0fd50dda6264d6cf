"""`circuitize check`: runs a program on every target this machine has, and compares with the integer executor."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from circuitize.api.exact import Exact
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import require_file_memory
from circuitize.sims.vectors import Vector, inputs_to_try

from .circuit import CIRCUIT_FILE, WITNESS_FILE, emit
from .hardware_check import check_hardware
from .loading import load_program
from .output import Phases, print_json, print_table, progress, say
from .plonkish import SYSTEM_FILE, check_plonkish_files

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission
    from circuitize.sims.agree import Agreement, Target


def run(options: Namespace) -> int:
    """0 where every target equals the integer executor on every input tried, 1 where one differs."""
    if Path(options.program).is_dir():
        return _run_files(Path(options.program), options.json)
    loaded = load_program(options.program)
    targets = targets_here(loaded, emit(loaded, Phases()))
    found = compare(loaded, targets, options.vectors, options.seed)
    with progress("simulating hardware"):
        hardware = check_hardware(loaded.integer, options.vectors, options.seed)
    for made in hardware:
        if made.found is not None and made.found.mismatches:
            found.mismatches += made.found.mismatches
            found.first_difference = found.first_difference or f"{made.name}: {made.found.first_difference}"
    names = [target.name for target in targets] + [made.name for made in hardware if made.found is not None]
    if options.json:
        frames = {made.name: made.found.vectors for made in hardware if made.found is not None}
        left = {made.name: made.reason for made in hardware if made.found is None}
        print_json({**vars(found), "targets": names, "frames": frames, "left_out": left, "digest": loaded.digest})
        return 1 if found.mismatches else 0
    verb = "equals" if len(names) == 1 else "equal"
    state = f"DIFFERS on {found.mismatches}" if found.mismatches else f"{verb} the integer executor"
    defined = found.vectors - found.undefined
    shown = " and ".join(names)
    say(f"{options.program}: {shown} {state} on {defined} of {found.vectors} inputs{_refused(found.undefined)}")
    if found.first_difference:
        say(f"  first difference: {found.first_difference}")
    if found.first_undefined:
        say("  that is no failure: inputs are tried at the ends of their formats too, where values may pass what the")
        say("  examples were calibrated on; there the program has no value, and no target accepts one")
        say(f"  the first of them: {found.first_undefined}")
    for made in hardware:
        tried = f"{made.found.vectors} frames{_refused(made.found.undefined)}" if made.found else None
        say(f"  {made.name}: {tried or 'left out, ' + made.reason}")
    if found.float_error:
        say("greatest difference from float64, by output")
        print_table([(name, f"{error:.3g}") for name, error in found.float_error.items()])
    return 1 if found.mismatches else 0


def _refused(undefined: int) -> str:
    """What is said of inputs on which the program is not defined; the executor and all targets must refuse them."""
    return f"; {undefined} outside what the program is defined on, refused by all alike" if undefined else ""


def _run_files(folder: Path, as_json: bool) -> int:
    """Whether the witness in a folder that `compile --witness` wrote satisfies the circuit, by the files alone."""
    from circuitize.sims.agree import Agreement

    if (folder / SYSTEM_FILE).exists():
        count, told = check_plonkish_files(folder)
        found = Agreement(vectors=1, mismatches=int(told is not None), first_difference=told)
        held, target = f"its witness satisfies all {count:,} gates and lookups", "plonkish"
    else:
        count, told = _check_rows(folder)
        found = Agreement(vectors=1, mismatches=int(told is not None), first_difference=told)
        held, target = f"its witness satisfies all {count:,} constraints", "r1cs"
    if as_json:
        print_json({**vars(found), "targets": [target]})
    else:
        say(f"{folder}: {found.first_difference or held}")
    return found.mismatches


def _check_rows(folder: Path) -> tuple[int, str | None]:
    """The number of constraints, and what the witness breaks, if anything."""
    from circuitize.backends.r1cs.checker import failing_rows
    from circuitize.backends.r1cs.r1cs_file import read_r1cs
    from circuitize.backends.r1cs.wtns_file import read_wtns

    require_file_memory(folder / CIRCUIT_FILE)
    with progress("checking the files"):
        system, _ = read_r1cs(folder / CIRCUIT_FILE)
        rows = failing_rows(system, read_wtns(folder / WITNESS_FILE, system.field, system.wires))
    broken = f"{len(rows)} of {system.constraints} rows broken, first constraint {rows[0]}" if len(rows) else None
    return system.constraints, broken


def targets_here(loaded: Exact, emission: Emission) -> list[Target]:
    """Every circuit of every prover, and the integer executor on the GPU where there is one, by the device's name.

    A circuit with a commitment, or a tensor proof, is left out where the program has none.
    """
    from circuitize.api.agreement import TensorProof
    from circuitize.backends.r1cs.challenge import Challenge
    from circuitize.sims.agree import R1CS, OnDevice
    from circuitize.sims.device import cuda
    from circuitize.sims.plonkish import Plonkish

    program, device = loaded.integer, cuda()
    found: list[Target] = [R1CS(program, emission), Plonkish(program)]
    found += _where_there_is_one(lambda: R1CS(program, challenge=Challenge.COMMITTED))
    found += _where_there_is_one(lambda: TensorProof(program))
    return [*found, OnDevice(program, device)] if device else found


def _where_there_is_one(make: Callable[[], Target]) -> list[Target]:
    try:
        return [make()]
    except CircuitizeError:
        return []


def compare(loaded: Exact, targets: list[Target], count: int, seed: int) -> Agreement:
    """Try `count` inputs. Raises CircuitizeError where the program is defined on none of them."""
    from circuitize.sims.agree import agree

    vectors = _watched(inputs_to_try(loaded.integer, count, np.random.default_rng(seed)), count)
    found = agree(loaded.integer, vectors, targets, loaded.given)
    if found.undefined == found.vectors:
        raise CircuitizeError(
            f"expected inputs on which the program is defined, found none among {count} ({found.first_undefined}); "
            "give the program examples"
        )
    return found


def _watched(vectors: Iterator[Vector], count: int) -> Iterator[Vector]:
    for number, vector in enumerate(vectors, 1):
        with progress(f"comparing input {number} of {count}"):
            yield vector
