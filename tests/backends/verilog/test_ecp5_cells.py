"""Models of an ECP5's parts: equal to what yosys maps to them, and to what nextpnr-ecp5 says that its own parts are."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from ecp5_designs import DESIGNS, simulated

from circuitize.backends.verilog.board import netlist
from circuitize.backends.verilog.board.ulx3s import primitive

PART = {"memory": "DP16KD"} | dict.fromkeys(("signed", "unsigned", "registers"), "MULT18X18D")
FEW = ("memory of 36 bits", "signed product")


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.deep) for name in DESIGNS]
)
def test_a_part_is_what_yosys_takes_it_for(name: str, tmp_path: Path) -> None:
    """The design and its netlist give the same numbers, clock by clock."""
    assert simulated(name, tmp_path, PART[name.split()[0]]) == ["ended"]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("memory of 18 bits", "if (wea) words", "if (wea & ~ada[5]) words"),
        ("memory of 36 bits", "words[upper] <=", "words[upper] <= 18'd0 &"),
        ("memory of 4 bits", "+ {4'd0, low[3]}", "+ 5'd0"),
        ("signed product", "{19{signed_a & a[17]}}", "{19{1'b0}}"),
    ],
)
def test_a_wrong_model_is_noticed(name: str, right: str, wrong: str, tmp_path: Path) -> None:
    assert len(simulated(name, tmp_path, PART[name.split()[0]], (right, wrong))) > 1


def comb(init: int, mode: str, **pins: list[int]) -> netlist.Part:
    parameters = {"INITVAL": f"{init:016b}", "MODE": mode, "WREMUX": "WRE", "CCU2_INJECT1": "NO"}
    return {"type": "TRELLIS_COMB", "parameters": parameters, "connections": pins}


def routed(parts: list[netlist.Part], into: dict[str, int], out: dict[str, int]) -> netlist.Routed:
    ports: dict[str, netlist.Pins] = {name: {"direction": "input", "bits": [number]} for name, number in into.items()}
    ports |= {name: {"direction": "output", "bits": [number]} for name, number in out.items()}
    return {"modules": {"top": {"ports": ports, "cells": {f"p{k}": part for k, part in enumerate(parts)}}}}


def evaluated(parts: list[netlist.Part], into: dict[str, int], out: dict[str, int], folder: Path) -> list[str]:
    """The outputs for every input, in order, each as bits."""
    text = "\n".join(netlist.written(routed(parts, into, out), "made"))
    wires = "".join(f"  wire {name};\n" for name in out)
    pins = ", ".join([*(f".{name}(at[{k}])" for k, name in enumerate(into)), *(f".{name}({name})" for name in out)])
    bench = f"module bench;\n  reg [{len(into)}:0] at;\n{wires}  made made ({pins});\n"
    bench += f"  initial for (at = 0; at < {1 << len(into)}; at = at + 1) begin\n    #1;\n"
    bench += f'    $display("%b", {{{", ".join(out)}}});\n  end\nendmodule\n'
    (folder / "all.v").write_text(primitive("ecp5_cells") + text + "\n" + bench)
    subprocess.run(["iverilog", "-g2005", "-o", "all.vvp", "-s", "bench", "all.v"], cwd=folder, check=True)
    done = subprocess.run(["vvp", "-n", "all.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_tables_carries_and_multiplexers(tmp_path: Path) -> None:
    """For every input: tables of four, five and six inputs, one that lacks inputs, which are 1, and an addition."""
    into = {name: number for number, name in enumerate("abcdmn")}
    four = {"A": [0], "B": [1], "C": [2], "D": [3]}
    inits = (0x6A31, 0xC05E, 0x9BD4, 0x137F)
    parts = [
        comb(inits[0], "LOGIC", **four, F=[10], F1=[11], M=[4], OFX=[20]),
        comb(inits[1], "LOGIC", **four, F=[11], FXA=[20], FXB=[21], M=[5], OFX=[22]),
        comb(inits[2], "LOGIC", **four, F=[12], F1=[13], M=[4], OFX=[21]),
        comb(inits[3], "LOGIC", **four, F=[13]),
        comb(inits[0], "LOGIC", A=[0], C=[2], F=[14]),
        # a + b, and a carry c in: the sum's two bits.
        comb(0x000A, "CCU2", A=[2], FCO=[15]),
        comb(0x66AA, "CCU2", A=[0], B=[1], FCI=[15], F=[16], FCO=[17]),
        comb(0x0000, "CCU2", FCI=[17], F=[18]),
    ]
    found = evaluated(parts, into, {"six": 22, "five": 20, "two": 14, "low": 16, "high": 18}, tmp_path)
    for at, (n, m, d, c, b, a) in enumerate(itertools.product((0, 1), repeat=6)):
        index = d << 3 | c << 2 | b << 1 | a
        table = [init >> index & 1 for init in inits]
        five = table[1] if m else table[0]
        total = a + b + c
        wanted = [(table[3] if m else table[2]) if n else five, five, inits[0] >> (0b1010 | c << 2 | a) & 1]
        assert found[at] == "".join(map(str, [*wanted, total & 1, total >> 1]))


def test_a_carry_that_takes_no_part(tmp_path: Path) -> None:
    """Where nothing is injected, a table that is 0 stops the carry, and the value is the table's alone."""
    part = comb(0x8000, "CCU2", A=[0], FCI=[1], F=[2], FCO=[3])
    part["parameters"]["CCU2_INJECT1"] = "YES"
    found = evaluated([part], {"a": 0, "carry": 1}, {"f": 2, "fco": 3}, tmp_path)
    assert found == ["00", "10", "00", "11"]


