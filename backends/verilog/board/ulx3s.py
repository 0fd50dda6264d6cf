"""The ULX3S board with an LFE5U-85F: its clock, its serial line over USB, and the files that bring a design onto it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files as resources

from circuitize.circuits.errors import CircuitizeError

from ..bound import Bound
from ..design import Design, Stream
from ..shell import Interface
from ..shell.naming import prefixed
from ..shell.wiring import instance
from .kinds import BAUD, CRYSTAL, Board
from .scripts import README, makefile

PINS = {
    "clk_25mhz": ("G2", "PULLMODE=NONE IO_TYPE=LVCMOS33"),
    "ftdi_txd": ("M1", "PULLMODE=UP IO_TYPE=LVCMOS33"),
    "ftdi_rxd": ("L4", "PULLMODE=UP IO_TYPE=LVCMOS33 DRIVE=4"),
    "wifi_gpio0": ("L2", "PULLMODE=NONE IO_TYPE=LVCMOS33 DRIVE=4"),
    **{
        f"led[{place}]": (site, "PULLMODE=NONE IO_TYPE=LVCMOS33 DRIVE=4")
        for place, site in enumerate(["B2", "C2", "C1", "D2", "D1", "E2", "E1", "H3"])
    },
}
"""The site and the kind of each pin, as the board's own constraints have them."""


def for_serial_line(interface: Interface, made: Bound) -> Interface:
    """Return the interface of a design with one bus, as narrow as the elements allow unless a width is given.

    Raise CircuitizeError for an interface with registers, which a serial line cannot access, or with packed elements.
    """
    if interface.control:
        raise CircuitizeError("--board: expected no --control, found it; a serial line has no registers: leave one out")
    if interface.elements == "packed":
        raise CircuitizeError("--board: expected elements in whole bytes, found --elements packed; leave it out")
    if interface.bus_bits is not None:
        return interface
    leaving = made.program.outputs if made.modal is None else made.modal.leaving()
    formats = [port.format for port in (*made.streamed, *leaving)]
    return replace(interface, bus_bits=max(interface.slot(Stream("", "", False, format, 1)) for format in formats))


def board_files(design: Design, board: Board) -> dict[str, str]:
    """Return the files of the folder `board` by name: Verilog, constraints, a Makefile and the script for the host.

    A design on a board has one bus in and one bus out; the module `NAME_serial` is the design with its serial line, and
    the module `NAME_board` adds the board's clock.
    """
    parts = {f"{name}.v": primitive(name) for name in ("uart_in", "uart_out", "serial_words")}
    parts |= {"serial.v": _serial(design, board), "board.v": board_top(board), "bench.v": bench_top(board)}
    texts = prefixed(parts, "", design.top)
    return {
        **texts,
        "board.lpf": _constraints(),
        "Makefile": makefile(design, board, sorted(texts)),
        **{name: (resources(__package__) / name).read_text() for name in ("host.py", "netlist.py")},
        **{name: (resources(f"{__package__}.primitives") / name).read_text() for name in ("ecp5_cells.v", "bench.cpp")},
        "README.md": README.format(top=design.top, mhz=board.mhz),
    }


@cache
def primitive(name: str) -> str:
    """Return the Verilog of a module that the files of a board place around a design."""
    return (resources(f"{__package__}.primitives") / f"{name}.v").read_text()


