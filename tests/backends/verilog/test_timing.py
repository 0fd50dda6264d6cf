"""The clock that a design is expected to reach: small Verilog by hand, measured clocks, and the pipelining chosen."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import hardware_programs
import pytest
from cli_programs import refused, run
from integers_cases import by_operation, cases
from parallel_networks import finished
from r1cs_programs import single
from seeded_networks import trees
from side_by_side import side_by_side
from tiers import TIER
from timed_designs import DESIGNS, medians, small

import circuitize as cz
from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices.family import ECP5, SEVEN
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.shell import Interface
from circuitize.backends.verilog.timing import DELAYS, LEVELS, MHZ, Clock, clocked, expected_mhz, timed
from circuitize.backends.verilog.timing.paths import Paths
from circuitize.backends.verilog.timing.reading import circuit_of
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Constant, IsNegative, Reindex, Select, View
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl.frames import bound_somehow

CELLS = DELAYS["ecp5"]
HERE = f"{hardware_programs.__file__}:"


def period(body: str, widths: str = "[7:0]") -> float:
    """The longest path of a module between the registers a, b and c and the register d."""
    text = f"""
module m (input wire clk, input wire {widths} i, input wire s, output wire {widths} o);
  reg {widths} a;
  reg {widths} b;
  reg {widths} c;
  reg {widths} d;
  assign o = d;
  always @(posedge clk) begin
    a <= i;
    b <= i;
    c <= i;
  end
{body}
endmodule
"""
    return Paths(circuit_of({"m.v": text}, "m"), CELLS, ECP5).longest


def path(*cells: float, readers: int = 1) -> float:
    """A path from a register through cells, of which the last lies beside the register that it ends in."""
    wires = len(cells) * CELLS.wire + CELLS.spread * math.log2(readers)
    return CELLS.register + wires + sum(cells) + CELLS.beside


def test_a_sum_carries_from_its_lowest_bit_to_its_highest() -> None:
    chain = CELLS.carry_in + 6 * CELLS.carry + CELLS.carry_out
    assert period("always @(posedge clk) d <= a + b;") == pytest.approx(path(chain))
    assert period("always @(posedge clk) d <= a + b;", "[15:0]") == pytest.approx(path(chain + 8 * CELLS.carry))


def test_the_second_of_two_sums_starts_before_the_first_has_ended() -> None:
    """A carry that runs through both passes as many bits as one alone."""
    two = period("wire [7:0] t = a + b; always @(posedge clk) d <= t + c;")
    longest = 6 * CELLS.carry + CELLS.carry_in + CELLS.carry_out
    assert path(longest, CELLS.same_bit) <= two <= path(longest, CELLS.carry_in + CELLS.carry_out)


def test_tables_hold_gates_and_are_whole() -> None:
    """Two inputs or four take a table; gates that do not go into one take two."""
    one = path(CELLS.table)
    assert period("always @(posedge clk) d <= a & b;") == pytest.approx(one)
    assert period("always @(posedge clk) d <= a & b & c;") == pytest.approx(one)
    assert period("always @(posedge clk) d <= {8{a == b}};") == pytest.approx(path(CELLS.table, CELLS.table))
    assert period("always @(posedge clk) d <= ~a;") < one
    assert period("always @(posedge clk) d <= i & {8{s}};") < one


def test_a_wire_to_many_readers_is_long() -> None:
    few = period("wire e = a[0]; always @(posedge clk) if (e) d <= b;")
    many = period("wire e = a[0]; always @(posedge clk) if (e) d <= b;", "[63:0]")
    assert few == pytest.approx(CELLS.register + CELLS.wire + 3 * CELLS.spread)
    assert many - few == pytest.approx(3 * CELLS.spread)


def test_products_and_blocks_take_their_cells() -> None:
    product = period("always @(posedge clk) d <= a * b;")
    assert product == pytest.approx(path(CELLS.multiplier) + 2 * CELLS.column)
    memory = """
  (* ram_style = "block" *)
  reg [7:0] words [0:1023];
  reg [7:0] word;
  always @(posedge clk) begin
    if (s) words[{b[1:0], a}] <= c;
    word <= words[{c[1:0], a}];
  end
  always @(posedge clk) d <= word & a;
