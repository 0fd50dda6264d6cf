"""One frame of a folded design: from an idle design, through all beats of the frame, to an idle design again.

Between frames a design is idle: the registers that a reset makes known, the control, hold one of a few lists of
numbers. All other registers and all entries of memories are taken to be unknown there, but for the state's. So what is
shown of one frame holds of every frame that begins in an idle design, whatever was before it.
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
    """Bits of an entry of a memory, where an element of the state lies."""

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
    """What left in a frame: the beats of each output, the status and what the symbol in its place stands for, and the
    number of clocks.
    """

    beats: dict[str, list[tuple[Word, Word, Word]]]
    status: tuple[Word, Word]
    clocks: int


class Frames:
    """Runs frames of a machine. `bank` is the register that says which bank of the state is read, if there is state."""

    def __init__(
        self, machine: Machine, inputs: Sequence[Stream], outputs: Sequence[Stream], bank: str, most: int
    ) -> None:
        self.machine, self.inputs, self.outputs = machine, inputs, outputs
        self.top, self.most = machine.circuit.placed[""], most
        self.bank = machine.numbers[bank] if bank else None
        self.control: Control = {}

    def reset(self, bank: int) -> Control:
        """Make everything unknown but the bank and what is guarded, and let one edge pass at which rst is 1: what the
        registers then hold that a reset makes known.
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
        """Those registers of a control that keep their numbers, whatever all others hold, until a beat is offered. A
        counter that runs on in an idle design is none of them.
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
        """Let the bank and the control hold their numbers."""
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
        """Raise Refused unless no output is offered."""
        for made in self.outputs:
            if self.machine.values[self.machine.numbers[f"{made.name}_tvalid"]] != 0:
                raise Refused(f"{self.top}: {made.name} is not shown to be silent {when}")

    def _require(self, number: int, word: int | None = None) -> int:
        """The number that a register holds. Raise Refused where that is not known, or is another one."""
        found = self.machine.values[number]
        if not isinstance(found, int) or (word is not None and found != word):
            raise Refused(f"{self.top}: {self.machine.names[number]} is not shown to keep its number between frames")
        return found

    def _put(self, name: str, word: Word) -> None:
        self.machine.put(self.machine.numbers[name], word)

    def _outside(self, valid: Word, ready: Word) -> None:
        """Give every input of the design: what is not valid is unknown."""
        for made in self.inputs:
            self._put(f"{made.name}_tvalid", valid)
            for wire in ("tdata", "tlast", "tkeep"):
                self._put(f"{made.name}_{wire}", Unknown())
        for made in self.outputs:
            self._put(f"{made.name}_tready", ready)

    def now(self) -> Control:
        """The numbers that the registers hold that a reset makes known."""
        return {number: self._require(number) for number in self.control}

    def _rests(self, before: list[Word]) -> bool:
        """Whether these registers hold what they held before."""
        now = [self.machine.values[number] for number in self.control]
        return all(word is old or word == old for word, old in zip(now, before, strict=True))

    def frame(self, beats: Mapping[str, Sequence[Beat]], kept: Sequence[Place] = ()) -> Left:
        """Offer the beats of one frame, one a clock on each stream for as long as there are some, and take all that
        leaves in the clock in which it is offered. The frame ends when the design is idle.

        What is `kept`, the new state, may not be written once the status has left.
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
        """Take what is offered. What is not offered may be waited for or not, so that its ready stays unknown."""
        for name in [made.name for made in self.outputs if self._bit(f"{made.name}_tvalid")]:
            self._put(f"{name}_tready", 1)
        self.machine.settle()

    def _swapped(self, before: Word, told: bool, now: bool) -> Word:
        """The bank of the state after an edge. Raise Refused where it changes at any edge but that of the status."""
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
        """Where in memories that begin with numbers the elements of the new state lie after a frame of unknown words:
        copies of one word are one object.
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
