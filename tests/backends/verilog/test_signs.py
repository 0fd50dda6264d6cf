"""Comparisons of a signal with a known number that are made of gates."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from folded_programs import named

from circuitize.backends.verilog.netlist import Kind
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.parallel.text import Operand, above, expression
from circuitize.backends.verilog.signals import Literal, Signal, declared
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Constant, IsNegative, Subtract
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import check_design


def test_gates_compare_as_verilog_does(tmp_path: Path) -> None:
    """Every number of up to five bits, with and without sign, with every bound, and with bounds past its ends; and all
    sums with a known number that may be negative or not.
    """
    declarations, tries, count = [], [], 0
    for bits in range(1, 6):
        for low, high in ((0, (1 << bits) - 1), (-1 << (bits - 1), (1 << (bits - 1)) - 1)):
            signal = Signal(f"x{bits}{'s' * (low < 0)}", low, high)
            declarations.append(f"reg {declared(bits, low < 0)} {signal.name};")
            tries.append(f"for (i = {low}; i <= {high}; i = i + 1) begin {signal.name} = i; #1;")
            for bound in range(low - 2, high + 3):
                tries.append(f"if ({above(signal, bound)} !== (i > {bound})) $display({count}); count = count + 1;")
                count += 1 << bits
                for number, (operands, minus, told) in enumerate(sums(signal, bound)):
                    ends = [eval(told, {"i": end}) for end in (low, high)]
                    made = Signal(f"{signal.name}_{count}_{number}", min(ends), max(ends))
                    if made.low < 0 <= made.high:
                        declarations.append(f"reg {made.declared} {made.name};")
                        text = expression(Kind.ADD, made, operands, minus, 0, compared=bits)
                        tries.append(f"{made.name} = {text}; if ({made.name} !== {told}) $display({count});")
            tries.append("end")
    lines = ["module bench; integer i, count;", *declarations, "initial begin count = 0;", *tries]
    (tmp_path / "bench.v").write_text("\n".join([*lines, '$display("%0d tried", count); end endmodule', ""]))
    subprocess.run(["iverilog", "-o", "bench", "bench.v"], cwd=tmp_path, check=True)
    done = subprocess.run(["vvp", "-n", "bench"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split("\n") == [f"{count} tried", ""]


def sums(x: Signal, known: int) -> list[tuple[list[Operand], int, str]]:
    """The operands of each sum of a signal and a number, whether the second is subtracted, and the sum of i."""
    number = Literal(known)
    return [
        ([x, number], 0, f"i + ({known})"),
        ([number, x], 0, f"({known}) + i"),
        ([x, number], 1, f"i - ({known})"),
        ([number, x], 1, f"({known}) - i"),
    ]


@pytest.mark.parametrize(
    ("low", "high"), [(0, 16), (-20, 11), (3, 127), pytest.param(-130, 200, marks=pytest.mark.deep)]
)
def test_signs_of_sums_are_those_of_integers(low: int, high: int) -> None:
    """Every number of an interval, beside known numbers; also where more than a sum's sign is read."""
    bounds = np.unique([*range(low - 1, low + 3), *range(-2, 3), *range(high - 2, high + 2), (low + high) // 2])
    builder = Builder()
    x = builder.input(Fixed((len(bounds),), 0, low, high))
    known, negated = (builder.add(Constant.of(values)) for values in (bounds, -bounds))
    pairs = ((Subtract(), known, x), (Subtract(), x, known), (Add(), x, negated), (Add(), negated, x))
    sums = [builder.add(operation, *pair) for operation, *pair in pairs]
    program = named(builder, ["x"], [*(builder.add(IsNegative(), made) for made in sums), sums[0]])
    whole = named(builder, ["x"], [builder.add(IsNegative(), made) for made in sums])
    every = np.repeat(np.arange(low, high + 1)[:, None], len(bounds), 1)
    for given in (program, whole):
        assert check_design(schedule(given), given, {"x": every}).mismatches == 0
