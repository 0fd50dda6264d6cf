"""Writes a design that nextpnr-ecp5 has placed and routed as Verilog, to be simulated with ecp5_cells.v.

python3 netlist.py ROUTED.json TOP > NETLIST.v

The Verilog has every part, connection and setting of ROUTED.json, which nextpnr-ecp5 writes with --write. A part or a
setting that ecp5_cells.v does not model is refused.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class Part(TypedDict):
    """A part of a routed design: its kind, its settings, and the wires or constants at its pins."""

    type: str
    parameters: dict[str, str]
    connections: Mapping[str, Sequence[int | str]]


class Pins(TypedDict):
    """A port of a routed module: its direction and its wires."""

    direction: str
    bits: Sequence[int | str]


class Module(TypedDict):
    """A module of a routed design: its ports and parts by name."""

    ports: dict[str, Pins]
    cells: dict[str, Part]


class Routed(TypedDict):
    """A routed design: its modules by name, of which there is one."""

    modules: dict[str, Module]


class Unknown(Exception):
    """An error about a part, or a setting of a part, that ecp5_cells.v does not model."""


def setting(part: Part, name: str, default: str = "") -> str:
    """Return a setting of a part as text, without the space at the end of settings that could be read as bits."""
    return str(part["parameters"].get(name, default)).strip()


def bits(text: str) -> str:
    """Return bits in the notation of nextpnr as a Verilog literal, with 0 for bits that are left open."""
    known = text.strip().replace("x", "0") or "0"
    return f"{len(known)}'b{known}"


def net(part: Part, pin: str) -> str | None:
    """Return the wire at a pin, or None if there is none."""
    found = part["connections"].get(pin, [])
    if not found:
        return None
    return f"n{found[0]}" if isinstance(found[0], int) else f"1'b{int(found[0] == '1')}"


def driven(part: Part, pin: str, default: str = "1'b1") -> str:
    """Return what drives an input: a wire, the constant to which its multiplexer is set, or the default if nothing
    drives it.
    """
    chosen, wire = setting(part, f"{pin}MUX", pin), net(part, pin) or default
    if chosen in ("0", "1"):
        return f"1'b{chosen}"
    if chosen not in (pin, "INV"):
        raise Unknown(f"{part['type']}: {pin}MUX is {chosen!r}")
    return f"~{wire}" if chosen == "INV" else wire


def require(part: Part, **allowed: tuple[str, ...]) -> None:
    """Raise Unknown for a setting that is not among the allowed ones; a setting that is absent counts as the first of
    these.
    """
    for name, values in allowed.items():
        found = setting(part, name, values[0])
        if found not in values:
            raise Unknown(f"{part['type']}: {name} is {found!r}, no {' or '.join(values)}")


def vector(part: Part, name: str, count: int, pin: Callable[[Part, str], str] = driven) -> str:
    """Return the pins NAME0, NAME1, ... as a vector."""
    return "{" + ", ".join(pin(part, f"{name}{k}") for k in reversed(range(count))) + "}"


def table(part: Part, name: str) -> Iterator[str]:
    """Write a look-up table, which is plain, has a carry or serves as memory, and the multiplexer behind the look-up
    table.
    """
    require(part, WREMUX=("WRE", "INV"), WCKMUX=("WCK",), MODE=("LOGIC", "CCU2", "DPRAM", "RAMW_BLOCK"))
    mode = setting(part, "MODE", "LOGIC")
    if mode == "RAMW_BLOCK":  # What a memory's write port takes the place of.
        return
    value = net(part, "F") or f"{name}_f"
    if not net(part, "F"):
        yield f"wire {value};"
    pins = [f".init({bits(setting(part, 'INITVAL', '0'))})", f".f({value})"]
    pins += [f".{pin.lower()}({net(part, pin) or ONE})" for pin in "ABCD"]
    kind = {"LOGIC": "table", "CCU2": "carry", "DPRAM": "memory"}[mode]
    if mode == "CCU2":
        require(part, CCU2_INJECT1=("NO", "YES"))
        injects = int(setting(part, "CCU2_INJECT1", "NO") == "YES")
        pins += [f".injects(1'b{injects})", f".fci({net(part, 'FCI') or ONE})", f".fco({net(part, 'FCO') or ''})"]
    elif mode == "DPRAM":
        pins += [f".{pin.lower()}({driven(part, pin)})" for pin in ("WCK", "WRE", "WD")]
        pins += [f".wad{k}({driven(part, f'WAD{k}')})" for k in range(4)]
    yield f"ecp5_{kind} {name} ({', '.join(pins)});"
    if net(part, "OFX"):
        one, other = (net(part, "FXB"), net(part, "FXA")) if net(part, "FXA") else (net(part, "F1"), value)
        if one is None or other is None:
            raise Unknown("TRELLIS_COMB: a multiplexer without two sources")
        yield f"assign {net(part, 'OFX')} = {net(part, 'M') or ONE} ? {one} : {other};"


def write_port(part: Part, name: str) -> Iterator[str]:
    """Write the pins by which neighbouring look-up tables that serve as memories are written."""
    for out, into in zip(WRITTEN, ("D0", "B0", "C0", "A0", "C1", "A1", "D1", "B1"), strict=True):
        if net(part, out):
            yield f"assign {net(part, out)} = {net(part, into) or ONE};"


def register(part: Part, name: str) -> Iterator[str]:
    """Write a register, whose value comes from the neighbouring look-up table or directly from a pin."""
    require(part, CLKMUX=("CLK", "INV"), SRMODE=("LSR_OVER_CE", "ASYNC"), REGSET=("RESET", "SET"), SD=("0", "1"))
    require(part, LSRMODE=("LSR",), GSR=("DISABLED",))
    value = net(part, "DI" if setting(part, "SD", "0") == "1" else "M") or ONE
    kind = "_async" if setting(part, "SRMODE") == "ASYNC" else ""
    pins = [f".clk({driven(part, 'CLK')})", f".ce({driven(part, 'CE')})", f".lsr({driven(part, 'LSR', ZERO)})"]
    pins += [f".set(1'b{int(setting(part, 'REGSET') == 'SET')})", f".d({value})", f".q({net(part, 'Q') or ''})"]
    yield f"ecp5_register{kind} {name} ({', '.join(pins)});"


def multiplier(part: Part, name: str) -> Iterator[str]:
    """Write a multiplier of 18 by 18 bits, whose product may be in its register."""
    for key in part["parameters"]:
        if key.startswith("REG_") and key.endswith("_CLK"):
            require(part, **{key: ("NONE", "CLK0") if key == "REG_OUTPUT_CLK" else ("NONE",)})
    require(part, REG_OUTPUT_CE=("CE0",), REG_OUTPUT_RST=("RST0",), RESETMODE=("SYNC",), CLK0_DIV=("ENABLED",))
    require(part, GSR=("DISABLED",))
    for pin in [f"{way}{k}" for way in "AB" for k in range(18)] + ["SIGNEDA", "SIGNEDB"]:
        if net(part, pin) is None and f"{pin}MUX" not in part["parameters"]:
            raise Unknown(f"MULT18X18D: nothing drives {pin}")
    pins = [f".a({vector(part, 'A', 18)})", f".b({vector(part, 'B', 18)})"]
    pins += [f".signed_a({driven(part, 'SIGNEDA')})", f".signed_b({driven(part, 'SIGNEDB')})"]
    held = int(setting(part, "REG_OUTPUT_CLK", "NONE") == "CLK0")
    for pin in ("CLK0", "RST0") if held else ():
        if net(part, pin) is None:
            raise Unknown(f"MULT18X18D: nothing drives {pin}")
    pins += [f".{pin}({driven(part, f'{pin.upper()}0')})" for pin in ("clk", "ce", "rst")]
    yield f"wire [35:0] {name}_p;"
    yield f"ecp5_multiplier #(.HELD({held})) {name} ({', '.join(pins)}, .p({name}_p));"
    yield from taken(part, name, "P", 36)


def block(part: Part, name: str) -> Iterator[str]:
    """Write a block memory of the FPGA."""
    shows = ("READBEFOREWRITE", "WRITETHROUGH", "NORMAL")
    given, pins = [], [f".init({{{', '.join(initial(part))}}})"]
    for way in "AB":
        mode, width = f"WRITEMODE_{way}", int(setting(part, f"DATA_WIDTH_{way}", "10010"), 2)
        require(part, **{mode: ("NORMAL", *shows), f"REGMODE_{way}": ("NOREG",), f"CSDECODE_{way}": ("0b000",)})
        if width not in (1, 2, 4, 9, 18, 36):
            raise Unknown(f"DP16KD: DATA_WIDTH_{way} is {width}")
        if width == 36 and way == "B" and driven(part, "WEB") not in OFF:
            raise Unknown("DP16KD: port B writes 36 bits")
        off = [*(driven(part, f"CS{way}{k}") for k in range(3)), driven(part, f"RST{way}")]
        if any(wire not in OFF for wire in off):
            raise Unknown(f"DP16KD: port {way} has a select or a reset")
        small = way.lower()
        given += [f".WIDTH_{way}({width})", f".SHOWS_{way}({shows.index(setting(part, mode, 'NORMAL'))})"]
        pins += [f".{pin.lower()}({driven(part, pin)})" for pin in (f"CLK{way}", f"CE{way}", f"WE{way}")]
        pins += [f".ad{small}({vector(part, f'AD{way}', 14)})", f".di{small}({vector(part, f'DI{way}', 18)})"]
        pins.append(f".do{small}({name}_{small})")
        yield f"wire [17:0] {name}_{small};"
        yield from taken(part, f"{name}_{small}", f"DO{way}", 18, whole=True)
    yield f"ecp5_block #({', '.join(given)}) {name} ({', '.join(pins)});"


def initial(part: Part) -> Iterator[str]:
    """Yield the first contents of a block memory, the highest words first; the file has 20 bits for each word, of which
    18 are used.
    """
    for number in reversed(range(64)):
        text = setting(part, f"INITVAL_{number:02X}", "0" * 320).replace("x", "0").rjust(320, "0")
        yield "288'b" + "".join(text[at + 2 : at + 20] for at in range(0, 320, 20))


def taken(part: Part, name: str, pin: str, count: int, whole: bool = False) -> Iterator[str]:
    """Write the assignments of the bits of a part's output to wires."""
    for k in range(count):
        if net(part, f"{pin}{k}"):
            yield f"assign {net(part, f'{pin}{k}')} = {name}{'' if whole else '_' + pin.lower()}[{k}];"


