"""Primitives as both schedulers emit them, proved right by SAT for every input and every state before reset.

A wrapper resets the design, offers one frame of arbitrary data again and again, and says `bad` where an output or the
status is not what the reference allows. yosys unrolls it until the second frame is out, and looks for a way to be bad.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sat_proofs
from tiers import count

from circuitize.backends.verilog.design import STATUS, Design
from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Constant, Contract, Divide, Lookup, ReLU, Shift, SquareRoot
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SCHEDULERS: dict[str, Callable[[IntegerProgram], Design]] = {"parallel": parallel, "folded": folded}
TABLE = np.array([3, -1, 4, 1, -5, 9, -2, 6, 5, 3, -5, 8, 9, 7, -9, 3])
WEIGHTS, BIAS = np.array([9, -14]), 7


@dataclass(frozen=True)
class Case:
    """A primitive, and a mutant: what each makes of its inputs, and a Verilog expression that is true of right outputs.

    The expression is of the inputs a, b, ... and the output q, all of them signed and 12 bits wide, and independent of
    how the operation is carried out. `fails` is where the status must be 1.
    """

    inputs: Sequence[Fixed]
    right: Callable[[Builder, list[int]], int]
    wrong: Callable[[Builder, list[int]], int]
    allowed: str
    fails: str = "1'b0"


def _neuron(weights: np.ndarray, shift: int = 2) -> Callable[[Builder, list[int]], int]:
    def write(builder: Builder, wires: list[int]) -> int:
        weight = builder.add(Constant.of(weights, 0))
        total = builder.add(
            Add(), builder.add(Contract("i,i->"), wires[0], weight), builder.add(Constant.of(np.array(BIAS), 0))
        )
        return builder.add(Clamp(0, 15), builder.add(Shift(shift), builder.add(ReLU(), total)))

    return write


def _table(change: int = 0) -> Callable[[Builder, list[int]], int]:
    entries = TABLE.copy()
    entries[11] += change
    return lambda builder, wires: builder.add(Lookup(-8, entries, 0), wires[0])


def _entries() -> str:
    """TABLE as a chain of conditions."""
    return "".join(f"a == {n - 8} ? {v} : " for n, v in enumerate(TABLE.tolist()))


def _backwards(builder: Builder, wires: list[int]) -> int:
    """Rounds to nearest where floor is meant."""
    return builder.add(Shift(2), builder.add(Add(), wires[0], builder.add(Constant.of(np.array(2), 0))))


X, NARROW = Fixed((), 0, -32, 31), Fixed((), 0, -8, 7)
SUM = f"(9 * a0 - 14 * a1 + {BIAS})"
CASES = {
    "shift": Case([X], lambda b, w: b.add(Shift(2), w[0]), _backwards, "4 * q <= a && a < 4 * q + 4"),
    "clamp": Case(
        [X],
        lambda b, w: b.add(Clamp(-5, 9), w[0]),
        lambda b, w: b.add(Clamp(-5, 8), w[0]),
        "q == (a > 9 ? 9 : a < -5 ? -5 : a)",
    ),
    "relu": Case([X], lambda b, w: b.add(ReLU(), w[0]), lambda b, w: b.add(Clamp(1, 31), w[0]), "q == (a < 0 ? 0 : a)"),
    "table": Case([NARROW], _table(), _table(1), f"q == ({_entries()}0)"),
    "check": Case(
        [X],
        lambda b, w: b.add(Check(-7, 12), w[0]),
        lambda b, w: b.add(Check(-7, 13), w[0]),
        "q == a",
        "a > 12 || a < -7",
    ),
    "divide": Case(
        [Fixed((), 0, -13, 12), Fixed((), 0, 1, 5)],
        lambda b, w: b.add(Divide(), w[0], w[1]),
        lambda b, w: b.add(Shift(1), w[0]),
        "q * b <= a && a < (q + 1) * b",
    ),
    "square root": Case(
        [Fixed((), 0, 0, count(15, deep=40))],
        lambda b, w: b.add(SquareRoot(), w[0]),
        lambda b, w: b.add(Shift(3), w[0]),
        "q >= 0 && q * q <= a && a < (q + 1) * (q + 1)",
    ),
    "neuron": Case(
        [Fixed((2,), 0, -4, 3)],
        _neuron(WEIGHTS),
        _neuron(WEIGHTS + np.array([0, 1])),
        f"q == ({SUM} < 0 ? 0 : {SUM} > 63 ? 15 : {SUM} >>> 2)",
    ),
}


def program(case: Case, write: Callable[[Builder, list[int]], int]) -> IntegerProgram:
    builder = Builder()
    wires = builder.inputs(case.inputs)
    arrow = builder.build([write(builder, wires)])
    inputs = tuple(Port(chr(ord("a") + n), Visibility.PUBLIC, format) for n, format in enumerate(case.inputs))
    result = arrow.target[0]
    assert isinstance(result, Fixed)
    return IntegerProgram(arrow, inputs, (Port("q", Visibility.PUBLIC, result),))


def wide(text: str, bits: int, signed: bool) -> str:
    """A vector of so many bits as a signed one of 12."""
    sign = f"{text}[{bits - 1}]" if signed else "1'b0"
    return f"$signed({{{{{12 - bits}{{{sign}}}}}, {text}}})"


def wrapper(design: Design, case: Case) -> str:
    """A module with inputs clk, rst and the data, and the output bad."""
    lines, pins, ports = [], [".clk(clk)", ".rst(rst)"], ["input wire clk", "input wire rst", "output wire bad"]
    for stream in design.streams:
        name, bits = stream.name, stream.element_bits
        pins += [f".{name}_{wire}({name}_{wire})" for wire in ("tdata", "tvalid", "tready", "tlast")]
        pins += [f".{name}_tuser(1'b0)"] * stream.user
        lines.append(f"wire [{stream.data_bits - 1}:0] {name}_tdata; wire {name}_tvalid, {name}_tready, {name}_tlast;")
        if stream.output:
            assert stream.beats == 1
            lines.append(f"assign {name}_tready = 1'b1;")
            lines += [f"wire signed [11:0] q = {wide('q_tdata', bits, stream.format.low < 0)};"] * (name == "q")
            continue
        size, total = stream.format.size, stream.beats * stream.data_bits
        ports.append(f"input wire [{bits * size - 1}:0] {name}_any")
        lines.append(f"reg [{total - 1}:0] {name}_held; reg [7:0] {name}_beat;")
        lines.append(
            f"always @(posedge clk) if (rst) begin {name}_held <= {name}_any; {name}_beat <= 8'd0; end else if "
            f"({name}_tready) {name}_beat <= {name}_tlast ? 8'd0 : {name}_beat + 8'd1;"
        )
        lines.append(f"assign {name}_tvalid = 1'b1; assign {name}_tlast = {name}_beat == 8'd{stream.beats - 1};")
        lines.append(f"assign {name}_tdata = {name}_held >> ({name}_beat * {stream.data_bits});")
        for at in range(size):
            word = f"{name}{at}" if stream.format.shape else name
            lines.append(f"wire [{bits - 1}:0] {word}_bits = {name}_held[{bits * at + bits - 1}:{bits * at}];")
            lines.append(f"wire signed [11:0] {word} = {wide(f'{word}_bits', bits, stream.format.low < 0)};")
            lines.append(f"wire {word}_inside = {word} >= {stream.format.low} && {word} <= {stream.format.high};")
    inside = re.findall(r"wire (\w+_inside)", "\n".join(lines))
    lines.append(f"wire fails = {case.fails}; wire allowed = {case.allowed};")
    wrong = f"q_tvalid && !fails && !(allowed && q_tlast) || {STATUS}_tvalid && {STATUS}_tdata != fails"
    lines.append(f"assign bad = {' && '.join(inside)} && !rst && ({wrong});")
    lines.append(f"{design.top} design_under_test({', '.join(pins)});")
    return f"module wrapper({', '.join(ports)});\n" + "\n".join(lines) + "\nendmodule\n"


def proved(design: Design, case: Case, folder: Path) -> bool:
    """Whether nothing bad can happen up to the second frame; False where yosys shows how it can."""
    for name, text in design.files.items():
        (folder / name).write_text(text)
    (folder / "wrapper.v").write_text(wrapper(design, case))
    steps = design.report["latency_cycles"] + 2 * design.report["interval_cycles"] + 6
    sources = " ".join(["wrapper.v", *(name for name in design.files if name.endswith(".v"))])
    resets = " ".join(f"-set-at {step} rst {int(step == 1)}" for step in range(1, steps + 1))
    script = (
        f"read_verilog -defer {sources}; hierarchy -check -top wrapper; proc; flatten; opt -full; memory_map; "
        f"dffunmap; opt -full; wreduce; opt -full; sat -seq {steps} {resets} -prove bad 0 -prove-skip 1 wrapper"
    )
    return sat_proofs.proved(script, folder)


def marked(quick: Callable[[int, str, str], bool]) -> list[Any]:
    """Every primitive by both schedulers; those that are not quick are in the deep tier."""
    return [
        pytest.param(name, scheduler, marks=[] if quick(number + other, name, scheduler) else [pytest.mark.deep])
        for number, name in enumerate(CASES)
        for other, scheduler in enumerate(SCHEDULERS)
    ]


IN_TURN = marked(lambda number, name, _: number % 2 == 1 and name not in ("clamp", "relu", "shift"))
"""Each primitive by one of the two schedulers, in turn, but for those that the neuron has too."""
AT_ONCE = marked(lambda _, *each: each in (("table", "parallel"), ("neuron", "parallel"), ("check", "parallel")))
"""One entry, one weight, and one bound of a check."""


@pytest.mark.parametrize(("name", "scheduler"), IN_TURN)
def test_primitives_are_right(name: str, scheduler: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert proved(SCHEDULERS[scheduler](program(case, case.right)), case, tmp_path)


@pytest.mark.parametrize(("name", "scheduler"), AT_ONCE)
def test_mutants_are_refuted(name: str, scheduler: str, tmp_path: Path) -> None:
    """The same proof of a design that differs in one constant or one rounding finds an input that tells."""
    case = CASES[name]
    assert not proved(SCHEDULERS[scheduler](program(case, case.wrong)), case, tmp_path)