"""
    block = CELLS.block + CELLS.column + CELLS.wire + CELLS.table + CELLS.beside
    assert period(memory) == pytest.approx(block)
    assert period(memory.replace("block", "distributed").replace("1023", "15").replace("{b[1:0], a}", "a[3:0]")) < block


def shown(pads: int) -> float:
    """The longest path of a module that shows one bit on so many pads, behind a register that holds it for each."""
    text = f"""
module m (input wire clk, input wire i, input wire free, output wire [{pads - 1}:0] o);
  reg a;
  reg full;
  reg [{pads - 1}:0] held;
  wire [{pads - 1}:0] bits = {{{pads}{{a}}}};
  assign o = full ? held : bits;
  always @(posedge clk) begin
    a <= i;
    full <= ~free;
    if (~full) held <= bits;
  end
endmodule
"""
    return Paths(circuit_of({"m.v": text}, "m"), CELLS, ECP5).longest


def test_a_bit_on_several_pads_goes_far() -> None:
    """The places of two pads span a third of the die, those of eight pads seven ninths; one pad is where it likes."""
    near = CELLS.register + CELLS.spread + CELLS.beside
    assert shown(2) == pytest.approx(near + CELLS.spread + CELLS.far / 3)
    assert shown(8) == pytest.approx(near + 3 * CELLS.spread + CELLS.far * 7 / 9)
    assert shown(1) < near + CELLS.wire + CELLS.spread


TOLERANCE = 0.2
"""What docs/devices.md states, of the median of five seeds."""

QUICK = (
    *("dense 4-4-2, DSP, N = 2", "dense 6-6-3, 5 bits, N = 2", "folded dense 16-16-4, P = 4"),
    *("parallel, dense 6-10-4, 6 bits, seed 11", "parallel, dense 10-16-5, 6 bits, 3/4 zeros, seed 12"),
    "folded, dense 32-24-6, 6 bits, seed 15",
)
"""Designs that are quickly made."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.deep) for name in DESIGNS]
)
def test_estimates_are_near_the_measured_clock(name: str) -> None:
    found = expected_mhz(DESIGNS[name].design(), ECP5)
    assert abs(found / medians()[name] - 1) <= TOLERANCE, (found, medians()[name])


GOLDEN = {1: 159, 2: 131, 3: 107, 4: 84, 6: 61, 9: 68}
NUMBERS = range(1, 12) if TIER == "deep" else (*GOLDEN, 10, 11)


@cache
def every_number() -> tuple[Bound, dict[int, int]]:
    """The small network, and its estimates by the number of adders between registers."""
    made = small()
    return made, {n: expected_mhz(integrated(made, "parallel", {LEVELS: n}), ECP5) for n in NUMBERS}


def test_estimates_of_known_designs() -> None:
    """Registers after every adder are faster than any others; 9 adders between them are faster than 6, as measured."""
    _, found = every_number()
    assert {levels: found[levels] for levels in GOLDEN} == GOLDEN
    clocks = medians()
    measured = {levels: clocks[f"dense 4-8-3, N = {levels}"] for levels in GOLDEN}
    assert sorted(GOLDEN, key=found.__getitem__) == sorted(measured, key=measured.__getitem__)


@cache
def plain(scheduler: str) -> int:
    """The estimate of the small network with a stream of whole bytes for each tensor."""
    return expected_mhz(integrated(small(), scheduler, {}), ECP5)


@pytest.mark.parametrize("interface", [Interface(control=True), Interface(bus_bits=32), Interface(elements="packed")])
@pytest.mark.parametrize("scheduler", ["parallel", "folded"])
def test_every_interface_is_read(scheduler: str, interface: Interface) -> None:
    found = expected_mhz(integrated(small(), scheduler, {}, interface), ECP5)
    assert 0.75 * plain(scheduler) <= found <= 1.01 * plain(scheduler)


