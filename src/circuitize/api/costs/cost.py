"""The words that a program moves between a large memory and a small one, by tiles that fit the small one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from circuitize.backends.transfers.fusing import alone, fuse
from circuitize.backends.transfers.group import Wiring
from circuitize.backends.transfers.primitive import primitive
from circuitize.backends.transfers.transfer import Transfer, transfer
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.phases import Progress, silent, under_way
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json

MEMORY = 1 << 15
"""The default size of the small memory, in words: 128 KiB of words of 4 bytes."""


@dataclass(frozen=True, repr=False)
class Cost:
    """The number H of words that a program moves, and the number M of words that it holds, with a memory of `memory`
    words: if each operation runs alone, and if operations are fused in groups.

    The fused `groups` of a cost run one after the other, each of them tile by tile; `apart` lists every operation as a
    group by itself.
    """

    memory: int
    operations: int
    groups: Sequence[Transfer]
    apart: Sequence[Transfer]

    @property
    def moved(self) -> int:
        """Return the number H of words that all fused groups of operations move."""
        return sum(group.moved for group in self.groups)

    @property
    def moved_apart(self) -> int:
        """Return the number H of words that the program moves if every operation loads its operands and stores its
        result.
        """
        return sum(each.moved for each in self.apart)

    @property
    def held(self) -> int:
        """Return the number M of words held: the most words that one group of operations holds."""
        return max((group.held for group in self.groups), default=0)

    @property
    def contractions(self) -> list[Transfer]:
        """Return the counts of words and products for each contraction of the program, as if it ran alone."""
        return [each for each in self.apart if each.least is not None]

    @property
    def products(self) -> int:
        """Return the number of multiplications in all contractions of the program."""
        return sum(group.products for group in self.groups)

    @property
    def misfits(self) -> list[Transfer]:
        """Return the groups of operations that do not fit into the memory even with tiles of a single element."""
        return [group for group in self.groups if not group.fits]

    def bytes(self, word: int = 4) -> Json:
        """Return the cost of a program for a cache or a GPU: bytes moved, bytes held, and products for each byte moved,
        for words of `word` bytes.

        The memory has the same number of words for every word size, so that its size in bytes grows with `word`. Raise
        CircuitizeError for a word size below one byte.
        """
        _positive("word", word)
        moved = self.moved * word
        return {
            "word_bytes": word,
            "memory_bytes": self.memory * word,
            "moved_bytes": moved,
            "moved_bytes_apart": self.moved_apart * word,
            "held_bytes": self.held * word,
            "products_per_byte": round(self.products / moved, 3) if moved else None,
        }

    def cycles(self, lanes: int = 32, words_per_clock: int = 1) -> Json:
        """Return the cost of a program on an FPGA: a lower bound on the clocks of every design with `lanes` multipliers
        and a memory port of `words_per_clock` words.

        Each group of operations takes at least as many clocks as its products divided by the lanes, and at least as
        many as its moved words divided by the words per clock; the greater number counts. Raise CircuitizeError for
        fewer than one lane or one word per clock.
        """
        _positive("lanes", lanes)
        _positive("words_per_clock", words_per_clock)
        computing = [-(-group.products // lanes) for group in self.groups]
        moving = [-(-group.moved // words_per_clock) for group in self.groups]
        return {
            "lanes": lanes,
            "words_per_clock": words_per_clock,
            "cycles_at_least": sum(map(max, computing, moving)),
            "computing_cycles": sum(computing),
            "moving_cycles": sum(moving),
            "groups_bound_by_memory": sum(m > c for c, m in zip(computing, moving, strict=True)),
            "memory_words": self.held,
        }

    def json(self) -> Json:
        """Return all figures of the cost as an object for JSON."""
        return {
            "memory_words": self.memory,
            "operations": self.operations,
            "moved_words": self.moved,
            "moved_words_apart": self.moved_apart,
            "held_words": self.held,
            "products": self.products,
            "groups": [asdict(group) for group in self.groups],
            "contractions": [asdict(each) for each in self.contractions],
        }

    def __repr__(self) -> str:
        return (
            f"Cost({self.moved:,} words moved in {len(self.groups):,} groups, {self.moved_apart:,} by "
            f"{len(self.apart):,} operations apart, {self.held:,} of {self.memory:,} held)"
        )


def cost(given: Arrow | Program, *, memory: int = MEMORY, progress: Progress = silent) -> Cost:
    """Return the numbers of words that an arrow, or the arrow of a program, moves and holds with a memory of `memory`
    words.

    Before words are counted, composites are replaced by their definitions; a softmax whose result contractions read can
    be streamed; integer programs are counted without change. All figures of moved and held words follow from the axes
    of the operations: see docs/cost.md. Counting the words that a program of 1,500 operations moves takes seconds.
    Raise CircuitizeError for an object that is neither arrow nor program, and for a memory of less than one word.
    """
    if not isinstance(given, (Arrow, Program)):
        raise CircuitizeError(f"cost: expected an arrow or a program, found {type(given).__name__}; see trace")
    _positive("memory", memory)
    with under_way(progress, "reading axes"):
        wiring = Wiring(primitive(given.arrow if isinstance(given, Program) else given))
    with under_way(progress, "joining operations"):
        groups, apart = fuse(wiring, memory), alone(wiring, memory)
    return Cost(
        memory,
        len(wiring.rows),
        tuple(transfer(group, memory) for group in groups),
        tuple(transfer(each, memory) for each in apart),
    )


def _positive(name: str, found: object) -> None:
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise CircuitizeError(f"{name}: expected a whole number of at least 1, found {found!r}; correct it")