def pad(part: Part, name: str) -> Iterator[str]:
    """Write a pin of the FPGA."""
    require(part, DIR=("INPUT", "OUTPUT"))
    inwards = setting(part, "DIR") == "INPUT"
    to, source = ("O", "B") if inwards else ("B", "I")
    if net(part, to):
        yield f"assign {net(part, to)} = {net(part, source) or ONE};"


def passed(into: str, out: str) -> Callable[[Part, str], Iterator[str]]:
    """Return a function that writes a part which only passes a clock on."""

    def lines(part: Part, name: str) -> Iterator[str]:
        yield f"assign {net(part, out)} = {net(part, into)};"

    return lines


def loop(part: Part, name: str) -> Iterator[str]:
    """Write the phase-locked loop of the clock, which is steady from the first cycle."""
    yield from passed("CLKI", "CLKOP")(part, name)
    if net(part, "LOCK"):
        yield f"assign {net(part, 'LOCK')} = 1'b1;"


ZERO, ONE = "1'b0", "1'b1"
OFF = (ZERO, f"~{ONE}")
WRITTEN = tuple(f"{word}{k}" for word in ("WADO", "WDO") for k in range(4))
MODELS = {
    "TRELLIS_COMB": table,
    "TRELLIS_RAMW": write_port,
    "TRELLIS_FF": register,
    "TRELLIS_IO": pad,
    "MULT18X18D": multiplier,
    "DP16KD": block,
    "DCCA": passed("CLKI", "CLKO"),
    "EHXPLLL": loop,
}


