"""The choice of readers that share one memory: readers of one tensor in a training step, whose stages run one after
another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..modes import Mode
from ..signals import element
from . import model
from .blocks import rows, worth
from .guests import guest, in_order, packed
from .layout import Layout, layout, table_bits
from .pool import WAITS
from .reads import Reads
from .sizes import Sizes

Indices = NDArray[np.int64]

SLOWER = 8
"""Where no interval is asked for, memories are shared that make frames at most one part in so many longer."""
FEW = 6
"""Frames that tell how long a step is, whose frames follow one another."""


@dataclass(frozen=True)
class Table:
    """What a reader reads of a tensor of `size` elements, and a table of what the writer's lanes write."""

    reads: Reads
    written: Indices
    size: int


@dataclass(frozen=True)
class Client:
    """A group of readers, given by number, that read at the same time, with the columns of a layout that each of them
    takes, and with their slots.
    """

    readers: tuple[int, ...]
    layout: Layout
    columns: tuple[tuple[int, ...], ...]
    slots: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Memory:
    """A tensor that is kept once for clients, in the order of their turns; if `shows` is true, the last client reads
    new state. If `own` is true, the last client is the writer, which reads what it wrote in the round before, and takes
    no turns.
    """

    clients: tuple[Client, ...]
    shows: bool = False
    own: bool = False

    @property
    def readers(self) -> tuple[int, ...]:
        """Return the numbers of all readers of the memory, in the order of their turns."""
        return tuple(number for client in self.clients for number in client.readers)


def apart(tables: Sequence[Table]) -> list[Memory]:
    """Return a memory for each reader, without any sharing."""
    return [Memory((_client((number,), [table]),)) for number, table in enumerate(tables)]


def shared(sizes: Sizes, tables: Sequence[Table]) -> tuple[list[Memory], Sizes]:
    """Return memories that readers share if that saves bits of block memory, and the sizes with the turns that the
    readers take.

    In a design without state, frames overlap, and each reader keeps its own memory. In a design with modes and shared
    lanes, frames of steps do not overlap, and readers share the memories that only steps read and, if the sizes join
    the readers of a state, its memory, which predictions may read at any time. Each reader of a shared memory waits for
    the reader before it, so memories are shared, those that save most first, only while the interval stays below a
    limit.
    """
    memories = apart(tables)
    if sizes.fold.members:
        memories = [_denser(sizes, tables, memory) for memory in memories]
    if not sizes.fold.updates or (sizes.fold.modal is not None and not sizes.fold.members):
        return memories, sizes
    mode = None if sizes.fold.modal is None else Mode.TRAIN
    _, actors, links = sizes.within(mode, sizes.unbanked)
    own = sizes.actors_in(mode)
    order = [own[k] for k in sizes.orders.get(mode) or model.first_come(actors, links)]
    place = {actor: n for n, actor in enumerate(order)}
    found = [one for key in _keys(sizes).values() for one in _groups(sizes, tables, memories, key, place)]
    found.sort(key=lambda one: -one[0])
    most = sizes.longest or sizes.interval + sizes.interval // SLOWER
    kept: list[Memory] = []
    if found and _interval(_with(sizes, [one for _, one in found])) <= most:
        kept = [one for _, one in found]
    else:
        for _, one in found:
            if _interval(_with(sizes, [*kept, one])) <= most:
                kept.append(one)
    taken = {number for one in kept for number in one.readers}
    rest = [one for one in memories if one.readers[0] not in taken]
    return sorted([*kept, *rest], key=lambda one: min(one.readers)), _with(sizes, kept)


def _denser(sizes: Sizes, tables: Sequence[Table], memory: Memory) -> Memory:
    """Return the memory of one reader without the entries that hold nothing, if this saves bits; otherwise the memory
    as it is.
    """
    (client,) = memory.clients
    (number,) = client.readers
    width = element(sizes.fold.format(sizes.readers[number].wire)).width
    banks, table = sizes.links[number].banks or 1, tables[number]
    host = packed(client.layout, table.written, table.size)
    made = None if host is None else as_guest(host, client, tables)
    if made is None or kept_bits(made.layout, width, banks, True) >= kept_bits(client.layout, width, banks, True):
        return memory
    return Memory((made,))


