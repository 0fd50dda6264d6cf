"""Designs that are wrong in ways that a reader of Verilog may miss: each is refused, whatever its certificate says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import parallel_networks as networks
import pytest
from certified_designs import certified

from circuitize.backends.verilog.certificate import Refused
from circuitize.backends.verilog.certificate.checker.claims import deeply, shown

CHECK = "circuitize_parallel_check.v"
CORE, TOP, UNFRAMED = "circuitize_parallel.v", "circuitize.v", "circuitize_parallel_unframed.v"
VALUE = "wire [0:0] unframed__value = tdata[0:0];"
LAST = "assign y_tlast = 1'b1;"
NEVER = "wire enable = 1'b0; reg r; always @(posedge clk) if (enable) r <= 1'b1; assign y_tkeep = {4{r}};"
LOOP = "assign out1_y_ready = r0 & (out1_y_valid | ~out1_y_valid);"
FINE = "reg [23:0] held1; wire signed [5:0] copy = x_input__t0[5:0]; assign fine = ~(copy > 6'sd20);"
X_INPUT = "circuitize_parallel_x_input.v"

TO_A_COMPARISON = (
    "for (i = 0 - 1; i < (1 > 0); i = i + 1) begin : b "
    "if (i == 0) begin : c assign unframed__value = tdata[0:0]; end end"
)

Changes = list[tuple[str, str, str]]
WRONG: dict[str, Changes] = {
    "parameters of the core": [
        (CORE, "module circuitize_parallel (", "module circuitize_parallel #(parameter MODE = 0) ("),
        (CORE, LAST, "assign y_tlast = (MODE == 0) ? 1'b1 : 1'b0;"),
        (TOP, "circuitize_parallel core (", "circuitize_parallel #(.MODE(1)) core ("),
    ],
    "control that stops where a check fails": [
        (X_INPUT, "output reg [0:0] x_input__t4,", "output wire fine, output reg [0:0] x_input__t4,"),
        (X_INPUT, "reg [23:0] held1;", FINE),
        (CORE, "wire arrived = x_tvalid & ~(|skipping);", "wire fine; wire arrived = x_tvalid & ~(|skipping) & fine;"),
        (CORE, ".tdata(x_tdata),", ".tdata(x_tdata), .fine(fine),"),
    ],
    "a clock enable by a name of another width": [
        (X_INPUT, "reg [23:0] held1;", "wire [1:0] wide = enable; reg [23:0] held1;"),
        (X_INPUT, "if (enable)", "if (wide)"),
    ],
    "a number in a register that never loads": [(TOP, "assign y_tkeep = 4'hf;", NEVER)],
    "a number in a register of the control": [
        (CORE, LAST, "reg r; always @(posedge clk) if (enable) r <= 1'b1; assign y_tlast = r;")
    ],
    "a reset that is an output": [
        (TOP, "input wire rst", "output wire rst"),
        (TOP, "wire [23:0] in0_x_data;", "assign rst = 1'b0; wire [23:0] in0_x_data;"),
    ],
    "a loop through the shell": [
        (CORE, "~taken[0] & ~rst;", "~taken[0] & ~rst & (y_tready | ~y_tready);"),
        (TOP, ".in_ready(out1_y_ready)", ".in_ready(r0)"),
        (TOP, "wire out1_y_ready;", f"wire out1_y_ready; wire r0; {LOOP}"),
    ],
    "outputs in another order": [(CORE, "check__1_d1,\n        check__0_d1\n", "check__0_d1,\n        check__1_d1\n")],
    "a status that tells of no tlast": [(UNFRAMED, VALUE, "wire [0:0] unframed__value = tdata[0:0] & 1'b0;")],
    "logical and": [(UNFRAMED, VALUE, "wire [0:0] unframed__value = tdata[0:0] && {1'b1, tdata[0:0]};")],
    "reduction xnor": [(UNFRAMED, VALUE, "wire [0:0] unframed__value = ^~{1'b0, tdata[0:0]};")],
    "numbers with widths": [(UNFRAMED, VALUE, "wire [0:0] unframed__value = 2'd3 + 2'd1 == 2'd0 ? 1'b0 : tdata[0:0];")],
    "widths of a choice": [
        ("circuitize_parallel_shift.v", "add__0[9:2];", "{(1 > 0 ? add__0[9:6] : 2'd0), (1 > 0 ? add__0[5:2] : 6'd0)};")
    ],
    "two blocks of one name": [
        (UNFRAMED, VALUE, "wire [0:0] unframed__value; generate if (1 > 0) begin : a wire t; assign t = 1'b0; "
         "assign unframed__value[0] = t; end if (1 > 0) begin : a wire t; assign t = tdata[0]; end endgenerate")
    ],
    "text behind a return": [
        (UNFRAMED, VALUE, "wire [0:0] unframed__value // \r = 1'b0; wire other //\n = tdata[0:0];")
    ],
    "a comment for synthesizers": [
        (UNFRAMED, VALUE, f"// synopsys translate_off\n{VALUE}\n// synopsys translate_on\n")
    ],
    "a clock's condition that is its own": [
        (CHECK, "if (enable) begin", "if (a) begin"),
        (CHECK, "reg [17:0] held4;", "reg [17:0] held4; wire a, b; assign a = b; assign b = a;"),
    ],
    "a loop to a comparison": [
        (UNFRAMED, VALUE, f"wire [0:0] unframed__value; genvar i; generate {TO_A_COMPARISON} endgenerate")
    ],
    "a loop without an end": [
        (UNFRAMED, VALUE, f"{VALUE} genvar i; generate for (i = 0; i < 9999999; i = i + 1) begin : b end endgenerate")
    ],
    "a block that reads what it gives": [
        (CORE, LAST, "reg one, two; always @* begin one = 1'b1; two = one; end assign y_tlast = two;")
    ],
    "a register of the pipeline in the control": [
        (CORE, LAST, "assign y_tlast = q1;"),
        (CORE, "wire arrived =", "reg q0, q1; always @(posedge clk) if (enable) begin "
         "q0 <= unframed_tdata | 1'b1; q1 <= q0; end wire arrived ="),
    ],
    "a loop that nothing reads": [(CORE, LAST, f"{LAST} wire osc; assign osc = rst ? 1'b0 : ~osc;")],
    "a clock as a value": [(CORE, "~(|skipping);", "~(|skipping) & ~clk;")],
    "parameters of the design": [
        (TOP, "module circuitize (", "module circuitize #(parameter P = 0) ("),
        (TOP, "assign y_tkeep = 4'hf;", "assign y_tkeep = (P == 0) ? 4'hf : 4'h0;"),
    ],
    "a valid that reads its ready": [
        (TOP, ".out_valid(y_tvalid)", ".out_valid(v0)"),
        (TOP, "wire out1_y_ready;", "wire out1_y_ready; wire v0; assign y_tvalid = v0 & (y_tready | ~y_tready);"),
    ],
    "a comment of a linter": [(UNFRAMED, VALUE, f"{VALUE} // verilator lint_off WIDTH")],
    "text behind a directive": [(UNFRAMED, "`default_nettype wire", "`default_nettype wire module")],
    "a number repeated without end": [
        (UNFRAMED, VALUE, "wire [0:0] unframed__value = ^{2000000000{tdata[0:0]}};")
    ],
}  # fmt: skip
TABLE = "circuitize_parallel_table0.v"
MEMORIES: dict[str, Changes] = {
    "an index with a sign": [(TABLE, "input wire [7:0] index", "input wire signed [7:0] index")],
    "two entries": [(TABLE, "entries[index]", "entries[index +: 2]")],
    "a name with an escape": [(TABLE, "table0.hex", "table\\060.hex")],
    "an index with an operator": [(TABLE, "entries[index]", "entries[index + 8'd0]")],
}


REASONS = {
    "an index with an operator": "entries has an index with an operator",
    "a clock enable by a name of another width": "expected enable at wide",
    "parameters of the core": "expected no parameters, which the shell",
    "control that stops where a check fails": "relies on a check",
    "a number in a register that never loads": "r holds a number",
    "a number in a register of the control": "r holds a number",
    "a reset that is an output": "expected the ports of its streams",
    "a loop through the shell": "core.y_tvalid is read in the same clock",
    "outputs in another order": "element 0 of y_tdata is not shown to be what the program says",
    "a status that tells of no tlast": "status is 1 for other frames",
    "logical and": "found &&",
    "reduction xnor": r"found \^~",
    "numbers with widths": "expected a number known beforehand",
    "widths of a choice": "a choice between 4 and 2 bits",
    "two blocks of one name": "a.t is declared twice",
    "text behind a return": "found '.r'",
    "a comment for synthesizers": "expected a comment that no tool reads",
    "a clock's condition that is its own": "a depends on itself",
    "a loop to a comparison": "expected a loop over few numbers",
    "a loop without an end": "expected a loop over few numbers",
    "a block that reads what it gives": "an always block reads nothing",
    "a register of the pipeline in the control": "y_tlast reads a register of the pipeline",
    "a loop that nothing reads": "osc depends on itself",
    "a clock as a value": "clk has no value",
    "parameters of the design": "expected no parameters, which its user",
    "a valid that reads its ready": "y_tready is read in the same clock",
    "a comment of a linter": "expected a comment that no tool reads",
    "text behind a directive": "found '`'",
    "a number repeated without end": "too many",
    "an index with a sign": "an index with a sign",
    "two entries": "more than one entry",
    "a name with an escape": "expected the plain name of a file",
    "a wire from the end": "expected a wire of the statement",
    "a negative shape": "a shape of extents from 0 up",
    "another shape": "of the output's shape",
    "a source from the end": "expected sources before it",
    "numbers that are no integers": "expected integers in a statement",
    "other elements": "expected elements in bytes or packed",
}
"""Why each is refused, so that none is for a slip of its text."""


def refusal(files: Mapping[str, str], found: dict[str, Any]) -> str:
    """Why the design is not shown; the test fails if it is."""
    with pytest.raises(Refused) as refused:
        deeply(lambda: shown(files, *(found[name] for name in ("top", "elements", "streams", "statement"))))
    return str(refused.value)


def changed(files: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """The files with changes, each of a text that is there."""
    made = dict(files)
    for file, before, after in changes:
        assert before in made[file], before
        made[file] = made[file].replace(before, after, 1)
    return made


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(name: str) -> None:
    made, found = certified(networks.small)
    assert re.search(REASONS[name], refusal(changed(made.design.files, WRONG[name]), found))


@pytest.mark.parametrize("name", MEMORIES)
def test_memories_are_read_as_they_stand(name: str) -> None:
    made, found = certified(networks.tabled)
    assert re.search(REASONS[name], refusal(changed(made.design.files, MEMORIES[name]), found))


def test_a_memory_has_plain_numbers() -> None:
    made, found = certified(networks.tabled)
    name = next(name for name in made.design.files if name.endswith(".hex"))
    assert "is no file of" in refusal({**made.design.files, name: "0x" + made.design.files[name]}, found)


def test_other_files_are_refused() -> None:
    made, found = certified(networks.small)
    assert "another file" in refusal({**made.design.files, "more.sv": ""}, found)


TAMPERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "a wire from the end": lambda found: found["statement"]["outputs"][0].update(wire=-1),
    "a negative shape": lambda found: found["statement"]["outputs"][0].update(shape=[-1, -2]),
    "another shape": lambda found: found["statement"]["outputs"][0].update(shape=[1, 2]),
    "a source from the end": lambda found: found["statement"]["edges"][-1].update(sources=[-1]),
    "numbers that are no integers": lambda found: found["statement"]["inputs"][0].update(low=-8.5),
    "other elements": lambda found: found.update(elements="foo"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_statement_that_was_changed_is_refused(name: str) -> None:
    made, found = certified(networks.small)
    other = deepcopy(found)
    TAMPERED[name](other)
    assert re.search(REASONS[name], refusal(made.design.files, other))
