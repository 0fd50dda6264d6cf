"""Devices: their names and sizes, blocks of memories by shape, what a device says of a design, estimates by family."""

from __future__ import annotations

import numpy as np
import parallel_networks as networks
import pytest
from cli_programs import refused
from folded_programs import perceptron

from circuitize.api.targets.verilog import FAMILIES as OFFERED
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices import DEVICES, FAMILIES, Asked, device, devices_by_family, holding
from circuitize.backends.verilog.devices.family import ECP5, SEVEN, Family
from circuitize.backends.verilog.devices.holding import percent
from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.folded.arithmetic import multipliers
from circuitize.backends.verilog.folded.functions import Functions
from circuitize.backends.verilog.folded.rows import Rows
from circuitize.backends.verilog.netlist import Kind, Netlist
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.backends.verilog.parallel.choices import TOGETHER, Choices
from circuitize.backends.verilog.parallel.pipeline import pipeline
from circuitize.backends.verilog.signals import Signal
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Multiply, ReLU, Shift


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("LFE5U-85", "LFE5U-85F"),
        ("lfe5u-25f", "LFE5U-25F"),
        ("LFE5U-45F-6BG381C", "LFE5U-45F"),
        ("XC7A35TCSG324-1", "XC7A35T"),
        ("xc7z020clg400-1", "XC7Z020"),
        ("xcvu9p-flgb2104-2-i", "XCVU9P"),
    ],
)
def test_a_device_is_known_by_its_name_and_by_part_numbers(given: str, name: str) -> None:
    assert device(given).name == name


@pytest.mark.parametrize("given", ["LFE5U-8", "LFE5U-850", "lfe5u8"])
def test_an_unknown_name_is_answered_with_near_ones(given: str) -> None:
    with pytest.raises(CircuitizeError, match=r"such as LFE5U-85F.*found '.*; name one of Lattice ECP5 .*XCVU9P$"):
        device(given)
    with pytest.raises(CircuitizeError, match="found ''"):
        device("")


def test_every_device_is_found_and_listed_by_family() -> None:
    assert all(device(name) is found and name in devices_by_family() for name, found in DEVICES.items())
    assert tuple(FAMILIES) == OFFERED
    sizes = {name: (found.lut, found.dsp, found.blocks) for name, found in DEVICES.items()}
    assert sizes["LFE5U-85F"] == (83_640, 156, 208) and sizes["XC7A100T"] == (63_400, 240, 270)


@pytest.mark.parametrize(
    ("words", "bits", "xc7", "ecp5"),
    [(512, 36, 1, 1), (513, 36, 2, 2), (1024, 18, 1, 1), (1024, 19, 2, 2), (16384, 1, 1, 1), (16385, 1, 2, 2)],
)
def test_blocks_follow_from_the_shapes_of_a_block(words: int, bits: int, xc7: int, ecp5: int) -> None:
    assert (SEVEN.blocks(words, bits), ECP5.blocks(words, bits)) == (xc7, ecp5)


@pytest.mark.parametrize("family", FAMILIES)
def test_blocks_hold_the_bits_and_grow_with_them(family: str) -> None:
    for words in (1, 64, 511, 512, 4097):
        blocks = [FAMILIES[family].blocks(words, bits) for bits in range(1, 80)]
        assert blocks == sorted(blocks)
        assert all(18432 * count >= words * bits for bits, count in enumerate(blocks, 1))


def test_multipliers_tile_a_product() -> None:
    assert [ECP5.multipliers(18, 18), ECP5.multipliers(19, 18), ECP5.multipliers(35, 35)] == [1, 2, 4]
    assert [SEVEN.multipliers(18, 25), SEVEN.multipliers(25, 25), SEVEN.multipliers(2, 26)] == [1, 2, 2]
    assert [family.multipliers(19, 19, plain=True) for family in (ECP5, SEVEN)] == [1, 2]


