"""Folded designs that are wrong in ways that one frame or one run hides: each is refused, and says why."""

from __future__ import annotations

import re

import pytest
from certified_designs import certified_step

from circuitize.backends.verilog.certificate import Refused
from circuitize.backends.verilog.certificate.checker.claims import deeply
from circuitize.backends.verilog.certificate.checker.folded import NAMES, shown_folded

STATUS, POOL, LANE = (f"circuitize_folded_{name}.v" for name in ("status", "pool", "pool_lane"))
STAGE, LOSS, RATE = "circuitize_s0_relu.v", "circuitize_s1_loss.v", "circuitize_in_learning_rate.v"
READ, WEIGHTS = "circuitize_s0_relu_x0_memory.v", "circuitize_s0_relu_x1_memory.v"
UNIT = "circuitize_s0_relu_unit.v"
TOTAL = "total <= product[30:0] + (first ? 31'd0 : total);"
SWAP = "if (take & keeps & ~tdata[0]) bank <= ~bank;"
TAKEN = "assign take = tvalid & tready;"
COUNTED = "reg seen; always @(posedge clk) if (rst) seen <= 1'b0; else if (take) seen <= 1'b1;"

Changes = list[tuple[str, str, str]]
WRONG: dict[str, tuple[Changes, str]] = {
    "a counter of addresses that ends early": (
        [(READ, "c0_read_i0 == 2'd2", "c0_read_i0 == 2'd1")], "is not shown to be what the program says"),
    "a product that is added twice": (
        [(LANE, TOTAL, "total <= {product[29:0], 1'b0} + (first ? 31'd0 : total);")], "is not shown to be"),
    "a lane that never begins anew": ([(LANE, "(first ? 31'd0 : total)", "total")], "is not shown to be"),
    "a turn that does not end": ([(POOL, "if (ends) turn <=", "if (ends & ~starts & rst) turn <=")], "more than"),
    "stages that do not wait for their turn": (
        [(POOL, f"(turn == 3'd{turn}) & ~busy", "1'b1") for turn in range(8)], "is not shown to be"),
    "a bank that swaps on status 1": ([(STATUS, "& ~tdata[0])", ")")], "the bank of the state changes otherwise"),
    "a bank that swaps on the opposite": ([(STATUS, "& ~tdata[0])", "& tdata[0])")], "the bank of the state changes"),
    "a bank that a reset swaps": ([(STATUS, SWAP, SWAP.replace("if (", "if (rst | "))], "a reset changes the bank"),
    "a bank that swaps without its flags": (
        [(STATUS, "& ~tdata[0])", "& ~(fail0 | fail1 | fail2))")], "the bank of the state"),
    "a status that hides a flag": ([(STATUS, "fail3 | ", "")], "status does not tell of a failure"),
    "a status that is always 1": ([(STATUS, "assign tdata = ", "assign tdata = 1'b1 | ")], "the status|status is"),
    "a flag that looks at the number that it lets through": (
        [(UNIT, "(w13_at2 > 19'sd8191)", "((w13_at2 > 19'sd8191) & ~w14[13])")],
        "status does not tell|status is 1"),
    "an input that is not checked": ([(RATE, " | (tdata[16:0] > 17'd65536)", "")], "status does not tell|not shown"),
    "a slot that is not checked": ([(RATE, "~tlast | tuser", "~tlast")], "status does not tell of a failure"),
    "a counter that no reset sets": (
        [(STAGE, "if (rst) pass <= 3'd0;\n    else if", "if")], "depends on data, or on what is not there"),
    "a counter that depends on data": (
        [(STAGE, "else if (running & t_end) pass", "else if (running & t_end & ~x0_0[0]) pass")], "depends on data"),
    "state that the second frame writes wrongly": (
        [(STATUS, TAKEN, f"{TAKEN} {COUNTED}"), (STATUS, "fail0 | fail1", "(fail0 & ~seen) | fail1")],
        "status does not tell of a failure"),
    "a number that no reset sets, and that frames flip": (
        [(STATUS, TAKEN, f"{TAKEN} reg odd; always @(posedge clk) if (take) odd <= ~odd;"),
         (STATUS, "fail0 | fail1", "(fail0 & odd) | fail1")], "status is not shown|status does not tell"),
    "a write to the bank that is read": (
        [(WEIGHTS, "wire [0:0] w_bank = ~r_bank;", "wire [0:0] w_bank = r_bank;")], "state|is not shown to be"),
    "an index past the end": (
        [(READ, ".WORDS(2), .ADDRESS(1)", ".WORDS(1), .ADDRESS(1)")], "past its end|is not shown to be"),
    "a memory of two writers": (
        [("circuitize_folded_memory.v", "  end\nendmodule", "  end\n  always @(posedge clk) if (read) "
          "words[read_address] <= write_data;\nendmodule")], "is no memory, or is written by two blocks"),
    "a loop through the turns": (
        [(POOL, "(turn == 3'd0) & ~busy", "(turn == 3'd0) & ~busy & ~m0_ready")], "depends on itself"),
    "a reset that is read late": (
        [(STAGE, "wire t_end =", "reg late; always @(posedge clk) late <= rst; wire t_end ="),
         (STAGE, "if (rst) pass <=", "if (late) pass <=")], "depends on data, or on what is not there"),
    "a memory that a block reads at any time": (
        [(STATUS, TAKEN, f"{TAKEN} reg told; reg words [0:1]; always @(posedge clk) if (take) words[0] <= tdata[0]; "
          "always @* told = words[bank];"), (STATUS, "fail0 | fail1", "told | fail0 | fail1")],
        "read in an always|depends on itself"),
    "a bank that swaps twice": (
        [(STATUS, f"always @(posedge clk) {SWAP}", "reg again; always @(posedge clk) "
          "again <= ~rst & take & ~tdata[0] & ~again; reg more; always @(posedge clk) more <= ~rst & again; "
          "always @(posedge clk) "
          "if (take & keeps & ~tdata[0] | again | more) bank <= ~bank;")], "the bank of the state"),
    "a flag that forgets": ([(LOSS, "(failed | fails);", "fails;")],
        "status does not tell of a failure"),
}  # fmt: skip


def refusal(changes: Changes) -> str:
    """Why a changed design is not shown; the test fails if it is."""
    made, found = certified_step()
    files = dict(made.design.files)
    for file, before, after in changes:
        assert before in files[file], before
        files[file] = files[file].replace(before, after, 1)
    with pytest.raises(Refused) as refused:
        deeply(lambda: shown_folded(files, *(found[name] for name in NAMES)))
    return str(refused.value)


QUICK = [
    "a bank that a reset swaps",
    "a counter that no reset sets",
    "a counter that depends on data",
    "a memory of two writers",
]
ALL = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.deep]) for name in WRONG]


@pytest.mark.parametrize("name", ALL)
def test_what_is_wrong_is_refused(name: str) -> None:
    changes, reason = WRONG[name]
    assert re.search(reason, refusal(changes))