def _interval(sizes: Sizes) -> int:
    return model.interval(*sizes.programs[0], FEW)


def _with(sizes: Sizes, memories: Sequence[Memory]) -> Sizes:
    """Return the sizes of a design in which the given memories are shared.

    New state that a shared memory shows is kept once, in addition to the old state. A sender on a shared memory is done
    when its last beat is taken, one or two clocks after its last read, since it shows what it read until then.
    """
    links, waits = list(sizes.unbanked), WAITS if sizes.fold.members else 0
    for one in memories:
        for number in one.readers:
            if sizes.readers[number].operand is None and len(one.clients) > 1:
                links[number] = replace(links[number], reads=links[number].reads + 1 + waits)
        if one.shows:
            links[one.readers[-1]] = replace(links[one.readers[-1]], banks=1)
    return replace(sizes, unbanked=links, together=tuple(one.readers for one in memories))


def _keys(sizes: Sizes) -> dict[tuple[bool, int], list[int]]:
    """Return groups of readers that may share a memory, by whether they read state and by the wire that they read.

    New state is kept in the same memory as the old state.
    """
    states = sizes.fold.states
    old = {new: wire for wire, new in reversed(states.items())}
    read = {reader.wire for reader in sizes.readers}
    keys: dict[tuple[bool, int], list[int]] = {}
    for number, reader in enumerate(sizes.readers):
        if sizes.modes and not _in_steps(sizes, number):
            continue
        if _streams(sizes, number) or _waits(sizes, number):
            continue
        beside = old.get(reader.wire) if reader.operand is None else None
        wire = beside if beside in read else reader.wire
        assert wire is not None
        keys.setdefault((wire in states, wire), []).append(number)
    return keys


def _streams(sizes: Sizes, number: int) -> bool:
    """Return whether a reader is a stage that follows another one, and reads no state: it would wait for its turn."""
    return (
        sizes.readers[number].actor - len(sizes.fold.entries) in sizes.fold.leaders and not sizes.unbanked[number].state
    )


def _waits(sizes: Sizes, number: int) -> bool:
    """Return whether a reader is a sender with room for several rounds: while it waits for others that leave before it,
    in all rounds, no stage may wait for its turn.
    """
    return sizes.readers[number].operand is None and sizes.unbanked[number].banks is not None


def _in_steps(sizes: Sizes, number: int) -> bool:
    """Return whether a reader may share a memory in a design with modes: it runs only in frames of steps, or reads
    state in them as well, and the sizes join readers of state.
    """
    link = sizes.unbanked[number]
    modes = sizes.modes[link.reader]
    return sizes.joins and Mode.TRAIN in modes if link.state else modes == {Mode.TRAIN}


