"""What hardware a program would take, by scheduler and by number of lanes, before anything is emitted."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.cost import products
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import Program
from circuitize.sims.vectors import inputs_to_try

from .hardware import HARDWARE_SIZES, Bound, bound, bound_to

MOST_UNROLLED = 8_000
"""Products beyond which a program is not unrolled to be counted: that takes longer than emitting its circuit."""

MOST_FOLDED = 1 << 24
"""Products beyond which no memory is laid out only to be counted."""

MOST_HELD = 1 << 20
"""Numbers in memory beyond which hardware is not considered."""

MOST_LANES = 1024

Sizes = dict[str, int]


def unrolled(arrow: Arrow) -> int:
    """How many products an arrow has, written out, or elements in its largest wire where those are more."""
    return max([products(arrow), *(type.size for type in arrow.types)])


def bound_somehow(program: Program) -> Bound:
    """The program with its held inputs bound: to the first example, or to seeded random values where it has none."""
    held = sum(port.format.size for port in program.inputs if port.held and port.format is not None)
    if held > MOST_HELD:
        raise CircuitizeError(f"expected at most {MOST_HELD:,} numbers held in memory, found {held:,}; fold it by hand")
    if not program.examples:
        values = next(inputs_to_try(program, 1, np.random.default_rng(0)))
        return bound_to(program, {port.name: values[port.name] for port in program.inputs if port.held})
    return bound(program)


def parallel_sizes(made: Bound) -> Sizes:
    """The parallel scheduler's own estimate. Raises CircuitizeError for a program that is too large or keeps state."""
    from circuitize.backends.verilog.parallel.schedule import Unrolled

    found = unrolled(made.program.arrow)
    if found > MOST_UNROLLED:
        raise CircuitizeError(f"{found:,} products are too many to unroll; use the folded scheduler")
    return _sizes(Unrolled(made.program).report())


def folded_sizes(made: Bound, lanes: int | None = None) -> Sizes:
    """The folded scheduler's own estimate. Raises CircuitizeError for what it cannot do, or not with so few lanes."""
    from circuitize.backends.verilog.folded.plan import fold, plan
    from circuitize.backends.verilog.folded.schedule import choose_sizes, report

    named = unrolled(made.program.arrow)
    if named > MOST_FOLDED:
        raise CircuitizeError(f"{named:,} products are too many to lay out for an estimate; compile --target verilog")
    return _sizes(report(plan(choose_sizes(fold(made.program), lanes, None, None))))


def tradeoff(made: Bound) -> list[Sizes]:
    """What the folded scheduler makes of 1, 2, 4, ... lanes; budgets that come to the same design are one."""
    found: list[Sizes] = []
    lanes = 1
    while lanes <= MOST_LANES:
        try:
            sizes = {"lanes": lanes, **folded_sizes(made, lanes)}
        except CircuitizeError:
            sizes = {}
        if sizes and (not found or {**sizes, "lanes": 0} != {**found[-1], "lanes": 0}):
            found.append(sizes)
        lanes *= 2
    return found


def hardware(program: Program) -> dict[str, Any]:
    """What `estimate` says of hardware: the folded design, `parallel` where it is small enough, and the `tradeoff`.

    `reasons` says why a scheduler has no sizes. Empty where no scheduler can do the program.
    """
    reasons: dict[str, str] = {}
    found: dict[str, Any] = {}
    try:
        made = bound_somehow(program)
    except CircuitizeError as error:
        return {"reasons": {"folded": str(error), "parallel": str(error)}}
    try:
        found |= {**folded_sizes(made), "scheduler": "folded", "tradeoff": tradeoff(made)}
    except CircuitizeError as error:
        reasons["folded"] = str(error)
    try:
        parallel = parallel_sizes(made)
        found |= {"parallel": parallel} if found else {**parallel, "scheduler": "parallel"}
    except CircuitizeError as error:
        reasons["parallel"] = str(error)
    return {**found, "reasons": reasons}


def plot(rows: list[Sizes], path: Path) -> None:
    """Draw cycles from frame to frame against LUTs, a point for each number of lanes, as an SVG."""
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib to draw with, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    for name, label in (("lut", "LUTs"), ("ff", "registers"), ("dsp", "DSPs")):
        points = [(row["interval_cycles"], row[name]) for row in rows if row[name]]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=label)
    for row in rows:
        axes.annotate(f"P={row['lanes']}", (row["interval_cycles"], row["lut"] or row["dsp"]), fontsize=7)
    axes.set(xscale="log", yscale="log", xlabel="cycles from frame to frame", ylabel="amount")
    axes.legend()
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    write_whole(path, [content.getbuffer()])


def _sizes(report: Mapping[str, Any]) -> Sizes:
    return {name: int(report[name]) for name in HARDWARE_SIZES}