def held(**connections: list[int | str]) -> netlist.Part:
    """A multiplier with its product in a register, and constants as factors."""
    pins = [f"{way}{k}MUX" for way in "AB" for k in range(18)] + ["SIGNEDAMUX", "SIGNEDBMUX"]
    parameters = {"REG_OUTPUT_CLK": "CLK0", **dict.fromkeys(pins, "0")}
    return {"type": "MULT18X18D", "parameters": parameters, "connections": connections}


REFUSED: dict[str, tuple[netlist.Part, str]] = {
    "a part": ({"type": "ALU54B", "parameters": {}, "connections": {}}, "a part ALU54B"),
    "a mode": (comb(0, "RAMW"), "MODE is 'RAMW'"),
    "a register's clock": (
        {"type": "TRELLIS_FF", "parameters": {"CLKMUX": "0 "}, "connections": {}},
        "CLKMUX is '0', no CLK or INV",
    ),
    "registers in a multiplier": (
        {"type": "MULT18X18D", "parameters": {"REG_INPUTA_CLK": "CLK0"}, "connections": {}},
        "REG_INPUTA_CLK is 'CLK0', no NONE",
    ),
    "a reset of a multiplier": (
        {"type": "MULT18X18D", "parameters": {"REG_OUTPUT_CLK": "CLK0", "RESETMODE": "ASYNC"}, "connections": {}},
        "RESETMODE is 'ASYNC', no SYNC",
    ),
    "a global reset of a multiplier": (
        {"type": "MULT18X18D", "parameters": {"GSR": "ENABLED"}, "connections": {}},
        "GSR is 'ENABLED', no DISABLED",
    ),
    "an open reset": (held(CLK0=[1]), "nothing drives RST0"),
    "an open clock": (held(RST0=["0"]), "nothing drives CLK0"),
    "an open factor": ({"type": "MULT18X18D", "parameters": {}, "connections": {}}, "nothing drives A0"),
    "a block's register": (
        {"type": "DP16KD", "parameters": {"REGMODE_A": "OUTREG"}, "connections": {}},
        "REGMODE_A is 'OUTREG', no NOREG",
    ),
    "a block's reset": ({"type": "DP16KD", "parameters": {}, "connections": {"RSTA": [5]}}, "port A has a select"),
    "a width": (
        {"type": "DP16KD", "parameters": {"DATA_WIDTH_A": "1000"}, "connections": {}},
        "DATA_WIDTH_A is 8",
    ),
    "both ways": ({"type": "TRELLIS_IO", "parameters": {"DIR": "BIDIR"}, "connections": {}}, "DIR is 'BIDIR'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_model_is_refused(name: str) -> None:
    part, said = REFUSED[name]
    with pytest.raises(netlist.Unknown, match=said):
        list(netlist.written(routed([part], {}, {}), "made"))
