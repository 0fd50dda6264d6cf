"""The machine that runs a folded design clock by clock: nets hold words, registers take new words at each edge, and the
entries of memories hold words.

The machine evaluates a net again only if the net reads another net that has changed. No change is missed, since a net's
word is a function of nothing but the words of the nets that the net reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter

from .compiled import Compiled, Function, Values, joined, sliced
from .elaboration import Scope
from .folded_circuit import FoldedCircuit, Writing
from .nets import Driver
from .refusal import Refused
from .registers import RegisterCompiler
from .stores import Port, compatible, ports
from .word import OPAQUE, Unknown, Word, fits
from .words import Words

DIGITS = re.compile(r"[0-9a-f]+")
ALL = -1
"""Stands for any entry of a memory, where it is not known which one is written."""


class Machine:
    """A machine that runs a folded design: the design's nets with the words that they hold. `guarded` has, for each
    memory, the bits of each entry that the design may not write.
    """

    def __init__(self, circuit: FoldedCircuit, files: Mapping[str, str], words: Words) -> None:
        self.circuit, self.words = circuit, words
        self.numbers: dict[str, int] = {}
        self.names: list[str] = []
        self.values: Values = []
        self.guarded: dict[int, list[int]] = {}
        self.cut: int | None = None
        """A net or register for whose words free symbols stand, which is the status."""
        self.told: tuple[Word, Word] = (Unknown(), Unknown())
        """The symbol that stands for the last word of the cut net, and that word."""
        self._writing: dict[int, set[int]] = {}
        self._roots()
        self._compiler = RegisterCompiler(circuit, words, self.numbers, self._collides)
        self.ports = {self.numbers[name]: list(self._ports(name, made)) for name, made in circuit.written.items()}
        self.registers: dict[int, Function] = {}
        self._nets: dict[int, Function] = {}
        self._widths = [circuit.nets[name].width for name in self.names]
        self._level: list[int] = [0] * len(self.names)
        self._readers: list[list[int]] = [[] for _ in self.names]
        self._loaded: list[list[int]] = [[] for _ in self.names]
        """The registers whose next word reads a net."""
        self._compile()
        self._waiting: list[list[int]] = [[] for _ in range(max(self._level) + 1)]
        self._queues = [self._waiting[level] for level in self._level]
        """For each net the list in which the net waits."""
        self._marked = bytearray(len(self.names))
        self._due: set[int] = set()
        self._load(files)
        self.restart()

    def _roots(self) -> None:
        """Number the nets of the design. All names of one net share a number, and the clock has no number."""
        nets = self.circuit.nets
        for name in nets:
            root = self.circuit.source(name)
            if root == "clk":
                continue
            if root not in self.numbers:
                self.numbers[root] = len(self.names)
                self.names.append(root)
            self.numbers[name] = self.numbers[root]

    def _compile(self) -> None:
        """Compile every net and register, and keep those on which an output or a register with a first value
        depends.
        """
        made: dict[int, Compiled] = {}
        for place, name in enumerate(self.names):
            net = self.circuit.nets[name]
            if net.clocked is not None:
                process, scope = net.clocked
                self._require_clock(self.circuit.net(process.clock, scope), scope)
                made[place] = self._compiler.following(process.body, scope, name)
            elif net.drivers:
                made[place] = self._driven(name)
        kept = self._needed({place: found.reads for place, found in made.items()})
        reads: dict[int, frozenset[int]] = {}
        for place in sorted(kept & made.keys()):
            found, clocked = made[place], self.circuit.nets[self.names[place]].clocked is not None
            if clocked:
                self.registers[place] = found.word
            else:
                self._nets[place], reads[place] = found.word, found.reads
            for read in found.reads:
                (self._loaded if clocked else self._readers)[read].append(place)
        self.ports = {memory: ports for memory, ports in self.ports.items() if memory in kept}
        self._order(reads)

    def _needed(self, reads: Mapping[int, frozenset[int]]) -> set[int]:
        """Return the nets on which the outputs of the design and the registers with first values depend, also through
        other registers and through memories.
        """
        module = self.circuit.modules[self.circuit.placed[""]]
        front = [self.numbers[port.name] for port in module.ports if port.direction == "output"]
        front += [self.numbers[name] for name in self.circuit.first]
        kept: set[int] = set()
        while front:
            place = front.pop()
            if place not in kept:
                kept.add(place)
                front += reads.get(place, ())
                for port in self.ports.get(place, ()):
                    front += port.reads
        return kept

    def _order(self, reads: Mapping[int, frozenset[int]]) -> None:
        """Compute the level of each net that is no register: higher than the levels of all such nets that the net
        reads. Raise Refused if a net depends on itself.
        """
        missing = {place: sum(read in reads for read in found) for place, found in reads.items()}
        front = [place for place, count in missing.items() if not count]
        while front:
            place = front.pop()
            for reader in self._readers[place]:
                self._level[reader] = max(self._level[reader], self._level[place] + 1)
                missing[reader] -= 1
                if not missing[reader]:
                    front.append(reader)
        if any(missing.values()):
            raise Refused(f"{self.circuit.placed['']}: a net depends on itself")

    def _driven(self, name: str) -> Compiled:
        net = self.circuit.nets[name]
        parts = [self._part(driver) for driver in sorted(net.drivers, key=lambda driver: driver.low)]
        (first, *more) = net.drivers
        if not more and first.value is not None:
            return self._compiler.driven(first.value, first.scope, net.width, net.signed)
        reads = frozenset[int]().union(*(part.reads for part in parts))
        return Compiled(net.width, net.signed, reads, joined(self.words, parts))

    def _part(self, driver: Driver) -> Compiled:
        if driver.value is not None:
            return self._compiler.expression(driver.value, driver.scope, driver.width)
        root, whole = self.numbers.get(driver.port), self.circuit.nets[driver.port].width
        if root is None:
            raise Refused(f"{driver.scope.module.name}: {driver.port} is a clock, and is read")
        made = sliced(self.words, itemgetter(root), driver.from_bit, driver.width, whole)
        return Compiled(driver.width, False, frozenset({root}), made)

    def _require_clock(self, name: str, scope: Scope) -> None:
        if self.circuit.source(name) != "clk":
            raise Refused(f"{scope.module.name}: expected clk at {name}, found another net")

    def _ports(self, name: str, made: Writing) -> Iterator[Port]:
        self._require_clock(made.clock, made.scope)
        for port in ports(self._compiler, name, made):
            for read in sorted(port.reads):
                self.circuit.require_ordered(self.names[read])
            yield port

    def _load(self, files: Mapping[str, str]) -> None:
        """Read from the file of each memory the numbers with which the memory's entries begin. The file of a memory
        that the design writes may give only the first entries.
        """
        self.entries: dict[int, list[int]] = {}
        for name, net in self.circuit.nets.items():
            if net.entries:
                file = self.circuit.memories.get(name)
                found = re.split(r"[ \t\n]+", files.get(file, "").strip(" \t\n")) if file else []
                if not all(DIGITS.fullmatch(word) for word in found) or len(found) > net.entries:
                    raise Refused(f"{file} is no file of at most {net.entries} entries")
                numbers = [int(word, 16) for word in found]
                if any(entry >> net.width for entry in numbers) or (file and not numbers):
                    raise Refused(f"{file} is no file of entries of {net.width} bits")
                if name not in self.circuit.written and len(numbers) != net.entries:
                    raise Refused(f"{file} is no file of {net.entries} entries")
                self.entries[self.numbers[name]] = numbers

    def restart(self) -> None:
        """Make every register unknown, and every entry of the memories that the design writes. All other nets are
        evaluated again when the machine settles.
        """
        self.values[:] = [self.words.unknown() for _ in self.names]
        for place, numbers in self.entries.items():
            name = self.names[place]
            count = self.circuit.nets[name].entries if name in self.circuit.written else 0
            self.values[place] = [self.words.unknown() for _ in range(count)] if count else list(numbers)
        self._due = set(self.registers)
        self.told = Unknown(), Unknown()
        for place in self._nets:
            self._mark(place)

    def _mark(self, place: int) -> None:
        if not self._marked[place]:
            self._marked[place] = 1
            self._queues[place].append(place)

    def put(self, place: int, word: Word) -> None:
        """Let a net hold a word, and mark the nets and registers that read the net, so that they are evaluated
        again.
        """
        old = self.values[place]
        if word is old or (word.__class__ is int and old.__class__ is int and word == old):
            return
        assert fits(word, self._widths[place]), f"{self.names[place]} with a word of another width"
        self.values[place] = word
        self._changed(place)

    def _changed(self, place: int) -> None:
        marked, queues = self._marked, self._queues
        for reader in self._readers[place]:
            if not marked[reader]:
                marked[reader] = 1
                queues[reader].append(reader)
        if self._loaded[place]:
            self._due.update(self._loaded[place])

    def settle(self) -> None:
        """Evaluate all nets that read a changed net, in the order of the nets' levels."""
        values, nets, marked = self.values, self._nets, self._marked
        for waiting in self._waiting:
            for place in waiting:
                marked[place] = 0
                word = nets[place](values)
                if place == self.cut:
                    word = self._stand_in(word)
                old = values[place]
                if word is old or (word.__class__ is int and old.__class__ is int and word == old):
                    continue
                values[place] = word
                self._changed(place)
            waiting.clear()

    def _stand_in(self, word: Word) -> Word:
        """Return a free symbol that stands for a word; a word that is a number or has unknown bits stands for
        itself.
        """
        if isinstance(word, (int, *OPAQUE)):
            self.told = word, word
        else:
            self.told = self.words.free(f"status {len(self.words.symbols.all)}"), word
        return self.told[0]

    def edge(self) -> None:
        """Let one edge of the clock pass: registers and memories take the words that nets hold before the edge."""
        values = self.values
        stored = [
            (memory, port, is_open)
            for memory, ports in self.ports.items()
            for port in ports
            if (is_open := port.open(values)) != 0
        ]
        self._writing = {}
        taken = [
            (memory, port, port.index.word(values), port.value(values), is_open) for memory, port, is_open in stored
        ]
        for memory, _, index, _, _ in taken:
            if self.names[memory] in self.circuit.unordered:
                self._writing.setdefault(memory, set()).add(index if isinstance(index, int) else ALL)
                self._due.update(self._loaded[memory])
        due, self._due = self._due, set()
        following = [(place, self.registers[place](values)) for place in due]
        for place, word in following:
            self.put(place, self._stand_in(word) if place == self.cut else word)
        for memory, port, index, word, is_open in taken:
            self._store(memory, port, index, word, is_open)

    def held(self, memory: int, entry: int, low: int, width: int) -> Word:
        """Return the word in the given bits of a memory's entry."""
        return self.words.slice(self.values[memory][entry], low, width, self._widths[memory])

    def fill(self, memory: int, entry: int, low: int, width: int, word: Word) -> None:
        """Let the given bits of a memory's entry hold a word, which the design may not overwrite."""
        net = self.circuit.nets[self.names[memory]]
        self.guard(memory, entry, low, width)
        entries = self.values[memory]
        entries[entry] = self._replaced(entries[entry], net.width, low, width, word)
        self._changed(memory)

    def guard(self, memory: int, entry: int, low: int, width: int) -> None:
        """Guard the given bits of a memory's entry: the machine refuses all later writes to these bits."""
        guarded = self.guarded.setdefault(memory, [0] * self.circuit.nets[self.names[memory]].entries)
        guarded[entry] |= ((1 << width) - 1) << low

    def _collides(self, memory: int, index: int) -> bool:
        """Return whether an entry is read at an edge that may also write the entry, in a memory where such a read may
        give any word.
        """
        writing = self._writing.get(memory)
        return writing is not None and (index in writing or ALL in writing)

    def _store(self, memory: int, port: Port, index: Word, word: Word, is_open: Word) -> None:
        net = self.circuit.nets[self.names[memory]]
        if isinstance(index, int):
            places = [index]
            if index >= net.entries:
                raise Refused(f"{net.scope.module.name}: {self.names[memory]} is written past its end")
        else:
            places = list(compatible(index, port.index.width, net.entries))
        if not isinstance(index, int) or not isinstance(is_open, int):
            word = self.words.unknown()
        entries, guarded = self.values[memory], self.guarded.get(memory)
        for place in places:
            if guarded and guarded[place] >> port.low & ((1 << port.width) - 1):
                raise Refused(f"{net.scope.module.name}: state that must be kept is written in {self.names[memory]}")
            if port.width == net.width:
                entries[place] = word
            else:
                entries[place] = self._replaced(entries[place], net.width, port.low, port.width, word)
        self._changed(memory)

    def _replaced(self, entry: Word, whole: int, low: int, width: int, word: Word) -> Word:
        """Return the word of a memory's entry after another word has replaced some of its bits."""
        above = low + width
        pieces = [(word, 0, width, width)]
        if low:
            pieces.insert(0, (entry, 0, low, whole))
        if whole > above:
            pieces.append((entry, above, whole - above, whole))
        return self.words.join([(self.words.slice(part, at, size, of), size) for part, at, size, of in pieces])