def _groups(
    sizes: Sizes, tables: Sequence[Table], memories: Sequence[Memory], numbers: Sequence[int], place: dict[int, int]
) -> Iterator[tuple[int, Memory]]:
    """Yield memories that some of the given readers share, each with the number of bits that it saves."""
    readers, states = sizes.readers, sizes.fold.states

    def sender(client: Client) -> bool:
        return readers[client.readers[0]].operand is None

    def shows(client: Client) -> bool:
        return sender(client) and readers[client.readers[0]].wire not in states and state

    def joining(host: Layout, known: Sequence[Client], others: Sequence[Client]) -> tuple[int, list[Client]]:
        """Return the bits that sharing saves, and the clients that find what they read in the memories of a given
        layout.
        """
        joined, saved = list(known), sum(map(base, known)) - kept_bits(host, width, banks, abreast)
        for client in others:
            met = [readers[one.readers[0]].actor for one in joined]
            if readers[client.readers[0]].actor in met or (sender(client) and any(map(sender, joined))):
                continue
            made = as_guest(host, client, tables, base(client)) if base(client) else None
            if made is not None and (less := base(client) - table_bits(made.layout, False)) > 0:
                joined, saved = [*joined, made], saved + less
        return saved, joined

    def base(client: Client) -> int:
        """Return the number of bits of memory that a client takes if nothing is shared."""
        return sum(alone[number] for number in client.readers)

    abreast = bool(sizes.fold.members)
    state = any(readers[k].wire in states for k in numbers)
    banks = 2 if state else max(sizes.links[number].banks or 1 for number in numbers)
    width = element(sizes.fold.format(readers[numbers[0]].wire)).width
    alone = {k: kept_bits(memories[k].clients[0].layout, width, sizes.links[k].banks or 1, abreast) for k in numbers}
    if not any(alone.values()):
        return
    rest = sorted(_clients(sizes, tables, memories, numbers), key=lambda c: -len(c.layout.columns))
    while rest:
        first, table = rest[0].layout, tables[numbers[0]]
        bare = [in_order(table.written), packed(first, table.written, table.size)]
        found = [joining(first, rest[:1], rest[1:]), *(joining(host, [], rest) for host in bare if host is not None)]
        saved, joined = max(found, key=lambda one: one[0])
        joined.sort(key=lambda client: (shows(client), place[readers[client.readers[0]].actor]))
        if saved > 0 and (len(joined) == 1 or not shows(joined[0])):
            yield saved, Memory(tuple(joined), len(joined) > 1 and shows(joined[-1]))
            taken = {number for client in joined for number in client.readers}
            rest = [client for client in rest if not taken & {*client.readers}]
        else:
            rest = rest[1:]


def _clients(
    sizes: Sizes, tables: Sequence[Table], memories: Sequence[Memory], numbers: Sequence[int]
) -> Iterator[Client]:
    """Yield readers as clients; operands of one stage that are read at the same time form one client."""
    by_stage: dict[tuple[int, bool], list[int]] = {}
    for number in numbers:
        by_stage.setdefault((sizes.readers[number].actor, sizes.readers[number].inside), []).append(number)
    for some in by_stage.values():
        one = _client(tuple(some), [tables[number] for number in some]) if len(some) > 1 else None
        yield memories[some[0]].clients[0] if one is None else one


def _client(readers: tuple[int, ...], tables: Sequence[Table]) -> Client:
    """Return a client of readers that read at the same time, whose elements are laid out together."""
    first = tables[0]
    made = layout(_beside(tables), first.written, first.size)
    return _parted(readers, tables, made)


def as_guest(host: Layout, client: Client, tables: Sequence[Table], most: int | None = None) -> Client | None:
    """Return the client that reads from the memories of a given layout, or None if it cannot, or if that takes `most`
    bits for tables of addresses or more.
    """
    own = [tables[number] for number in client.readers]
    made = guest(host, _beside(own), own[0].written, own[0].size, most)
    return None if made is None else _parted(client.readers, own, made)


def _beside(tables: Sequence[Table]) -> Reads:
    return Reads.beside([table.reads for table in tables])


def _parted(readers: tuple[int, ...], tables: Sequence[Table], made: Layout) -> Client:
    """Return a client whose readers take the columns of a layout that hold what each of them reads."""
    ends = np.cumsum([table.reads.places for table in tables])
    parts = [made.slots[end - table.reads.places : end] for end, table in zip(ends, tables, strict=True)]
    columns = [tuple(sorted(set(part))) for part in parts]
    slots = [tuple(own.index(slot) for slot in part) for own, part in zip(columns, parts, strict=True)]
    return Client(readers, made, tuple(columns), tuple(slots))


def kept_bits(own: Layout, width: int, banks: int, abreast: bool) -> int:
    """Return the bits of block memory that a layout takes with its tables of addresses; if `abreast` is true, LUTs that
    serve as memory also count.
    """
    every = [row for number in range(len(own.copies)) for row in rows([own], number, width, banks, abreast)]
    found = sum(worth(row, width) if abreast else row.bits(width) * row.block for row in every)
    return found + table_bits(own, True)
