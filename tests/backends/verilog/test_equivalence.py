"""How changed designs are compared by yosys and ABC: equal ones are shown, and each difference is found."""

from __future__ import annotations

from pathlib import Path

import parallel_networks as networks
import pytest
from certified_designs import certified, certified_step, compared
from verilog_equivalence import PRODUCT, PRODUCT_FILE, Equality, Original, yosys

pytestmark = pytest.mark.deep

CORE, CHECK, SHIFT = (f"circuitize_parallel{name}.v" for name in ("", "_check", "_shift"))
ABOVE = "$signed({{1{add_2__0[10]}}, add_2__0}) > 12'sd150"
PARALLEL = [
    (SHIFT, "input wire signed [9:0] add__0", "input wire [9:0] add__0", Equality.GATES),
    (CHECK, f"({ABOVE})", f"~({ABOVE.replace('> 12', '< 12').replace('150', '151')})", Equality.STATES),
    (CHECK, "12'sd150", "12'sd149", None),
    (CORE, "skipping[0] <= ~x_tlast", "skipping[0] <= 1'b0", Equality.FRAMES),
]
STATUS, READ = "circuitize_folded_status.v", "circuitize_s0_relu_x0_memory.v"
FOLDED = [
    ("circuitize_s1_loss_x1_memory.v", "r_start | r1_start", "r_start & r1_start", Equality.FRAMES),
    ("circuitize_s1_loss_x2_memory.v", "w_valid & w_last", "w_valid | w_last", Equality.BEATS),
    (READ, "if (s0_relu_x0_memory_c0_read_end0)", "if (~s0_relu_x0_memory_c0_read_end0)", Equality.FRAMES),
    (READ, "c0_read_i0 == 2'd2", "c0_read_i0 == 2'd1", None),
    (STATUS, "& ~tdata[0])", ")", None),
    (STATUS, "fail3 | ", "", None),
    (STATUS, "initial bank = 1'b0", "initial bank = 1'b1", None),
]


def require(original: Original, file: str, before: str, after: str, wanted: Equality | None) -> None:
    assert before in original.files[file]
    changed = {**original.files, file: original.files[file].replace(before, after, 1)}
    assert original.equality(changed) == wanted, (file, before, after)


@pytest.mark.parametrize("signed", ["", "signed "])
def test_products_row_by_row_are_products(signed: str, tmp_path: Path) -> None:
    """Of all operands of few bits, with a result that is wider, and one that is narrower, than the product."""
    (tmp_path / PRODUCT_FILE).write_text(PRODUCT)
    for bits in (10, 5):
        ports = f"input wire {signed}[3:0] a, input wire {signed}[4:0] b, output wire {signed}[{bits - 1}:0] y"
        (tmp_path / "p.v").write_text(f"module p({ports}); assign y = a * b; endmodule\n")
        script = (
            f"read_verilog p.v; copy p q; techmap -map {PRODUCT_FILE} q; miter -equiv -make_assert p q m; flatten m; "
        )
        yosys(
            script + "select -assert-none q/t:$mul; select -assert-count 1 p/t:$mul; sat -verify -prove-asserts m",
            tmp_path,
        )


def test_changes_of_a_parallel_design_are_told_apart(tmp_path: Path) -> None:
    original = compared(*certified(networks.small), tmp_path)
    for change in PARALLEL:
        require(original, *change)


def test_changes_of_a_folded_design_are_told_apart(tmp_path: Path) -> None:
    """Beats two clocks earlier, and a counter whose carry another one makes up for, are no changes; the end of a
    counter, a bank that swaps on status 1, a failure that is not told of, and another first bank are.
    """
    original = compared(*certified_step(), tmp_path)
    for change in FOLDED:
        require(original, *change)
