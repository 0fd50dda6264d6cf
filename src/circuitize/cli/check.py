"""`circuitize check`: runs a program on every target this machine has, and compares with the integer executor."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.program import Program, to_reals

from .circuit import CIRCUIT_FILE, WITNESS_FILE, emit, trace, witness
from .loading import Loaded, load_program
from .openings import draw_salts
from .output import Phases, print_json, print_table, progress
from .statement import Key
from .vectors import Vector, inputs_to_try

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission

Integers = NDArray[np.int64]


@dataclass
class Agreement:
    """What was compared: inputs on which the program has no value are counted apart."""

    vectors: int = 0
    undefined: int = 0
    mismatches: int = 0
    first_difference: str | None = None
    float_error: dict[str, float] = field(default_factory=dict)
    first_undefined: str | None = None


def run(options: Namespace) -> int:
    """0 where every target equals the integer executor on every input tried, 1 where one differs."""
    if Path(options.program).is_dir():
        return _run_files(Path(options.program), options.json)
    loaded = load_program(options.program)
    found = compare(loaded, emit(loaded, Phases()), options.vectors, options.seed)
    if options.json:
        print_json({**vars(found), "targets": ["r1cs"], "digest": loaded.digest})
        return 1 if found.mismatches else 0
    state = f"DIFFERS on {found.mismatches}" if found.mismatches else "equals the integer executor"
    defined = found.vectors - found.undefined
    print(f"{options.program}: r1cs {state}, {defined} of {found.vectors} inputs, {found.undefined} undefined")
    if found.first_difference:
        print(f"  first difference: {found.first_difference}")
    if found.first_undefined:
        print(f"  first undefined: {found.first_undefined}")
    if found.float_error:
        print("greatest difference from float64, by output")
        print_table([(name, f"{error:.3g}") for name, error in found.float_error.items()])
    return 1 if found.mismatches else 0


def _run_files(folder: Path, as_json: bool) -> int:
    """Whether the witness in a folder that `compile --witness` wrote satisfies the circuit, by the files alone."""
    from circuitize.backends.r1cs.checker import failing_rows
    from circuitize.backends.r1cs.r1cs_file import read_r1cs
    from circuitize.backends.r1cs.wtns_file import read_wtns

    with progress("checking the files"):
        system, _ = read_r1cs(folder / CIRCUIT_FILE)
        rows = failing_rows(system, read_wtns(folder / WITNESS_FILE))
    found = Agreement(vectors=1, mismatches=int(len(rows) > 0))
    if len(rows):
        found.first_difference = f"{len(rows)} of {system.constraints} rows broken, first constraint {rows[0]}"
    if as_json:
        print_json({**vars(found), "targets": ["r1cs"]})
    else:
        held = f"its witness satisfies all {system.constraints:,} constraints"
        print(f"{folder}: {found.first_difference or held}")
    return found.mismatches


def compare(loaded: Loaded, emission: Emission, count: int, seed: int) -> Agreement:
    """Try `count` inputs. Raises CircuitizeError where the program is defined on none of them."""
    found = Agreement()
    for vector in inputs_to_try(loaded.integer, count, np.random.default_rng(seed)):
        found.vectors += 1
        with progress(f"comparing input {found.vectors} of {count}"):
            try:
                values = trace(loaded.integer, vector)
            except Undefined as error:
                found.undefined += 1
                found.first_undefined = found.first_undefined or f"input {found.vectors}: {error}"
                continue
            difference = difference_in_r1cs(loaded.integer, emission, values)
            if difference is not None:
                found.mismatches += 1
                found.first_difference = found.first_difference or f"input {found.vectors}: {difference}"
            _add_float_error(found, loaded, vector, values)
    if found.undefined == found.vectors:
        raise CircuitizeError(
            f"expected inputs on which the program is defined, found none among {count} ({found.first_undefined}); "
            "give the program examples"
        )
    return found


def difference_in_r1cs(program: Program, emission: Emission, values: list[Integers]) -> str | None:
    """How the circuit differs from a run: None where its witness satisfies every row and states the run's outputs.

    The public wires are read off the witness and compared with the executor's values, committed ones through the native
    hash; the rows are checked by the independent checker.
    """
    from circuitize.backends.r1cs.checker import describe, failing_rows
    from circuitize.backends.r1cs.commitments import commit

    salts = draw_salts(program)
    made, system = witness(emission, values, salts), emission.system
    rows = failing_rows(system, made)
    arrow = program.arrow
    if len(rows):
        return describe(system, int(rows[0]), lambda edge: str(arrow.edge(edge).provenance) if edge >= 0 else "program")
    wires: dict[Key, int] = {
        (side, port.name): wire
        for side, ports, indices in (
            ("input", program.inputs, arrow.inputs),
            ("output", program.outputs, arrow.outputs),
        )
        for port, wire in zip(ports, indices.tolist(), strict=True)
    }
    for public in emission.publics:
        key = (public.side, public.name)
        read = system.field.to_integers(made[public.first : public.first + public.count])
        run = values[wires[key]]
        expected = [commit(run, public.format, salts[key])] if public.committed else run.reshape(-1).tolist()
        for element, (wire, value) in enumerate(zip(read, expected, strict=True)):
            if wire != value % system.field.prime:
                return f"{public.side} {public.name}, element {element}: {wire} in the circuit, {value} in the run"
    return None


def _add_float_error(found: Agreement, loaded: Loaded, vector: Vector, values: list[Integers]) -> None:
    """Widen the float error by one run, where the program given is of the real language."""
    if loaded.given.is_integer:
        return
    from circuitize.sims.real import run as run_real

    formats = {port.name: port.format for port in loaded.integer.inputs}
    reals = {name: to_reals(format, vector[name]) for name, format in formats.items() if format is not None}
    with np.errstate(all="ignore"):
        exact = run_real(loaded.given, reals)
    arrow = loaded.integer.arrow
    for port, wire in zip(loaded.integer.outputs, arrow.outputs.tolist(), strict=True):
        assert port.format is not None
        error = np.abs(to_reals(port.format, values[wire]) - exact[port.name]).max()
        found.float_error[port.name] = max(found.float_error.get(port.name, 0.0), float(error))
