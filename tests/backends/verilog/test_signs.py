"""Comparisons of a signal with a known number that are made of gates."""

from __future__ import annotations

import subprocess
from pathlib import Path

from circuitize.backends.verilog.parallel.text import above
from circuitize.backends.verilog.signals import Signal, declared


def test_gates_compare_as_verilog_does(tmp_path: Path) -> None:
    """Every number of up to five bits, with and without sign, with every bound, and with bounds past its ends."""
    declarations, tries, count = [], [], 0
    for bits in range(1, 6):
        for low, high in ((0, (1 << bits) - 1), (-1 << (bits - 1), (1 << (bits - 1)) - 1)):
            signal = Signal(f"x{bits}{'s' * (low < 0)}", low, high)
            declarations.append(f"reg {declared(bits, low < 0)} {signal.name};")
            tries.append(f"for (i = {low}; i <= {high}; i = i + 1) begin {signal.name} = i; #1;")
            for bound in range(low - 2, high + 3):
                tries.append(f"if ({above(signal, bound)} !== (i > {bound})) $display({count}); count = count + 1;")
                count += 1 << bits
            tries.append("end")
    lines = ["module bench; integer i, count;", *declarations, "initial begin count = 0;", *tries]
    (tmp_path / "bench.v").write_text("\n".join([*lines, '$display("%0d tried", count); end endmodule', ""]))
    subprocess.run(["iverilog", "-o", "bench", "bench.v"], cwd=tmp_path, check=True)
    done = subprocess.run(["vvp", "-n", "bench"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split("\n") == [f"{count} tried", ""]
