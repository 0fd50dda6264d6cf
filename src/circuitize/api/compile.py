"""Compiling a program to a target: the type of the circuit that results says what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import Program
from circuitize.circuits.values import Given

from .exact import Exact, exact
from .targets.contract import Buildable, Request
from .targets.options import chosen
from .targets.registry import TARGETS

Made = TypeVar("Made")
NAMES = ("groth16", "mirage", "halo2", "tensor_proof", "r1cs", "plonkish", "verilog")


def compile(
    program: Program | Exact,
    target: Buildable[Made],
    *,
    inputs: Mapping[str, Given] | Sequence[Path] | None = None,
    raw_inputs: bool = False,
    progress: Progress = silent,
    say: Progress = silent,
    **options: object,
) -> Made:
    """Quantize a program and lower it to a target: the result is either a prover's circuit, which has a method `prove`,
    or a circuit with a method `write`.

    The argument `options` holds the options of the target, as `circuitize compile --help` lists them. The argument
    `inputs` gives real values by name, or .npz files of them (integers with `raw_inputs`): for a constraint system, the
    inputs from which the witness is made, and for hardware, the values that the design holds; `say` is called with the
    names of inputs that were rounded. Raise CircuitizeError for a program that the target cannot express; the message
    names the operation, the source line and a remedy.
    """
    if not hasattr(target, "build"):
        known = ", ".join(f"cz.{name}" for name in NAMES)
        raise CircuitizeError(f"expected a target ({known}), found {target!r}; import circuitize as cz, and name one")
    if inputs is not None and not target.inputs_are:
        raise CircuitizeError(f"expected no inputs for {target.name}, found some; leave them out, or give prove them")
    request = Request(inputs, raw_inputs, chosen(target, "compile", options, TARGETS.values()), say)
    phases = Phases(progress)
    return target.build(exact(program, phases), phases, request)
