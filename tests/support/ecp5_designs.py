"""Small designs that yosys maps to parts of an ECP5, and these parts as the models of the board's bench have them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tiers import count

from circuitize.backends.verilog.board.ulx3s import primitive

CLOCKS = count(300, deep=3000)

SHOWN = {"READBEFOREWRITE": 0, "WRITETHROUGH": 1, "NORMAL": 2}


def memory(width: int, words: int) -> str:
    """A memory that begins with numbers, one port to write and one to read, both in each clock."""
    bits = (words - 1).bit_length()
    return f"""module original (input wire clk, input wire [63:0] draw, output reg [35:0] out);
  reg [{width - 1}:0] kept [0:{words - 1}];
  initial $readmemh("start.hex", kept);
  wire [{bits - 1}:0] near = draw[{bits - 1}:0] & {bits}'h1f;
  always @(posedge clk) begin
    if (draw[40]) kept[near] <= draw[63 -: {width}];
    if (draw[41]) out <= kept[draw[42] ? near : draw[20 +: {bits}]];
  end
  initial out = 0;
endmodule
"""


def product(left: int, right: int, signed: bool) -> str:
    """A product, and a register behind it."""
    word = "signed " if signed else ""
    return f"""module original (input wire clk, input wire [63:0] draw, output reg [35:0] out);
  wire {word}[{left - 1}:0] a = draw[{left - 1}:0];
  wire {word}[{right - 1}:0] b = draw[32 +: {right}];
  wire {word}[{left + right - 1}:0] p = a * b;
  initial out = 0;
  always @(posedge clk) out <= p;
endmodule
"""


STAYS = {
    "enable": ("0", "if (draw[60]) r <= p;", "r"),
    "reset": ("0", "if (draw[61]) r <= 0; else r <= p;", "r"),
    "start": ("1", "r <= p;", "r"),
    "edge": ("0", "r <= p;", "r"),
    "readers": ("0", "r <= p;", "r ^ p"),
}
"""Why a register stays outside a multiplier: its first value, what it takes, and what is read."""


def products() -> str:
    """A product whose register moves into the multiplier, and others whose registers may not."""
    parts, wires, mixed = [], [], "{14'd0, whole}"
    for k, (name, (start, takes, read)) in enumerate(STAYS.items()):
        parts.append(f"""module by_{name} (input wire clk, input wire [63:0] draw, output wire [13:0] out);
  wire [6:0] a = draw[{10 * k} +: 7], b = draw[{10 * k + 9} +: 7];
  wire [13:0] p = a * b;
  reg [13:0] r;
  initial r = {start};
  always @({"neg" if name == "edge" else "pos"}edge clk) {takes}
  assign out = {read};