@pytest.mark.deep
@pytest.mark.parametrize("name", by_operation(cases()))
def test_every_operation_is_read(name: str) -> None:
    chosen = [case for case in cases() if case.operation.name == f"integer.{name}" and case.sources]
    few = [case for case in chosen if max(source.size for source in case.sources) < 600]
    made = side_by_side([single(case.operation, *case.sources) for case in few]) if few else None
    assert made is None or 20 < expected_mhz(schedule(made), ECP5) < 400


@pytest.mark.parametrize("mhz", [65, *(pytest.param(mhz, marks=pytest.mark.deep) for mhz in (75, 140))])
def test_the_most_adders_that_reach_the_clock_are_chosen(mhz: int) -> None:
    """Against all numbers, one after the other; 10 reach 65 MHz, where 6 do not."""
    made, every = every_number()
    design = clocked(made, "parallel", {}, clock=Clock(ECP5, mhz))
    assert design.report[LEVELS] == max(n for n, found in every.items() if found >= mhz)
    assert design.report[MHZ] == every[design.report[LEVELS]]
    assert design.files == integrated(made, "parallel", {LEVELS: design.report[LEVELS]}).files


def test_a_clock_is_chosen_for_state() -> None:
    """State is read from its registers, and the numbers that a frame makes from those that it loads."""
    made = bound_somehow(hardware_programs.counter())
    every = {n: expected_mhz(integrated(made, "parallel", {LEVELS: n}), ECP5) for n in (1, 2, 3)}
    design = clocked(made, "parallel", {}, clock=Clock(ECP5, every[1]))
    assert design.held == ("total",) and design.report[MHZ] >= every[1] >= max(every.values())
    assert design.files == integrated(made, "parallel", {LEVELS: design.report[LEVELS]}).files


def test_choices_are_no_lower_bound() -> None:
    """Nine choices between two registers reach a clock that nine adders, one after the other, would not."""
    builder, source = Builder(), Fixed((9,), 0, -64, 63)
    x = builder.input(source)
    below = builder.add(IsNegative(), x)
    chosen = builder.add(Constant.splat(1, (1,)))
    for place in range(9):
        condition = builder.add(Reindex(View.slice((9,), (place,), (place + 1,))), below)
        chosen = builder.add(Select(), condition, builder.add(Constant.splat(3 * place + 2, (1,))), chosen)
    design = clocked(Bound(finished(builder, source, chosen), {}), "parallel", {}, clock=Clock(ECP5, 140))
    assert design.report[LEVELS] >= 9 and design.report[MHZ] >= 140


@pytest.mark.deep
def test_choices_of_trees_are_no_lower_bound() -> None:
    made = trees(2, 2, 0)
    design = clocked(made, "parallel", {}, clock=Clock(ECP5, 120))
    assert design.report[LEVELS] == 5 and design.report[MHZ] >= 120


def test_a_clock_out_of_reach_gives_the_fastest_design_and_a_remark() -> None:
    clock = Clock(ECP5, 400)
    design = clocked(small(), "parallel", {}, clock=clock)
    assert design.report[LEVELS] == 1
    (remark,) = clock.remarks(design)
    assert remark == (
        f"--mhz 400: the design is expected to reach {design.report[MHZ]} MHz on Lattice ECP5; it is written all the "
        "same"
    )
    assert not Clock(ECP5, 100).remarks(design) and not Clock(ECP5).remarks(design)


def test_no_figure_is_made_up_for_other_families() -> None:
    design = integrated(small(), "parallel", {})
    assert MHZ not in timed(design, SEVEN).report and timed(design, ECP5).report[MHZ] > 0
    assert MHZ not in clocked(small(), "parallel", {}, clock=Clock(SEVEN, 100)).report


