"""The exact counts of a design, taken from its circuit, which is built in the same way as by `compile` and `prove`."""

from __future__ import annotations

from circuitize.api.compile import compile
from circuitize.api.targets.mirage import mirage
from circuitize.api.targets.options import Options
from circuitize.api.targets.plonkish import plonkish
from circuitize.api.targets.provers import groth16
from circuitize.api.targets.tensor import tensor_proof
from circuitize.api.targets.verilog import verilog

from .design import Design
from .hardware import NAMES


def recounted(design: Design, steps: int, dataset_size: int | None) -> dict[str, float]:
    """Return the counts that a design's own circuit gives: the rows, lookups or cells, or all figures of hardware.
    Raise CircuitizeError for the same reasons as `compile`.
    """
    program, choices = design.program, design.choices
    if design.target == "verilog":
        options: Options = {name: choice for name, choice in choices.items() if not name.endswith("_bits")}
        found = compile(program, verilog, **options).sizes
        return {quantity: found[name] for quantity, name in NAMES.items()}
    if design.target == "plonkish":
        found = compile(program, plonkish, k=choices["k"]).sizes
        return {"cells": found["rows"] * found["advice_columns"]}
    if "per_proof" in choices:
        from .sumchecks import setting

        run = setting(program, steps, int(choices["per_proof"]), dataset_size)
        return {"lookups": max(chunk.plan.looked_up for chunk in run.chunks)}
    if design.target == "tensor":
        return {"lookups": compile(program, tensor_proof).sizes["lookups"]}
    return {"rows": compile(program, mirage if design.target == "mirage" else groth16).sizes["constraints"]}