endmodule
""")
        wires.append(f"  wire [13:0] out{k};\n  by_{name} part{k} (.clk(clk), .draw(draw), .out(out{k}));\n")
        mixed += f" ^ {{{22 - 5 * k}'d0, out{k}{f', {5 * k}' + chr(39) + 'd0' if k else ''}}}"
    top = "module original (input wire clk, input wire [63:0] draw, output wire [35:0] out);\n"
    top += "  wire signed [10:0] a = draw[10:0], b = draw[21:11];\n  reg signed [21:0] whole;\n"
    top += "  initial whole = 0;\n  always @(posedge clk) whole <= a * b;\n"
    return "".join([*parts, top, *wires, f"  assign out = {mixed};\nendmodule\n"])


WORDS = {36: 512, 18: 1024, 9: 2048, 4: 4096, 2: 8192, 1: 16384}
DESIGNS = {
    **{f"memory of {width} bits": memory(width, words) for width, words in WORDS.items()},
    "signed product": product(18, 18, True),
    "unsigned product": product(17, 18, False),
    "registers behind products": products(),
}


def _named() -> str:
    """DP16KD and MULT18X18D with the ports that yosys gives them, as the models have them."""
    pins = [f"input wire DI{way}{k}, output wire DO{way}{k}" for way in "AB" for k in range(18)]
    pins += [f"input wire AD{way}{k}" for way in "AB" for k in range(14)]
    pins += [f"input wire {word}{way}" for way in "AB" for word in ("CE", "OCE", "CLK", "WE", "RST")]
    pins += [f"input wire CS{way}{k}" for way in "AB" for k in range(3)]
    words = ["REGMODE_A", "REGMODE_B", "RESETMODE", "ASYNC_RESET_RELEASE", "CSDECODE_A", "CSDECODE_B", "GSR"]
    words += ["CLKAMUX", "CLKBMUX", "WRITEMODE_A", "WRITEMODE_B"]
    given = [f'parameter {word} = ""' for word in words]
    given += [f"parameter DATA_WIDTH_{way} = 18" for way in "AB"]
    given += [f"parameter [319:0] INITVAL_{n:02X} = 320'd0" for n in range(64)]
    slices = [f"INITVAL_{n:02X}[{20 * k} +: 18]" for n in reversed(range(64)) for k in reversed(range(16))]
    ports, shows = [], []
    for way in "AB":
        small = way.lower()
        address = ", ".join(f"AD{way}{k}" for k in reversed(range(14)))
        data = ", ".join(f"DI{way}{k}" for k in reversed(range(18)))
        out = ", ".join(f"DO{way}{k}" for k in reversed(range(18)))
        ports.append(f".clk{small}(CLK{way}), .ce{small}(CE{way}), .we{small}(WE{way}), .ad{small}({{{address}}})")
        ports.append(f".di{small}({{{data}}}), .do{small}({{{out}}})")
        mode = f"WRITEMODE_{way}"
        number = " : ".join(f'({mode} == "{word}") ? {n}' for word, n in SHOWN.items())
        shows += [f".WIDTH_{way}(DATA_WIDTH_{way})", f".SHOWS_{way}({number} : 2)"]
    block = f"module DP16KD #({', '.join(given)}) ({', '.join(pins)});\n  ecp5_block #({', '.join(shows)}) block (\n"
    block += f"    .init({{{', '.join(slices)}}}),\n    {', '.join(ports)});\nendmodule\n"
    pins = [f"input wire {way}{k}" for way in "ABC" for k in range(18)]
    pins += [f"input wire {word}{way}" for way in "AB" for word in ("SIGNED", "SOURCE")]
    pins += [f"input wire {word}{k}" for word in ("CLK", "CE", "RST") for k in range(4)]
    pins += [f"output wire P{k}" for k in range(36)]
    a, b = (", ".join(f"{way}{k}" for k in reversed(range(18))) for way in "AB")
    out = ", ".join(f"P{k}" for k in reversed(range(36)))
    registers = ["INPUTA", "INPUTB", "INPUTC", "PIPELINE", "OUTPUT"]
    given = [f'parameter REG_{word}_CLK = "NONE"' for word in registers]
    given += [f'parameter {word} = ""' for word in ("REG_OUTPUT_CE", "REG_OUTPUT_RST", "GSR")]
    multiplier = f"module MULT18X18D #({', '.join(given)}) ({', '.join(pins)});\n"
    multiplier += '  ecp5_multiplier #(.HELD((REG_OUTPUT_CLK == "CLK0") ? 1 : 0)) part (\n'
    multiplier += "    .clk(CLK0), .ce(CE0), .rst(RST0), "
    multiplier += f".a({{{a}}}), .b({{{b}}}), .signed_a(SIGNEDA), .signed_b(SIGNEDB), .p({{{out}}}));\n"
    return block + multiplier + "endmodule\n"


_BENCH = f"""module bench;
  reg clk;
  reg [63:0] draw;
  wire [35:0] right, found;
  integer n;
  original source (.clk(clk), .draw(draw), .out(right));
  mapped made (.clk(clk), .draw(draw), .out(found));
  initial begin
    clk = 0;
    draw = 64'h9e3779b97f4a7c15;
    #1 if (right !== found) $display("at first: %h, not %h", found, right);
    for (n = 0; n < {CLOCKS}; n = n + 1) begin
      draw = draw ^ (draw << 13);
      draw = draw ^ (draw >> 7);
      draw = draw ^ (draw << 17);
      #1 clk = 1;
      #1 if (right !== found) $display("clock %0d: %h, not %h", n, found, right);
      clk = 0;
    end
    $display("ended");
  end
endmodule
"""


def simulated(
    name: str,
    folder: Path,
    part: str,
    replaced: tuple[str, str] = ("", ""),
    changed: Callable[[Path], object] = lambda netlist: None,
) -> list[str]:
    """What a bench says that gives a design and its netlist the same numbers; the netlist has so named parts, and is
    changed before.
    """
    (folder / "design.v").write_text(DESIGNS[name])
    width = int(name.split()[2]) if part == "DP16KD" else 0
    if width:
        start = [f"{(n * 40503 + (n >> 3)) % (1 << width):x}\n" for n in range(WORDS[width])]
        (folder / "start.hex").write_text("".join(start))

    def yosys(script: str) -> None:
        subprocess.run(["yosys", "-q", "-p", script], cwd=folder, check=True, capture_output=True)

    yosys(f"read_verilog design.v; synth_ecp5 {'-noflatten ' if width else ''}-top original -json mapped.json")
    changed(folder / "mapped.json")
    yosys("read_json mapped.json; rename original mapped; write_verilog mapped.v")
    assert f"  {part} " in (folder / "mapped.v").read_text()
    cells = primitive("ecp5_cells")
    assert replaced[0] in cells
    (folder / "cells.v").write_text(cells.replace(*replaced) + _named())
    (folder / "bench.v").write_text(_BENCH)
    found = shutil.which("yosys")
    assert found is not None
    shared = Path(found).resolve().parent.parent / "share" / "yosys" / "ecp5"
    # Of yosys' own models those of tables, carries and registers; of block memories it has none.
    own, _, _ = (shared / "cells_sim.v").read_text().partition("(* blackbox *)\nmodule DP16KD")
    (folder / "own.v").write_text(own)
    sources = ["bench.v", "design.v", "mapped.v", "cells.v", "own.v"]
    built = ["iverilog", "-g2012", "-o", "bench.vvp", "-s", "bench", *sources]
    subprocess.run(built, cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
