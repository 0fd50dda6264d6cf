"""The claims that the checker shows of a folded design: each frame gives what the statement says, and leaves the design
ready for the next frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .bits import After, Bits
from .edges import Json, Stated, require_form
from .folded_circuit import FoldedCircuit
from .folded_reading import read_folded
from .forms import Form
from .frames import Control, Frames, Left, Place, Places
from .machine import Machine
from .refusal import Refused
from .statement import stated
from .status import require_failures
from .streams import STATUS, Beat, Stream, entering, leaving, require_element, require_ports, stream
from .symbols import Symbols
from .syntax import Module
from .tables import LIMIT
from .word import Word
from .words import Words

FORMAT = "circuitize certificate of a folded design, 1"
MOST_CLOCKS = 1 << 24
"""The most clocks within which a certificate may say that a frame ends."""

MOST_STATES = 256
"""The most states between frames, which differ in which banks of memories are next."""

CUT = "core.status_tdata"
"""The net that makes the status, which a symbol of one bit stands for."""

NAMES = ("top", "elements", "streams", "statement", "most", "limit")
"""The keys of a certificate that say what is claimed; the last two, within how many clocks and values it is shown."""

FIELDS = {"format", "program", *NAMES, "files", "clocks", "state", "modules"}


def modules_of(files: Mapping[str, str]) -> dict[str, Module]:
    """Return the modules of a folded design by name, from Verilog files that contain one module each."""
    modules = {}
    for name in sorted(files):
        if name.endswith(".v"):
            module = read_folded(files[name], name)
            if module.name in modules or f"{module.name}.v" != name:
                raise Refused(f"{name}: expected one module of the file's name, found {module.name}")
            modules[module.name] = module
        elif not name.endswith(".hex"):
            raise Refused(f"{name}: expected modules and memories, found another file")
    return modules


def shown_folded(
    files: Mapping[str, str], top: str, elements: str, streams: Json, statement: Json, most: int, limit: int
) -> Json:
    """Return the claims that the checker shows from the files of a folded design: the certificate's `clocks`, `state`
    and `modules`.

    Raise Refused if a claim is not shown, or if a frame takes more than `most` clocks.
    """
    if not all(type(n) is int and 0 < n <= bound for n, bound in ((most, MOST_CLOCKS), (limit, LIMIT))):
        raise Refused(f"expected at most {MOST_CLOCKS} clocks and {LIMIT} values, found {most} and {limit}")
    require_form(statement)
    modules = modules_of(files)
    circuit = FoldedCircuit(modules, top)
    memories = {name: text for name, text in files.items() if name.endswith(".hex")}
    loaded = {*circuit.memories.values()}
    for name in sorted([*modules.keys() - {*circuit.placed.values()}, *memories.keys() - loaded]):
        raise Refused(f"{name}: expected a part of the design, found one that is placed nowhere")
    design = Folded(circuit, memories, elements, streams, statement, most, limit)
    clocks = design.show()
    counts = {name: list(circuit.placed.values()).count(name) for name in sorted(modules)}
    return {
        "clocks": clocks,
        "state": design.initial,
        "modules": [{"module": name, "placed": count} for name, count in counts.items()],
    }


@dataclass
class Run:
    """A run of a folded design: the words and the frames of a new machine, and the statement evaluated on the symbols
    of the same machine.
    """

    words: Words
    frames: Frames
    made: Stated


class Folded:
    """A folded design with the statement that the design must compute. An input of the statement without a stream is
    state, which the output of the same name updates.
    """

    def __init__(
        self,
        circuit: FoldedCircuit,
        memories: Mapping[str, str],
        elements: str,
        streams: Json,
        statement: Json,
        most: int,
        limit: int,
    ) -> None:
        self.circuit, self.memories, self.statement = circuit, memories, statement
        self.most, self.limit = most, limit
        self.top = circuit.placed[""]
        self.inputs: dict[int, Stream] = {}
        states = []
        for number, (port, given) in enumerate(zip(statement["inputs"], streams["inputs"], strict=True)):
            if given is None:
                states.append(number)
            else:
                self.inputs[number] = stream(given[0], port, given[1], elements)
        pairs = zip(statement["outputs"], streams["outputs"], strict=True)
        self.outputs = [stream(given[0], port, given[1], elements) for port, given in pairs]
        self.status = stream(STATUS, {"low": 0, "high": 1, "shape": []}, 1, elements)
        require_ports(circuit, [*self.inputs.values()], [*self.outputs, self.status])
        self.states = {number: self._updates(number) for number in states}
        """The output that updates each input that is state, by their numbers."""
        if len(circuit.first) != bool(states) or any(circuit.nets[name].width != 1 for name in circuit.first):
            raise Refused(f"{self.top}: expected one register with a first value, the bank of the state, found others")
        self.bank = next(iter(circuit.first), "")
        if self.bank and (circuit.nets[self.bank].clocked is None or circuit.source(self.bank) != self.bank):
            raise Refused(
                f"{self.top}: expected a register with a first value, found {self.bank}, which follows no clock"
            )
        if CUT in circuit.nets and circuit.nets[CUT].width != 1:
            raise Refused(f"{self.top}: expected one bit at {CUT}, found {circuit.nets[CUT].width}")
        self.places: list[list[Places]] = []
        """Where each state lies in bank 0 and in bank 1."""
        self.initial: Json = {}

    def _updates(self, number: int) -> int:
        port = self.statement["inputs"][number]
        same = [n for n, other in enumerate(self.statement["outputs"]) if other["name"] == port["name"]]
        if len(same) != 1 or any(
            self.statement["outputs"][same[0]][key] != port[key] for key in ("shape", "low", "high")
        ):
            raise Refused(f"{port['name']}: expected a stream for this input, or an output that updates it")
        return same[0]

    def _run(self, apart: bool) -> Run:
        symbols = Symbols(self.limit)
        words = Words(symbols, apart)
        made = Stated([], [], []) if apart else stated(self.statement, symbols, state=self.states)
        machine = Machine(self.circuit, self.memories, words)
        frames = Frames(machine, [*self.inputs.values()], [*self.outputs, self.status], self.bank, self.most)
        return Run(words, frames, made)

    def show(self) -> int:
        """Show a frame from each bank of the state and each list of numbers that the control can hold, and return the
        most clocks that one of these frames takes.
        """
        if self.states:
            # A frame from one bank tells where the state lies in the other one.
            self.places = [self._found(1), self._found(0)]
            self._begin()
        banks = (0, 1) if self.states else (0,)
        waiting = [(bank, control) for bank in banks for control in [self._reset(bank)]]
        shown: list[tuple[int, Control]] = []
        clocks = 0
        while waiting:
            bank, control = waiting.pop()
            if (bank, control) in shown:
                continue
            if len(shown) == MOST_STATES:
                raise Refused(f"{self.top}: more than {MOST_STATES} states between frames")
            took, after = self._frame(bank, control)
            clocks = max(clocks, took)
            shown.append((bank, control))
            waiting += [(next_bank, after) for next_bank in banks]
        return clocks

    def _found(self, bank: int) -> list[Places]:
        """Return the places in memories at which a frame that reads the given bank of the state writes the new state.
        The places are only a guess: if the guess is wrong, a later frame is refused.
        """
        run = self._run(True)
        run.frames.begin(bank, self._reset(bank), lambda machine: None)
        unknown = run.words.unknown
        beats = {
            made.name: [Beat(unknown(), int(n == made.beats - 1), unknown(), 0) for n in range(made.beats)]
            for made in self.inputs.values()
        }
        left = run.frames.frame(beats)
        found = run.frames.places(left, [self.outputs[number] for number in self.states.values()])
        for number, places in zip(self.states, found, strict=True):
            if not all(places):
                name = self.statement["inputs"][number]["name"]
                raise Refused(f"{self.top}: element {places.index([])} of the state {name} is found in no memory")
        return found

    def _begin(self) -> None:
        """Read from the files of the design's memories the state with which the design begins."""
        machine = self._run(True).frames.machine
        first = self.circuit.first[self.bank]
        for number, places in zip(self.states, self.places[first], strict=True):
            port = self.statement["inputs"][number]
            made = self.outputs[self.states[number]]
            values = []
            for element, copies in enumerate(places):
                found = {_initial(machine, place, made.signed) for place in copies}
                value = found.pop() if len(found) == 1 else None
                if value is None or not port["low"] <= value <= port["high"]:
                    raise Refused(
                        f"{self.top}: element {element} of the state {port['name']} begins with no number of it"
                    )
                values.append(value)
            self.initial[port["name"]] = values

    def _reset(self, bank: int) -> Control:
        """Return the numbers that registers are known to hold after a reset of a design that reads the given bank of
        the state. Raise Refused if the reset may change which bank the design reads, or the state in the bank that the
        design reads.
        """
        run = self._run(True)
        for places in self.places[bank] if self.places else []:
            for place in (place for copies in places for place in copies):
                self._place(run.frames.machine, place, run.words.unknown())
        return run.frames.steady(bank, run.frames.reset(bank))

    def _frame(self, bank: int, control: Control) -> tuple[int, Control]:
        """Show one frame in which the design reads the given bank of the state. Return how many clocks the frame takes,
        and the numbers that the registers of the control hold after the frame.
        """
        run = self._run(False)
        words, frames, machine = run.words, run.frames, run.frames.machine

        def fill(machine: Machine) -> None:
            for number, places in zip(self.states, self.places[bank] if self.states else [], strict=True):
                for form, copies in zip(run.made.entering[number], places, strict=True):
                    for place in copies:
                        self._place(machine, place, Bits(((form, place.width, After()),)))

        machine.cut = machine.numbers.get(CUT)
        frames.begin(bank, control, fill)
        beats = {
            made.name: list(entering(words, made, run.made.entering[number])) for number, made in self.inputs.items()
        }
        new = self.places[1 - bank] if self.states else []
        left = frames.frame(beats, [place for places in new for copies in places for place in copies])
        wrong = [beat.wrong for given in beats.values() for beat in given]
        self._compare(run, left, wrong)
        self._require_state(run, left, bank)
        return left.clocks, frames.now()

    def _place(self, machine: Machine, place: Place, word: Word) -> None:
        machine.fill(place.memory, place.entry, place.low, place.width, word)

    def _compare(self, run: Run, left: Left, wrong: Sequence[int]) -> None:
        """Raise Refused unless the outputs and the status that left in a frame are those of the statement."""
        words, wires = run.words, run.made.wires
        for made, port in zip(self.outputs, self.statement["outputs"], strict=True):
            if not 0 <= port["wire"] < len(wires) or list(wires[port["wire"]].shape) != port["shape"]:
                raise Refused(f"{made.name}: expected a wire of the statement, of the output's shape")
            slots = leaving(words, made, left.beats[made.name])
            for place, (word, form) in enumerate(zip(slots, wires[port["wire"]].flat, strict=True)):
                require_element(words, made, place, word, form)
        (status,) = leaving(words, self.status, left.beats[STATUS])
        symbol, told = left.status
        bits = words.bits(symbol, 1)
        if bits is None or words.bits(told, 1) is None:
            raise Refused(f"{self.top}: {STATUS} is not shown")
        slot = words.bits(status, self.status.pitch)
        if slot is not None and slot.last:
            raise Refused(f"{self.top}: {STATUS} relies on a check, and must not")
        require_element(words, self.status, 0, status, words.operators.form(bits, False))
        require_failures(words, told, run.made.failures, wrong, self.top)

    def _require_state(self, run: Run, left: Left, bank: int) -> None:
        """Raise Refused unless the bank that a frame reads still holds the old state after the frame, the other bank
        holds the new state, and the design reads the other bank next exactly where the status is 0.
        """
        words, machine, symbols = run.words, run.frames.machine, run.words.symbols
        for which, (number, output) in enumerate(self.states.items()):
            name = self.statement["inputs"][number]["name"]
            wanted = run.made.wires[self.statement["outputs"][output]["wire"]]
            made = self.outputs[output]
            both = (self.places[bank], run.made.entering[number]), (self.places[1 - bank], wanted.flat)
            for places, forms in both:
                for element, (copies, form) in enumerate(zip(places[which], forms, strict=True)):
                    for place in copies:
                        word = machine.held(place.memory, place.entry, place.low, place.width)
                        found = words.number(word, place.width, made.signed)
                        if found is None or not symbols.same(found, form):
                            raise Refused(f"{self.top}: element {element} of the state {name} is not shown to be kept")
        if self.states:
            status = words.bits(left.status[0], 1)
            found_bank = words.bits(machine.values[machine.numbers[self.bank]], 1)
            if status is None or found_bank is None or status.last or found_bank.last:
                raise Refused(f"{self.top}: the bank of the state is not shown to follow the status")
            swapped = words.operators.form(status, False)
            after = words.operators.form(found_bank, False)
            wanted_bank = symbols.select(swapped, *(Form({}, value) for value in (bank, 1 - bank)))
            if not symbols.same(after, wanted_bank):
                raise Refused(f"{self.top}: the bank of the state changes otherwise than where the status is 0")


def _initial(machine: Machine, place: Place, signed: bool) -> int | None:
    numbers = machine.entries[place.memory]
    if place.entry >= len(numbers):
        return None
    value = numbers[place.entry] >> place.low & ((1 << place.width) - 1)
    return value - (value >> (place.width - 1) << place.width) if signed else value