def test_tables_go_into_blocks_where_these_cost_less() -> None:
    """As yosys says of tables of random words: 2,304 bits of an ECP5 do, 2,048 not, and each block needs as many."""
    assert [ECP5.holds_table(words, bits) for words, bits in ((256, 9), (256, 8), (64, 36), (64, 84))] == [
        *(True, False, True, False)
    ]
    assert [SEVEN.holds_table(words, bits) for words, bits in ((1024, 9), (1024, 8), (1024, 20))] == [True, False, True]


def test_tables_take_a_lut_for_each_different_function() -> None:
    """Bits that are equal, constant, or a bit of the address take none; one of 64 words is four of 16 on an ECP5."""
    drawn = np.random.default_rng(0).integers(0, 2, 64)
    for family, each in ((SEVEN, 1), (ECP5, 4)):
        for bits, columns, luts in (
            (1, drawn, each),
            (2, drawn * 3, each),
            (3, drawn + 6, each),
            (1, np.arange(64) & 1, 0),
            (2, (np.arange(64) >> 2) & 3, 0),
            (1, np.tile(drawn[:16], 4), 1),
        ):
            found = Functions(family)
            found.add(columns, bits)
            assert found.luts == luts, (family.name, bits, luts)
    found = Functions(SEVEN)
    found.add(drawn + 6, 3)
    found.add(drawn, 1)
    assert (found.luts, found.registers) == (1, 1)
    found.add(np.random.default_rng(1).integers(0, 2, 512), 1)
    assert found.luts == 1 + 8 + 1


@pytest.mark.parametrize(
    ("family", "words", "luts"),
    [(ECP5, 24, 2), (ECP5, 48, 4), (ECP5, 100, 4 + 4 + 1), (SEVEN, 24, 1), (SEVEN, 80, 2), (SEVEN, 200, 4)],
)
def test_a_table_that_is_no_power_of_two_long_takes_the_luts_of_the_next(family: Family, words: int, luts: int) -> None:
    """Its last words are few, but LUTs are joined two and two; beyond the joined ones a LUT chooses."""
    found = Functions(family)
    found.add(np.random.default_rng(words).integers(0, 2, words), 1)
    assert found.luts == luts


def test_halves_that_other_bits_have_are_taken_from_there() -> None:
    """Then a LUT that chooses between two of them is less than two LUTs that are joined."""
    halves = np.random.default_rng(3).integers(0, 2, (2, 16))
    found = Functions(ECP5)
    found.add(np.tile(halves[0], 2), 1)
    found.add(np.tile(halves[1], 2), 1)
    assert found.luts == 2
    found.add(halves.reshape(-1), 1)
    assert found.luts == 3


def test_a_power_of_two_takes_no_multiplier() -> None:
    """Nor do its bits need an adder, where it only moves those of the other factor."""
    x, product = Signal("x", -500, 500), Signal("y", -500 * 4096, 500 * 4096)
    for amount, count in ((4096, 0), (4095, 1)):
        sources = [x, Signal("k", amount, amount)]
        assert [multipliers(Multiply(), sources, product, family) for family in (SEVEN, ECP5)] == [count, count]


def test_values_that_wait_are_in_shift_registers() -> None:
    """Three registers in a row whose last alone is read are one LUT a bit; a shift between them takes nothing, a reader
    between them ends the row, and a multiplier holds two registers before a factor.
    """
    x = Signal("x", 0, 255)
    for reads, multiplied, wanted in (
        ([(ReLU(), 3, False)], False, (24, 8)),
        ([(ReLU(), 2, False)], False, (0, 0)),
        ([(ReLU(), 2, False), (ReLU(), 3, False)], False, (0, 0)),
        ([(Multiply(), 3, True)], True, (16, 0)),
        ([(Multiply(), 5, True)], True, (40, 8)),
    ):
        rows = Rows()
        rows.source(x)
        for operation, cycle, product in reads:
            rows.read(operation, [x, x], Signal("y", 0, 255), cycle, product)
        assert rows.held("", 0, 0, multiplied) == wanted
    rows, shifted = Rows(), Signal("y", 0, 15)
    rows.source(x)
    rows.read(Shift(4), [x], shifted, 1, False)
    rows.start(shifted, 1)
    rows.end(shifted, 3)
    assert rows.held("", 0, 0, False) == (12, 4)
    assert rows.held("", 0, 1, False) == (16, 4)


