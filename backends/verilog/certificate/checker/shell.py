"""The shell around the design: elements in slots of whole bytes, and a buffer for one beat on each stream.

Each element of an input lies in the low bits of a slot of the input's beat. A beat is marked as wrong if the rest of a
slot is not filled with the element's sign or with zeros, as the element's format requires, or if tkeep marks a byte as
absent. Each slot of an output is filled up with the element's sign or with zeros.

The buffer for one beat of a stream has the registers `full` and `held`. The signal out_valid of a buffer is 1 if `full`
or in_valid is 1, and in_ready is 1 if `full` is 0; during a reset out_valid and in_ready are 0. The output of a buffer
is the held beat if the buffer is full, else the incoming beat. A buffer is full after a beat that came in and could not
leave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .circuit import Circuit
from .edges import Json
from .evaluation import Evaluation
from .pipeline import STATUS, Logic, free_bits, require_net
from .refusal import Refused
from .statement import element_bits
from .symbols import Symbols
from .syntax import Module

BEATS = ("tdata", "tvalid", "tlast")


def show_shell(
    modules: Mapping[str, Module], top: str, core: str, statement: Json, streams: Json, slots: str
) -> Evaluation:
    """Show that the module `top` is the shell of the module `core`.

    Raise Refused for anything that is not shown of the shell.
    """
    circuit, symbols = Circuit(modules, top, {core}), Symbols()
    if modules[top].parameters:
        raise Refused(f"{top}: expected no parameters, which its user could give otherwise")
    if slots not in ("bytes", "packed"):
        raise Refused(f"expected elements in bytes or packed, found {slots}")
    inside = [path for path, module in circuit.placed.items() if module == core]
    if inside != ["core"]:
        raise Refused(f"{top}: expected {core} placed once, as core, found {inside}")
    given = {name: free_bits(symbols, name, circuit.nets[name].width) for name in sorted(circuit.free)}
    names = [*streams["inputs"], *streams["outputs"], STATUS]
    if len(set(names)) != len(names):
        raise Refused("expected a stream for each port and the status, found one for two")
    places = {}
    for number, name in enumerate(names):
        side = f"{'in' if name in streams['inputs'] else 'out'}{number}_{name}_skid"
        places[name] = side
        for part in ("full", "held"):
            given[f"{side}.{part}"] = free_bits(symbols, f"{side}.{part}", require_net(circuit, f"{side}.{part}"))
    show = _Shell(Evaluation(circuit, symbols, given, {}), top, slots)
    ports = {("clk", "input"), ("rst", "input")}
    for name, port in zip(streams["inputs"], statement["inputs"], strict=True):
        show.input(name, places[name], port)
        ports |= directed(name, "input", "output")
    status = {"low": 0, "high": 1, "shape": []}
    for name, port in zip([*streams["outputs"], STATUS], [*statement["outputs"], status], strict=True):
        show.output(name, places[name], port)
        ports |= directed(name, "output", "input")
    if ports != {(port.name, port.direction) for port in modules[top].ports}:
        raise Refused(f"{top}: expected the ports of its streams, found others")
    _require_apart(circuit, modules[top], modules[core])
    for pin, source in (("core.clk", "clk"), ("core.rst", "rst")):
        if circuit.source(pin) != source:
            raise Refused(f"{top}: expected {source} at {pin}, found another net")
    return show.evaluation


def _require_apart(circuit: Circuit, top: Module, core: Module) -> None:
    """Raise Refused if an input of the core reads an output of the core in the same clock, or an output of the design
    reads an input of the design: what is connected there may do the same, which would close a loop.
    """
    inner = {name for name in circuit.free if name.startswith("core.")}
    _require_unread(circuit, [f"core.{port.name}" for port in core.ports if port.direction == "input"], inner)
    outputs = [port.name for port in top.ports if port.direction == "output"]
    _require_unread(circuit, outputs, circuit.free - inner - {"rst"})


def _require_unread(circuit: Circuit, pins: Sequence[str], given: Collection[str]) -> None:
    """Raise Refused if one of the pins reads one of the given nets in the same clock."""
    front, seen = [*pins], set[str]()
    while front:
        name = front.pop()
        if name in given:
            raise Refused(f"{circuit.placed['']}: {name} is read in the same clock by {' or '.join(pins)}")
        if name not in seen:
            seen.add(name)
            front += [read for driver in circuit.nets[name].drivers for read in driver.sources]


def directed(name: str, beat: str, ready: str) -> set[tuple[str, str]]:
    """Return the ports of a stream, each with its direction."""
    return {(f"{name}_{wire}", beat) for wire in (*BEATS, "tkeep")} | {(f"{name}_tready", ready)}


class _Shell:
    def __init__(self, evaluation: Evaluation, top: str, slots: str) -> None:
        self.evaluation, self.top, self.slots = evaluation, top, slots
        self.logic = Logic(evaluation)
        self.running = self.logic.no(self.logic.bit("rst"))

    def slot(self, port: Json) -> int:
        """Return how many bits of a beat lie from the start of one element to the start of the next."""
        bits = element_bits(port["low"], port["high"])
        return bits if self.slots == "packed" else max(8, 1 << (bits - 1).bit_length())

    def input(self, name: str, place: str, port: Json) -> None:
        """Show the path of an input's beats from outside to the design."""
        logic, count = self.logic, _size(port["shape"])
        bits, slot = element_bits(port["low"], port["high"]), self.slot(port)
        data, keep = logic.vector(f"{name}_tdata"), logic.vector(f"{name}_tkeep")
        self.require_width(f"{name}_tdata", -(-slot * count // 8) * 8)
        self.require_width(f"{name}_tkeep", -(-slot * count // 8))
        elements: list[int] = []
        wrong = []
        for element in range(count):
            here = data[element * slot : (element + 1) * slot]
            elements += here[:bits]
            kept = keep[element * slot // 8 : (element * slot + slot - 1) // 8 + 1]
            fault = [logic.no(logic.all(*kept))]
            if slot > bits and port["low"] < 0:
                fault.append(logic.all(logic.no(logic.all(*here[bits - 1 :])), logic.any(*here[bits - 1 :])))
            elif slot > bits:
                fault.append(logic.any(*here[bits:]))
            wrong.append(logic.any(*fault))
        beat = [*elements, logic.bit(f"{name}_tlast"), logic.any(*wrong)]
        after = [f"core.{name}_{wire}" for wire in ("tdata", "tlast", "tuser")]
        self.place(place, beat, f"{name}_tvalid", f"core.{name}_tready", f"{name}_tready", f"core.{name}_tvalid")
        passed = [function for wire in after for function in logic.vector(wire)]
        if passed != self.held(place, beat):
            raise Refused(f"{self.top}: the beats of {name} reach {name} of the design otherwise than stated")

    def output(self, name: str, place: str, port: Json) -> None:
        """Show the path of an output's beats from the design to outside."""
        logic, count = self.logic, _size(port["shape"])
        bits, slot = element_bits(port["low"], port["high"]), self.slot(port)
        beat = [*logic.vector(f"core.{name}_tdata"), logic.bit(f"core.{name}_tlast")]
        if len(beat) != bits * count + 1:
            raise Refused(f"{self.top}: expected {bits * count} bits of {name}, found {len(beat) - 1}")
        self.place(place, beat, f"core.{name}_tvalid", f"{name}_tready", f"core.{name}_tready", f"{name}_tvalid")
        *elements, last = self.held(place, beat)
        wanted: list[int] = []
        for element in range(count):
            here = elements[element * bits : (element + 1) * bits]
            wanted += here + [here[-1] if port["low"] < 0 else 0] * (slot - bits)
        wanted += [0] * (-len(wanted) % 8)
        logic.require(self.top, f"{name}_tdata", wanted)
        logic.require(self.top, f"{name}_tlast", [last])
        logic.require(self.top, f"{name}_tkeep", [1] * (len(wanted) // 8))

    def held(self, place: str, beat: Sequence[int]) -> list[int]:
        """Return the signals that leave the buffer for a beat."""
        full, kept = self.logic.bit(f"{place}.full"), self.logic.vector(f"{place}.held")
        if len(kept) != len(beat):
            raise Refused(f"{self.top}: expected {place} of {len(beat)} bits, found {len(kept)}")
        return [self.logic.choose(full, old, new) for old, new in zip(kept, beat, strict=True)]

    def place(self, place: str, beat: Sequence[int], valid: str, taken: str, ready: str, offered: str) -> None:
        """Show one buffer for a beat: its two registers, and the handshakes on both sides of the buffer."""
        logic = self.logic
        full = logic.bit(f"{place}.full")
        offer = logic.all(self.running, logic.any(full, logic.bit(valid)))
        module = self.evaluation.circuit.placed[place]
        logic.require(module, ready, [logic.all(self.running, logic.no(full))])
        logic.require(module, offered, [offer])
        logic.require_next(module, f"{place}.full", [logic.all(offer, logic.no(logic.bit(taken)))])
        logic.require_next(module, f"{place}.held", self.held(place, beat))

    def require_width(self, name: str, bits: int) -> None:
        """Raise Refused unless a port has the given number of bits."""
        if require_net(self.evaluation.circuit, name) != bits:
            raise Refused(f"{self.top}: expected {name} of {bits} bits, found another width")


def _size(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size