def test_verilog_that_is_not_read_is_one_line() -> None:
    design = Design("m", "parallel", {"m.v": "module m (); initial $display(1); endmodule"}, ())
    with pytest.raises(CircuitizeError, match=r"^the clock of m cannot be estimated: m\.v:1: .*; name no ECP5"):
        expected_mhz(design, ECP5)


def succeeded(*arguments: str | Path) -> str:
    """What a command prints."""
    done = run(*arguments)
    assert done.status == 0, done
    return done.out + done.err


COMPILE = ("compile", HERE + "linear", "--target", "verilog", "--scheduler", "parallel")


def test_estimate_prints_the_clock_of_every_design_of_an_ecp5() -> None:
    told = succeeded("estimate", HERE + "linear", "--target", "verilog", "--family", "ecp5")
    head, *rows = [line for line in told.splitlines() if line.startswith("  ") or "MHz" in line]
    assert head.split()[-1] == "MHz" and len(rows) >= 3
    assert all(50 < int(row.split()[-1]) < 300 for row in rows)
    assert "MHz" not in succeeded("estimate", HERE + "linear", "--target", "verilog", "--family", "xcup")
    options = ("--target", "verilog", "--device", "LFE5U-85F", "--json")
    sizes = json.loads(succeeded("estimate", HERE + "linear", *options))["targets"]["verilog"]
    assert sizes["mhz"] > 50 and sizes["parallel"]["mhz"] > 50 and all("mhz" in row for row in sizes["tradeoff"])


def test_compile_says_what_was_chosen(tmp_path: Path) -> None:
    told = succeeded(*COMPILE, "--family", "ecp5", "--mhz", "100", "-o", tmp_path / "d")
    report = json.loads((tmp_path / "d" / "design.json").read_text())["report"]
    assert report["mhz"] >= 100
    levels = report["levels_per_stage"]
    assert f"at most {levels} adders between registers, expected to reach {report['mhz']} MHz on Lattice ECP5" in told


def test_a_number_of_adders_that_is_given_stays(tmp_path: Path) -> None:
    options = ("--levels-per-stage", "9", "--board", "ulx3s-85f", "--mhz", "200")
    told = succeeded(*COMPILE, *options, "-o", tmp_path / "d")
    assert "circuitize: --mhz 200: the design is expected to reach" in told
    assert "levels_per_stage" not in json.loads((tmp_path / "d" / "design.json").read_text())["report"]


FOREIGN = "--mhz: expected --board, --vivado or --family ecp5 beside it, found the family xc7; leave it out"
BAD: dict[tuple[str, ...], str] = {
    ("--mhz", "0", "--family", "ecp5"): "--mhz",
    ("--mhz", "fast", "--family", "ecp5"): "--mhz",
    ("--mhz", "100.5", "--family", "ecp5"): "--mhz",
    ("--mhz", "501", "--family", "ecp5"): "--mhz: expected 1 to 500, found 501; choose another clock",
    ("--mhz", "100", "--family", "xc7"): FOREIGN,
    ("--mhz", "100", "--device", "XC7A35T"): FOREIGN,
}


@pytest.mark.parametrize("options", BAD)
def test_bad_clocks_are_one_line(options: tuple[str, ...], tmp_path: Path) -> None:
    assert BAD[options] in refused(*COMPILE, *options, "-o", tmp_path / "d")


def test_python_has_the_same_clock() -> None:
    """`cz.compile` and `cz.hardware`, which takes the clock of its configuration."""
    model = cz.sequential(cz.dense(4, 3))
    config = {"Model": {"Precision": "ap_fixed<8,4,AP_RND_CONV,AP_SAT>"}, "ClockPeriod": 10}
    network = cz.hardware(model, config, weights=model.initial(0), family="ecp5")
    assert network.report["mhz"] >= 100 and network.report["levels_per_stage"] >= 1
    assert network.table().splitlines()[-1].endswith("MHz on Lattice ECP5, asked for 100")
    assert "mhz" not in cz.hardware(model, config, weights=model.initial(0)).report
