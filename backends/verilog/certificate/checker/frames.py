"""The run of one frame through a folded design: the design is idle before the first beat of the frame, and idle again
when the frame ends.

The control is the set of registers that a reset makes known. In an idle design the registers of the control hold one of
a few lists of numbers; all other registers, and all entries of memories except those of the state, are taken to be
unknown. So what the checker shows of one frame holds of every frame that begins in an idle design with the same
control, whatever the design did before the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .bits import Bits
from .machine import Machine
from .refusal import Refused
from .streams import STATUS, Beat, Stream, identity, leaving
from .word import Mixed, Unknown, Word


@dataclass(frozen=True)
class Place:
    """A place in a memory at which an element of the state lies: some bits of one entry."""

    memory: int
    entry: int
    low: int
    width: int


Control = dict[int, int]
"""The numbers that registers hold in an idle design, by the registers' numbers."""

Places = list[list[Place]]
"""Where each element of a tensor lies, in order; an element may lie in several memories."""


@dataclass
class Left:
    """The results of one frame: the beats of each output, the symbol of the status with the word for which the symbol
    stands, and the number of clocks.
    """

    beats: dict[str, list[tuple[Word, Word, Word]]]
    status: tuple[Word, Word]
    clocks: int


class Frames:
    """The surroundings of a folded design, which offer the beats of frames to a machine and take the beats that leave.
    `bank` names the register that says which bank of the state the design reads; the name is empty if the design has no
    state.
    """

    def __init__(
        self, machine: Machine, inputs: Sequence[Stream], outputs: Sequence[Stream], bank: str, most: int
    ) -> None:
        self.machine, self.inputs, self.outputs = machine, inputs, outputs
        self.top, self.most = machine.circuit.placed[""], most
        self.bank = machine.numbers[bank] if bank else None
        self.control: Control = {}

    def reset(self, bank: int) -> Control:
        """Return the numbers that registers of a new machine are known to hold after an edge at which rst is 1. Before
        the edge, all registers and entries of memories are unknown, except the bank of the state and the guarded bits.
        """
        machine = self.machine
        self._outside(Unknown(), Unknown())
        if self.bank is not None:
            machine.put(self.bank, bank)
        self._put("rst", 1)
        machine.settle()
        self._require_silent("in a reset")
        for made in self.inputs:
            if machine.values[machine.numbers[f"{made.name}_tready"]] != 0:
                raise Refused(f"{self.top}: {made.name}_tready is not shown to be 0 in a reset")
        machine.edge()
        found = {n: word for n in sorted(machine.registers) if isinstance(word := machine.values[n], int)}
        if self.bank is not None and found.pop(self.bank, None) != bank:
            raise Refused(f"{self.top}: a reset changes the bank of the state")
        return found

    def steady(self, bank: int, control: Control) -> Control:
        """Return the registers of a control that keep their numbers until a beat is offered, whatever all other
        registers hold. The result leaves out counters that run on while the design is idle.
        """
        machine = self.machine
        while True:
            machine.restart()
            self._known(bank, control)
            self._outside(0, Unknown())
            machine.settle()
            machine.edge()
            kept = {n: word for n, word in control.items() if machine.values[n] == word}
            if kept == control:
                return control
            control = kept

    def _known(self, bank: int, control: Control) -> None:
        """Set the bank of the state and the registers of the control to the given numbers, and rst to 0."""
        for number, word in control.items():
            self.machine.put(number, word)
        if self.bank is not None:
            self.machine.put(self.bank, bank)
        self._put("rst", 0)

    def begin(self, bank: int, control: Control, fill: Callable[[Machine], None]) -> None:
        """Begin in an idle design: everything is unknown but the bank, the registers of the control, and the entries
        that `fill` gives, which hold the state.

        Raise Refused unless the design stays idle for as long as no beat is offered. No edge has passed afterwards: the
        first beats may be offered in the first clock in which the design is idle.
        """
        machine = self.machine
        machine.restart()
        fill(machine)
        self._known(bank, control)
        self._outside(0, Unknown())
        machine.settle()
        self._require_silent("between frames")
        machine.edge()
        for number, word in control.items():
            self._require(number, word)
        if self.bank is not None:
            self._require(self.bank, bank)
        machine.restart()
        fill(machine)
        self._known(bank, control)
        self.control = control

    def _require_silent(self, when: str) -> None:
        """Raise Refused if the design offers an output."""
        for made in self.outputs:
            if self.machine.values[self.machine.numbers[f"{made.name}_tvalid"]] != 0:
                raise Refused(f"{self.top}: {made.name} is not shown to be silent {when}")

    def _require(self, number: int, word: int | None = None) -> int:
        """Return the number that a register of the machine holds. Raise Refused if the register's number is not known,
        or differs from `word`.
        """
        found = self.machine.values[number]
        if not isinstance(found, int) or (word is not None and found != word):
            raise Refused(f"{self.top}: {self.machine.names[number]} is not shown to keep its number between frames")
        return found

    def _put(self, name: str, word: Word) -> None:
        self.machine.put(self.machine.numbers[name], word)

    def _outside(self, valid: Word, ready: Word) -> None:
        """Set the tvalid of every input stream and the tready of every output stream; all other wires of the input
        streams become unknown.
        """
        for made in self.inputs:
            self._put(f"{made.name}_tvalid", valid)
            for wire in ("tdata", "tlast", "tkeep"):
                self._put(f"{made.name}_{wire}", Unknown())
        for made in self.outputs:
            self._put(f"{made.name}_tready", ready)

    def now(self) -> Control:
        """Return the numbers that the registers of the control hold."""
        return {number: self._require(number) for number in self.control}

    def _rests(self, before: list[Word]) -> bool:
        """Return whether the registers of the control still hold the words in `before`."""
        now = [self.machine.values[number] for number in self.control]
        return all(word is old or word == old for word, old in zip(now, before, strict=True))

    def frame(self, beats: Mapping[str, Sequence[Beat]], kept: Sequence[Place] = ()) -> Left:
        """Run one frame, and return the beats and the status that leave the design, with the number of clocks.

        Each input stream offers its next beat in every clock until all its beats are taken, and each beat of an output
        is taken in the clock in which the design offers the beat. The frame ends when all beats have passed and the
        registers of the control no longer change. `kept` lists the places of the new state, which the design may not
        write once the status has left.
        """
        machine, values = self.machine, self.machine.values
        left = Left({made.name: [] for made in self.outputs}, (0, 0), 0)
        taken = {made.name: 0 for made in self.inputs}
        wanted, told = sum(made.beats for made in self.outputs), False
        swapped = values[self.bank] if self.bank is not None else 0
        closed = Unknown()
        self._outside(0, closed)
        while True:
            for name, count in taken.items():
                self._offer(name, beats[name][count] if count < len(beats[name]) else None)
            machine.settle()
            self._take()
            for name, count in taken.items():
                taken[name] = count + (self._bit(f"{name}_tready") if count < len(beats[name]) else 0)
            for made in self.outputs:
                if self._bit(f"{made.name}_tvalid"):
                    wires = (values[machine.numbers[f"{made.name}_{wire}"]] for wire in ("tdata", "tlast", "tkeep"))
                    data, last, keep = wires
                    left.beats[made.name].append((data, last, keep))
                    wanted -= 1
                    if made.name == STATUS:
                        left.status = machine.told
            done = wanted <= 0 and all(count == len(beats[name]) for name, count in taken.items())
            before = [values[number] for number in self.control] if done else []
            machine.edge()
            for made in self.outputs:
                self._put(f"{made.name}_tready", closed)
            left.clocks += 1
            swapped = self._swapped(swapped, told, bool(left.beats[STATUS]))
            if left.beats[STATUS] and not told:
                told = True
                for place in kept:
                    machine.guard(place.memory, place.entry, place.low, place.width)
            if wanted < 0 or (done and self._rests(before)):
                return left
            if left.clocks >= self.most:
                raise Refused(f"{self.top}: a frame takes more than {self.most} clocks, with {wanted} beats to come")

    def _take(self) -> None:
        """Set the ready signal of every output that is offered to 1; the ready signal of an output that is not offered
        stays unknown, since a sink may wait for the output or not.
        """
        for name in [made.name for made in self.outputs if self._bit(f"{made.name}_tvalid")]:
            self._put(f"{name}_tready", 1)
        self.machine.settle()

    def _swapped(self, before: Word, told: bool, now: bool) -> Word:
        """Return the bank of the state after an edge. Raise Refused if the bank changes at any edge except the one at
        which the status leaves.
        """
        after: Word = self.machine.values[self.bank] if self.bank is not None else 0
        if told == now and after is not before and after != before:
            raise Refused(f"{self.top}: the bank of the state changes where no status leaves")
        return after

    def _offer(self, name: str, beat: Beat | None) -> None:
        given: tuple[Word, ...] = (0, Unknown(), Unknown(), Unknown())
        if beat is not None:
            given = 1, beat.data, beat.last, beat.keep
        for wire, word in zip(("tvalid", "tdata", "tlast", "tkeep"), given, strict=True):
            self._put(f"{name}_{wire}", word)

    def _bit(self, name: str) -> int:
        found = self.machine.values[self.machine.numbers[name]]
        if not isinstance(found, int):
            why = f" ({self.machine.words.refusal})" if self.machine.words.refusal else ""
            raise Refused(f"{self.top}: {name} depends on data, or on what is not there yet{why}")
        return found

    def places(self, left: Left, states: Sequence[Stream]) -> list[Places]:
        """Return the places at which the elements of the new state lie after a frame of unknown words. The search
        covers the memories that a file loads and the design writes, and finds an element because all copies of an
        unknown word are the same object.
        """
        machine = self.machine
        known: dict[int, list[Place]] = {}
        for name, file in machine.circuit.memories.items():
            if file and name in machine.circuit.written:
                memory, width = machine.numbers[name], machine.circuit.nets[name].width
                for entry, word in enumerate(machine.values[memory]):
                    start = 0
                    for part, size in word.parts if isinstance(word, Mixed) else ((word, width),):
                        if not isinstance(part, int | Bits):
                            known.setdefault(id(part), []).append(Place(memory, entry, start, size))
                        start += size
        found = []
        for made in states:
            slots = leaving(machine.words, made, left.beats[made.name])
            found.append([known.get(identity(word, made.bits) or 0, []) for word in slots])
        return found