def test_a_device_answers_with_the_scarcest_resource() -> None:
    small = DEVICES["LFE5U-12F"]
    found = holding(small, {"lut": 600, "ff": 12_000, "dsp": 0, "blocks": 205})
    assert not found.holds and found.limit == "blocks"
    assert found.text == "LFE5U-12F: no, 641 % of its memory blocks"
    full = holding(small, {"lut": 600, "ff": 12_000, "dsp": 0, "blocks": 0})
    assert full.holds and full.text == "LFE5U-12F: yes, 100 % of its registers"
    assert full.as_json()["shares"] == {"lut": 0.05, "ff": 1.0, "dsp": 0.0, "blocks": 0.0}
    assert [percent(share) for share in (0.004, 0.0996, 0.999, 1.0001, 20.0)] == [
        "0.4 %",
        "9 %",
        "99 %",
        "101 %",
        "2,000 %",
    ]


def test_a_family_and_a_device_must_agree() -> None:
    assert Asked.of({"device": "LFE5U-85F"}).family is ECP5 and Asked.of({}).family is SEVEN
    with pytest.raises(CircuitizeError, match="expected ecp5, the family of LFE5U-85F, found 'xc7'"):
        Asked.of({"family": "xc7", "device": "LFE5U-85F"})
    with pytest.raises(CircuitizeError, match="expected one of xc7, xcup, ecp5, found 'ice40'"):
        Asked.of({"family": "ice40"})


def test_an_unknown_device_is_refused_before_there_is_work() -> None:
    program = f"{networks.__file__}:none"
    told = refused("compile", program, "--target", "verilog", "--scheduler", "folded", "--device", "LFE5U-8", "-o", "x")
    assert "such as LFE5U-85F" in told
    assert "such as LFE5U-85F" in refused("estimate", program, "--device", "LFE5U-8")


@pytest.mark.parametrize("made", [folded(perceptron((8, 12, 3))), parallel(perceptron((4, 6, 2)))], ids=str)
def test_a_report_has_each_family_and_that_of_7_series_agrees(made: Design) -> None:
    families = made.report["families"]
    assert tuple(families) == tuple(FAMILIES)
    assert {name: made.report[name] for name in ("lut", "ff", "dsp")}.items() <= families["xc7"].items()
    assert families["ecp5"]["lut"] > families["xc7"]["lut"] > 0


def test_equal_bits_of_choices_are_counted_once() -> None:
    """Of 5 or 2 each bit is the condition or its opposite: no LUT, and two registers. A choice between that and 7 has
    three bits of two kinds: 1 where the second condition holds, and else one of the two.
    """
    net = Netlist()
    first, second = net.append(Kind.INPUT, 0, 1, n=0, m=np.arange(2))
    lower = net.append(Kind.SELECT, 2, 5, net.constant(5), net.constant(2), first)
    upper = net.append(Kind.SELECT, 2, 7, net.constant(7), lower, second)
    outputs = np.atleast_1d(upper)
    for levels, luts, registers in ((8, 2, 2), (1, 2, 4)):
        pipe = pipeline(net, outputs, levels)
        choices = Choices(net, pipe)
        assert choices.nodes.sum() == 2
        assert choices.luts(6) == pytest.approx(TOGETHER * luts)
        assert choices.registers == registers


def test_a_multiplier_adds_to_a_product_that_nothing_else_reads() -> None:
    x, product, total = Signal("x", 0, 255), Signal("p", 0, 65025), Signal("y", 0, 65280)
    for others, wanted in ((False, True), (True, False)):
        rows = Rows()
        rows.source(x)
        rows.read(Multiply(), [x, x], product, 0, True)
        rows.start(product, 1)
        rows.read(Add(), [product, x], total, 1, False)
        if others:
            rows.end(product, 2)
        assert rows.follows("y") is wanted