def written(routed: Routed, top: str) -> Iterator[str]:
    """Yield the lines of a routed design as a Verilog module of the given name."""
    (module,) = routed["modules"].values()
    ports, wires, lines = module["ports"], set[int](), list[str]()
    for number, part in enumerate(module["cells"].values()):
        if part["type"] not in MODELS:
            raise Unknown(f"a part {part['type']}")
        wires |= {one for found in part["connections"].values() for one in found if isinstance(one, int)}
        lines += MODELS[part["type"]](part, f"c{number}")
    ranges = {name: f"[{len(port['bits']) - 1}:0] " * (len(port["bits"]) > 1) for name, port in ports.items()}
    yield f"module {top} ("
    yield ",\n".join(f"  {port['direction']} wire {ranges[name]}{name}" for name, port in ports.items())
    yield ");"
    yield from (f"  wire n{number};" for number in sorted(wires))
    for name, port in ports.items():
        for place, bit in enumerate(port["bits"]):
            own = f"{name}[{place}]" if ranges[name] else name
            to, source = (f"n{bit}", own) if port["direction"] == "input" else (own, f"n{bit}")
            if bit in wires:
                yield f"  assign {to} = {source};"
    yield from (f"  {line}" for line in lines)
    yield "endmodule"


def main() -> int:
    """Run the command line; return the exit status."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for line in written(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]):
            print(line)
    except Unknown as error:
        print(f"netlist.py: {sys.argv[1]}: expected parts that ecp5_cells.v models, found {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
