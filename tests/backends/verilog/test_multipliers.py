"""Registers that move into multipliers of an ECP5: those behind a product alone, and no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ecp5_designs import STAYS, simulated

from circuitize.backends.verilog.project import multipliers

DESIGN, PART = "registers behind products", "MULT18X18D"
OWN = 22
"""Bits of the product whose register moves."""
SOURCE = Path(multipliers.__file__).read_text()
GUARDS = {
    "enable": ('"CEMUX": "1", ', ""),
    "reset": ("return free and ", "return "),
    "start": ('"REGSET": "RESET", ', ""),
    "edge": ('"CLKMUX": "CLK", ', ""),
    "readers": ("users[0]\n            if len(users) > 1 or ", "users[-1]\n            if "),
}


def ran(path: Path, source: str = SOURCE) -> int:
    """How many registers a text of the script moves in a netlist."""
    script: dict[str, Any] = {"__name__": "script"}
    exec(source, script)
    netlist = json.loads(path.read_text())
    count = sum(script["moved"](module) for module in netlist["modules"].values())
    path.write_text(json.dumps(netlist))
    return int(count)


def test_a_register_moves_and_the_others_stay(tmp_path: Path) -> None:
    counts: list[int] = []
    assert simulated(DESIGN, tmp_path, PART, changed=lambda path: counts.append(ran(path))) == ["ended"]
    assert counts == [OWN] and ran(tmp_path / "mapped.json") == 0


@pytest.mark.deep
@pytest.mark.parametrize("name", STAYS)
def test_a_guard_is_missed(name: str, tmp_path: Path) -> None:
    right, wrong = GUARDS[name]
    assert SOURCE.count(right) == 1
    source = SOURCE.replace(right, wrong)
    assert len(simulated(DESIGN, tmp_path, PART, changed=lambda path: ran(path, source))) > 1


GLOBAL = """module top (input wire clk, input wire rst_n, input wire [6:0] a, input wire [6:0] b, output reg [13:0] r);
  initial r = 0;
  always @(posedge clk or negedge rst_n) if (!rst_n) r <= 0; else r <= a * b;
  GSR all (.GSR(rst_n));
endmodule
"""
"""A register that the global reset clears: yosys then leaves out the register's own reset."""


SETTINGS = {"CEMUX": "1 ", "CLKMUX": "CLK", "REGSET": "RESET", "GSR": "DISABLED"}
"""Those of a register that moves."""


def test_a_register_that_the_global_reset_clears_stays(tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text(GLOBAL)
    told = "read_verilog top.v; synth_ecp5 -top top -json top.json"
    subprocess.run(["yosys", "-q", "-p", told], cwd=tmp_path, check=True, capture_output=True)
    cells = json.loads((tmp_path / "top.json").read_text())["modules"]["top"]["cells"].values()
    (settings,) = {json.dumps(cell["parameters"]) for cell in cells if cell["type"] == "TRELLIS_FF"}
    assert json.loads(settings) == json.loads(settings) | SETTINGS | {"GSR": "ENABLED"}
    assert all(cell["connections"].get("LSR", ["0"]) == ["0"] for cell in cells)
    assert ran(tmp_path / "top.json") == 0


@pytest.mark.parametrize("missing", [None, *SETTINGS])
def test_a_register_moves_only_if_all_its_settings_are_given(missing: str | None) -> None:
    register: multipliers.Cell = {
        "type": "TRELLIS_FF",
        "parameters": {name: value for name, value in SETTINGS.items() if name != missing},
        "port_directions": {"CLK": "input", "CE": "input", "LSR": "input", "DI": "input", "Q": "output"},
        "connections": {"CLK": [2], "CE": [3], "LSR": ["0"], "DI": [4], "Q": [5]},
    }
    product: multipliers.Cell = {
        "type": PART,
        "parameters": {},
        "port_directions": {"P0": "output"},
        "connections": {"P0": [4]},
    }
    assert multipliers.moved({"cells": {"register": register, "product": product}}) == (missing is None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "expected a netlist that yosys wrote"),
        ("[1]", "expected a netlist that yosys wrote"),
        (None, "No such file"),
    ],
)
def test_what_is_no_netlist_is_named(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "netlist.json"
    if text is not None:
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, multipliers.__file__, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert [*tmp_path.iterdir()] == [path] * (text is not None)
    assert text is None or path.read_text() == text
