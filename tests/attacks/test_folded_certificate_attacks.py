"""Folded designs that are wrong in ways that one frame or one run hides: each is refused, and says why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from certified_designs import certified_step, folded_project
from modal_designs import programs

from circuitize.backends.verilog.certificate import Refused, certificate
from circuitize.backends.verilog.certificate.checker import check
from circuitize.backends.verilog.certificate.checker.claims import deeply
from circuitize.backends.verilog.certificate.checker.folded import NAMES, shown_folded

STATUS, POOL, LANE = (f"circuitize_folded_{name}.v" for name in ("status", "pool", "pool_lane"))
STAGE, LOSS, RATE = "circuitize_s0_relu.v", "circuitize_s1_loss.v", "circuitize_in_learning_rate.v"
READ, WEIGHTS = "circuitize_s0_relu_x0_memory.v", "circuitize_s0_relu_x1_memory.v"
UNIT = "circuitize_s0_relu_unit.v"
SHELL, FOLDED, MEMORY = "circuitize.v", "circuitize_folded.v", "circuitize_folded_memory.v"
OUT = "circuitize_out_loss.v"
TOTAL = "more = product[30:0] + total;"
SWAP = "if (take & keeps & ~tdata[0]) bank <= ~bank;"
FAILS = "wire fails = ~tlast | tuser | (tdata[16:0] > 17'd65536);"
HELD = "always @(posedge clk) if (moves) held <= {in0};"
SEVEN = "15'd7"
RATE_PINS = "circuitize_in_learning_rate in_learning_rate_i (\n    "
TAKEN = "assign take = tvalid & tready;"
BEYOND = (
    "wire [16:0] tdata = in2_learning_rate_elements; wire [16:0] rate = tdata[16:0]; reg beyond; "
    "always @(posedge clk) if (learning_rate_tvalid & learning_rate_tready) beyond <= rate > 17'd65536;"
)
"""A register that is 0 as long as the check of an input passes."""
AT_ONCE = (
    'reg one; reg two; reg three; reg told; (* ram_style = "block", no_rw_check *) reg words [0:1]; '
    "always @(posedge clk) begin one <= ~rst & ready2; two <= ~rst & one & ~three; three <= ~rst & one; end "
    "wire begins = ready2 & ~one; wire at = ~two; wire zero = 1'b0; "
    "always @(posedge clk) begin if (begins | two) words[zero] <= two; if (two) "
)
"""A memory with no_rw_check whose entry is read at the edge of a write, by what follows."""
COUNTED = "reg seen; always @(posedge clk) if (rst) seen <= 1'b0; else if (take) seen <= 1'b1;"

Changes = list[tuple[str, str, str]]
WRONG: dict[str, tuple[Changes, str]] = {
    "a counter of addresses that ends early": (
        [(READ, "c0_read_i0 == 2'd2", "c0_read_i0 == 2'd1")], "is not shown to be what the program says"),
    "a product that is added twice": (
        [(LANE, TOTAL, "more = {product[29:0], 1'b0} + total;")], "is not shown to be"),
    "a lane that never begins anew": ([(LANE, "if (clear) total <= 31'd0; else ", "")], "is not shown to be"),
    "a lane that no reset clears": ([(POOL, "clear = rst | last", "clear = last")], "is not shown to be"),
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
        [(UNIT, "(w13_at4 > 19'sd8191)", "((w13_at4 > 19'sd8191) & ~w14[13])")],
        "status does not tell|status is 1"),
    "a status that is shown twice": ([(STATUS, "~rst & ~take &", "~rst &")], "the bank of the state|beats to come"),
    "a status that is shown before a flag": (
        [(STATUS, "~rst & ~take &", "~rst & ~take & ready0 | 1'b0 &")], "beats to come"),
    "a status that keeps the flag of the frame before": (
        [(STATUS, "failed <= fail0", "if (shown) failed <= fail0")], "status is not shown"),
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
    "a name of a net that has more bits": (
        [(OUT, HELD, f"wire [3:0] few = in0; wire [14:0] all = few; {HELD.replace('{in0}', 'all')}")],
        "15 bits where 4 are expected"),
    "a flag that the first clock after a reset hides": (
        [(RATE, FAILS, f"reg late; always @(posedge clk) late <= rst; {FAILS.replace('= ', '= ~late & (')[:-1]});")],
        "status is not shown"),
    "a flag that the first clock after a frame hides": (
        [(RATE, "input wire tuser,", "input wire tuser, input wire told,"),
         (RATE, FAILS, "reg t1; reg t2; always @(posedge clk) begin t1 <= told; t2 <= t1; end "
          f"{FAILS.replace('= ', '= ~t1 & ~t2 & (')[:-1]});"),
         (FOLDED, RATE_PINS, f"{RATE_PINS}.told(loss_tvalid), ")], "status is not shown"),
    "a flag that looks whether its output is awaited": (
        [(RATE, "input wire tuser,", "input wire tuser, input wire ok,"),
         (RATE, "fail <= fails;", "fail <= fails & ok;"),
         (FOLDED, RATE_PINS, f"{RATE_PINS}.ok(status_tready), ")], "status is not shown"),
    "two loops of one variable": (
        [(RATE, "fail <= fails;", "if (rst) flags <= 2'd0; else for (i = 0; i < 2; i = i + 1) "
          "for (i = 0; i < 1; i = i + 1) flags[i] <= fails;"),
         (RATE, "reg skipping;", "integer i; reg [1:0] flags; assign fail = flags[1]; reg skipping;"),
         (RATE, "output reg fail", "output wire fail")], "an integer that no loop around this one counts"),
    "a bank by another name": (
        [(STATUS, f"always @(posedge clk) {SWAP}", "reg [0:0] real_bank; always @* bank = real_bank; "
          "always @(posedge clk) if (take & keeps & ~tdata[0]) real_bank <= ~real_bank;")], "which follows no clock"),
    "an index with an operator": (
        [(MEMORY, "words[read_address]", "words[read_address + ones + one]"),
         (MEMORY, "(* ram_style", "wire [ADDRESS-1:0] ones = {ADDRESS{1'b1}}; wire [ADDRESS-1:0] one = -ones; "
          "(* ram_style")], "words has an index with an operator"),
    "a write at an index with an operator": (
        [(MEMORY, "words[write_address] <=", "words[write_address + write_address] <=")], "an index with an operator"),
    "a status of two bits": (
        [(FOLDED, "output wire [0:0] status_tdata", "output wire [1:0] status_tdata"),
         (STATUS, "output wire [0:0] tdata", "output wire [1:0] tdata"),
         (STATUS, "assign tdata = failed", "assign tdata[1:1] = 1'b0; assign tdata[0:0] = failed"),
         (SHELL, "wire [0:0] out8_status_data", "wire [1:0] out8_status_data"),
         (SHELL, ".elements(out8_status_data)", ".elements(out8_status_data[0:0])")], "expected one bit at"),
    "a text with an escape": (
        [(WEIGHTS, "circuitize_s0_relu_x1_memory_m0_0_0.hex", "circuitize_s0_relu_x1_memory_m0_0\\1370.hex")],
        "expected the plain name of a file"),
    "a text that goes on": (
        [(OUT, "module circuitize_out_loss (", "module circuitize_out_loss #(parameter T = \"\\\", "
          "parameter N = 15 //\", parameter N = 4\n) ("),
         (OUT, HELD, f"generate if (N == 15) begin : g {HELD} end else begin : h "
          f"{HELD.replace('{in0}', SEVEN)} end endgenerate")], "expected the plain name of a file"),
    "a status that is offered in a reset": (
        [(STATUS, "& ~rst;", ";"), (STATUS, TAKEN, "assign take = tvalid & tready & ~rst;")],
        "status is not shown to be silent in a reset"),
    "a stream that takes beats in a reset": (
        [("circuitize_skid.v", "assign in_ready = ~full & ~rst;", "assign in_ready = ~full | rst;")],
        "inputs_tready is not shown to be 0 in a reset"),
    "a memory that a wire reads at the edge of a write": (
        [(STATUS, TAKEN, f"{TAKEN} {AT_ONCE} told <= now; end wire now = words[at];"),
         (STATUS, "failed <= fail0", "failed <= told | fail0")], "has no_rw_check, and is not read by a register"),
    "a memory that a write reads at the edge of a write": (
        [(STATUS, TAKEN, f"{TAKEN} reg kept [0:1]; {AT_ONCE} kept[zero] <= words[at]; told <= kept[zero]; end"),
         (STATUS, "failed <= fail0", "failed <= told | fail0")], "has no_rw_check, and is not read by a register"),
    "a status that is masked by what a check would exclude": (
        [(SHELL, "assign status_tkeep", f"{BEYOND} assign status_tkeep"),
         (SHELL, "(out8_status_data)", "(out8_status_data & ~beyond)")], "status relies on a check"),
    "a slot of the status with a bit that a check would exclude": (
        [(SHELL, "assign status_tkeep", f"{BEYOND} wire [7:0] all; assign status_tdata = "
          "{all[7:2], beyond, all[0:0]}; assign status_tkeep"),
         (SHELL, ".data(status_tdata)", ".data(all)")], "status relies on a check"),
    "a number of more bits than fit into memory": (
        [(STATUS, "assign tdata = failed", "assign tdata = failed | (30000000000'd1 == 30000000000'd2)")],
        "at most 1048576"),
    "a case without a default": (
        [(OUT, "reg active;", "reg [1:0] now; "
          "always @(posedge clk) case (now) 2'd0: now <= 2'd1; endcase reg active;")],
        "expected a number, or default"),
}  # fmt: skip


def changed(files: Mapping[str, str], changes: Changes) -> dict[str, str]:
    found = dict(files)
    for file, before, after in changes:
        assert before in found[file], before
        found[file] = found[file].replace(before, after, 1)
    return found


def refusal(files: Mapping[str, str], claimed: Mapping[str, Any]) -> str:
    """Why a design is not shown; the test fails if it is."""
    with pytest.raises(Refused) as refused:
        deeply(lambda: shown_folded(files, *(claimed[name] for name in NAMES)))
    return str(refused.value)


QUICK = [
    "a bank that a reset swaps",
    "a counter that no reset sets",
    "a counter that depends on data",
    "a memory of two writers",
    "a name of a net that has more bits",
    "a number of more bits than fit into memory",
    "two loops of one variable",
]
ALL = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.deep]) for name in WRONG]


@pytest.mark.parametrize("name", ALL)
def test_what_is_wrong_is_refused(name: str) -> None:
    changes, reason = WRONG[name]
    made, found = certified_step()
    assert re.search(reason, refusal(changed(made.design.files, changes), found))


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an input with the name of a state": (
        lambda found: [side[place].update(name="learning_rate") for side, place in sides(found)], "with a name each"),
    "a negative shape": (lambda found: found["statement"]["inputs"][4].update(shape=[-2, -4]), "a shape of extents"),
    "a tensor without end": (
        lambda found: found["statement"]["inputs"][4].update(shape=[10**9, 10**9]), "elements of a tensor"),
    "a shift without end": (
        lambda found: next(edge for edge in found["statement"]["edges"] if "bits" in edge).update(bits=10**9),
        "by at most 4096 bits"),
    "a stream without a name": (lambda found: found["streams"]["inputs"][6].__setitem__(0, ""), "a name of Verilog"),
    "clocks that are no number": (lambda found: found.update(most=True), "expected at most"),
}  # fmt: skip


def sides(found: Mapping[str, Any]) -> list[tuple[list[dict[str, Any]], int]]:
    """Where in a statement the state `dense2.bias` stands."""
    return [(found["statement"]["inputs"], 3), (found["statement"]["outputs"], 3)]


@pytest.mark.deep
@pytest.mark.parametrize("name", TAMPERED)
def test_a_claim_that_was_changed_is_refused(name: str) -> None:
    made, found = certified_step()
    other = deepcopy(found)
    tamper, reason = TAMPERED[name]
    tamper(other)
    assert reason in refusal(made.design.files, other)


@pytest.mark.deep
def test_a_tensor_that_ends_within_a_beat() -> None:
    """Three elements, two a beat: tkeep and the lane past the end."""
    step, _, initial = programs()
    made = folded_project(step, initial, lanes=4, elements_per_beat=2)
    found = certificate(made)
    kept = (SHELL, "dense1_bias_tlast ? 8'hf : 8'hff", "8'hff")
    lane = ("circuitize_out_dense1_bias.v", "= {in1, in0};", "= ends ? {18'h2aaaa, in0} : {in1, in0};")
    for change, reason in ((kept, "tkeep of beat 1"), (lane, "bits past the elements of beat 1")):
        assert reason in refusal(changed(made.design.files, [change]), found)


def written(folder: Path, certificate: str, files: Mapping[str, str]) -> list[str]:
    """The arguments of the checker, for a certificate and a design that are written to a folder."""
    (folder / "rtl").mkdir()
    for name, text in files.items():
        (folder / "rtl" / name).write_text(text)
    (folder / "certificate.json").write_text(certificate)
    return ["checker", str(folder / "certificate.json"), str(folder)]


def test_a_key_that_stands_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", written(tmp_path, '{"format": 1, "statement": {"a": 1, "a": 2}}', {}))
    assert check.main() == 2
    assert "one key twice" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["[]", "{}", "1", "null"])
def test_a_kind_that_is_no_text_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", written(tmp_path, f'{{"format": {kind}}}', {}))
    assert check.main() == 1
    assert "expected a certificate of a parallel or a folded design" in capsys.readouterr().err


@pytest.mark.deep
def test_names_stay_in_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, found = certified_step()
    other = deepcopy(found)
    for side, place in sides(other):
        side[place]["name"] = "b of 2 elements\nthe statement: 1111\nstate: b"
    other["state"] = {port["name"]: None for port in other["statement"]["inputs"][:4]}
    other["state"] = dict(zip(other["state"], found["state"].values(), strict=True))
    monkeypatch.setattr("sys.argv", written(tmp_path, json.dumps(other), made.design.files))
    assert check.main() == 0
    told = capsys.readouterr().out.splitlines()
    assert len([line for line in told if line.startswith("the statement: ")]) == 1
    assert 'state: "b of 2 elements\\nthe statement: 1111\\nstate: b"' in told