def _serial(design: Design, board: Board) -> str:
    """Return the Verilog that puts a design between the incoming and the outgoing bytes of a serial line."""
    into, out = sorted(design.buses, key=lambda bus: bus.output)
    width = into.data_bits
    words = {mode: sum(s.beats for s in into.streams if design.carries(s, mode)) for mode in design.known_modes}
    most = max(words.values(), default=into.beats)
    counted = ", ".join(f"{words[mode]} in one of mode {mode}" for mode in words) or f"{most} in a frame"
    divisor = board.clocks
    clocked = [".clk(clk)", ".rst(rst)"]
    lines = [
        f"// {design.top} at a serial line of {BAUD:,} bits a second, {divisor} clocks each. Words: {counted}.",
        "`default_nettype none",
        "module serial #(",
        f"  parameter DIVISOR = {divisor}",
        ") (",
        "  input wire clk,",
        "  input wire rst,",
        "  input wire line_in,",
        "  output wire line_out,",
        "  output wire [3:0] told",
        ");",
        "  wire [7:0] in_data, out_data;",
        "  wire in_valid, out_valid, out_ready, lost;",
        "  wire word_valid, word_ready, word_last, sent_valid, sent_ready, sent_last;",
        f"  wire [{width - 1}:0] word_data, sent_data;",
        f"  wire [{width // 8 - 1}:0] sent_keep;",
        "  wire unused = ^{sent_keep, sent_last};",
        "  wire [7:0] head;",
        *_final(words, most, most.bit_length()),
        "  // Lamps: a byte comes, words go in, words come out, something was lost.",
        "  assign told = {lost, out_valid, word_valid, ~line_in};",
    ]
    count = {"DIVISOR": "DIVISOR", "COUNT": divisor.bit_length()}
    lines += instance("uart_in", "receiver", count, [*clocked, ".line(line_in)", ".data(in_data)", ".valid(in_valid)"])
    wires = ["in_data", "in_valid", "word_data", "word_valid", "word_ready", "word_last", "sent_data", "sent_valid"]
    wires += ["sent_ready", "out_data", "out_valid", "out_ready", "lost", "head", "final_word"]
    sizes = {"BYTES": width // 8, "COUNT": most.bit_length()}
    lines += instance("serial_words", "words", sizes, [*clocked, *(f".{wire}({wire})" for wire in wires)])
    pins = [f".{into.name}_t{wire}(word_{wire})" for wire in ("data", "valid", "ready", "last")]
    pins += [f".{into.name}_tkeep({{{width // 8}{{1'b1}}}})"]
    pins += [f".{out.name}_t{wire}(sent_{wire})" for wire in ("data", "valid", "ready", "last", "keep")]
    lines += instance(design.top, "design_on_board", {}, [*clocked, *pins])
    pins = [f".{wire}(out_{wire})" for wire in ("data", "valid", "ready")]
    lines += instance("uart_out", "sender", count, [*clocked, *pins, ".line(line_out)"])
    return "\n".join([*lines, "endmodule", "`default_nettype wire", ""])


def _final(words: Mapping[int, int], most: int, bits: int) -> list[str]:
    """Return the Verilog of the wire `final_word`, the number of a frame's last word; with modes, this number depends
    on the mode, which is the frame's first byte.

    A frame with a mode that the design lacks has no last word, and ends when the line is quiet.
    """
    if not words:
        return [f"  wire [{bits}:0] final_word = {bits + 1}'d{most - 1};", "  wire head_unused = ^head;"]
    choices = [f"(head == 8'd{mode}) ? {bits + 1}'d{count - 1} : " for mode, count in words.items()]
    return [f"  wire [{bits}:0] final_word = {''.join(choices)}{bits + 1}'d{1 << bits};"]


def board_top(board: Board) -> str:
    """Return the Verilog of the top module, which makes the design's clock from the board's clock, and resets the
    design until that clock is steady.
    """
    common = math.gcd(board.mhz, CRYSTAL)
    into, back = CRYSTAL // common, board.mhz // common
    out = max(1, 600 // board.mhz)
    disabled = ("PLLRST_ENA", "INTFB_WAKE", "STDBY_ENABLE", "DPHASE_SOURCE", "CLKOS_ENABLE", "CLKOS2_ENABLE")
    settings: dict[str, object] = dict.fromkeys((*disabled, "CLKOS3_ENABLE"), '"DISABLED"')
    settings |= {f"OUTDIVIDER_MUX{letter}": f'"DIV{letter}"' for letter in "ABCD"}
    settings |= {"CLKI_DIV": into, "CLKFB_DIV": back, "CLKOP_DIV": out, "CLKOP_ENABLE": '"ENABLED"'}
    settings |= {"CLKOP_CPHASE": out - 1, "CLKOP_FPHASE": 0, "FEEDBK_PATH": '"CLKOP"'}
    low = ("RST", "STDBY", "PHASESEL0", "PHASESEL1", "PHASEDIR", "PHASESTEP", "PHASELOADREG", "PLLWAKESYNC", "ENCLKOP")
    pins = [".CLKI(clk_25mhz)", ".CLKFB(clk)", ".CLKOP(clk)", ".LOCK(locked)", *(f".{pin}(1'b0)" for pin in low)]
    lines = [
        f"// A ULX3S: its clock of {CRYSTAL} MHz made one of {board.mhz}, a serial line by USB, and lamps.",
        "`default_nettype none",
        "module board #(",
        f"  parameter DIVISOR = {board.clocks}",
        ") (",
        "  input wire clk_25mhz,",
        "  input wire ftdi_txd,",
        "  output wire ftdi_rxd,",
        "  output wire wifi_gpio0,",
        "  output wire [7:0] led",
        ");",
        "  wire clk, locked;",
        "  wire [3:0] told;",
        "  // 1, or the board's other processor takes the chip back.",
        "  assign wifi_gpio0 = 1'b1;",
        f'  (* FREQUENCY_PIN_CLKI="{CRYSTAL}" *)',
        f'  (* FREQUENCY_PIN_CLKOP="{board.mhz}" *)',
        '  (* ICP_CURRENT="12" *) (* LPF_RESISTOR="8" *) (* MFG_ENABLE_FILTEROPAMP="1" *) (* MFG_GMCREF_SEL="2" *)',
        *instance("EHXPLLL", "clock", settings, pins),
        "  reg [7:0] steady;",
        "  reg rst;",
        "  always @(posedge clk or negedge locked)",
        "    if (~locked) begin",
        "      steady <= 8'd0;",
        "      rst <= 1'b1;",
        "    end else begin",
        "      if (rst) steady <= steady + 8'd1;",
        "      rst <= rst & ~(&steady);",
        "    end",
        "  assign led = {3'd0, ~rst, told};",
        *instance(
            "serial",
            "line",
            {"DIVISOR": "DIVISOR"},
            [".clk(clk)", ".rst(rst)", ".line_in(ftdi_txd)", ".line_out(ftdi_rxd)", ".told(told)"],
        ),
    ]
    return "\n".join([*lines, "endmodule", "`default_nettype wire", ""])


def bench_top(board: Board) -> str:
    """Return the Verilog of the top module for a simulator: it has the serial line, the reset and the board's pins, but
    not the board's clock loop.
    """
    pins = [".clk(clk_25mhz)", ".rst(rst)", ".line_in(ftdi_txd)", ".line_out(ftdi_rxd)", ".told(told)"]
    lines = [
        "// The design with its serial line, for a simulator: its clock is the one that is given.",
        "`default_nettype none",
        "module bench #(",
        f"  parameter DIVISOR = {board.clocks}",
        ") (",
        "  input wire clk_25mhz,",
        "  input wire ftdi_txd,",
        "  output wire ftdi_rxd",
        ");",
        "  wire [3:0] told;",
        "  wire told_unused = ^told;",
        "  reg [7:0] steady;",
        "  initial steady = 8'd0;",
        "  wire rst = ~(&steady);",
        "  always @(posedge clk_25mhz) if (rst) steady <= steady + 8'd1;",
        *instance("serial", "line", {"DIVISOR": "DIVISOR"}, pins),
    ]
    return "\n".join([*lines, "endmodule", "`default_nettype wire", ""])


def _constraints() -> str:
    lines = ["BLOCK RESETPATHS;", "BLOCK ASYNCPATHS;", f'FREQUENCY PORT "clk_25mhz" {CRYSTAL}.0 MHZ;']
    for pin, (site, kind) in PINS.items():
        lines += [f'LOCATE COMP "{pin}" SITE "{site}";', f'IOBUF PORT "{pin}" {kind};']
    return "\n".join([*lines, "SYSCONFIG CONFIG_IOVOLTAGE=3.3 COMPRESS_CONFIG=ON MCCLK_FREQ=62;", ""])
