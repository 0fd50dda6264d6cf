"""The memories of a top module, each with the control signals of its writer and of its readers."""

from __future__ import annotations

import numpy as np

from ..modes import Mode
from ..signals import element
from .channel import Channel, write_channel
from .choosing import senders
from .reads import NOTHING
from .sharing import Client, Memory
from .sizes import Reader
from .tokens import prefix
from .wiring import Indices, Port, Wiring


class Memories(Wiring):
    """The wires of a top module, with the memories between the writers and the readers of tensors."""

    def _channels(self) -> None:
        """Add a channel to the top module for each memory; the control signals of a channel are named after its
        readers.
        """
        used: dict[int, set[int]] = {}
        for memory, parted in zip(self.plan.memories, self.plan.parted, strict=True):
            readers = [self.sizes.readers[client.readers[0]] for client in memory.clients]
            wire, number = readers[0].wire, memory.readers[0]
            state = wire in self.fold.states
            port = self.stores[wire] if state else self.writers[wire]
            width = element(self.fold.format(wire)).width
            name = self._reader(readers[0])[0]
            banks = self.sizes.links[number].banks or 1
            whom = ", then ".join(self._reader(reader)[1] for reader in readers)
            comment = f"{name}: what {port.name} writes, {self.fold.format(wire)}, as {whom} reads it."
            layouts = tuple(client.layout for client in memory.clients)
            initial = self._initial(wire) if state else None
            abreast = bool(self.fold.members)
            held = tuple(
                bool(chosen) and any(senders(self.sizes, number) for number in client.readers)
                for chosen, client in zip(parted, memory.clients, strict=True)
            )
            channel = Channel(
                name,
                width,
                layouts,
                banks,
                comment,
                parted,
                held,
                initial,
                memory.shows,
                abreast,
                self.sizes.links[number].ahead,
                self.sizes.sliced,
                memory.own,
            )
            self.emission.channels.append(channel)
            self.files[f"{name}.v"] = write_channel(channel, self.files)
            wires = [".clk(clk)", ".rst(rst)"]
            wires += self._kept(name, memory, port) if state else self._queued(name, memory, port)
            used.setdefault(wire, set()).update(channel.lanes)
            wires += [f".w_data{lane}({port.lanes[lane]})" for lane in channel.lanes]
            for turn, client in enumerate(memory.clients):
                own = memory.own and turn == len(readers) - 1
                wires += self._client(name, turn, client, width, own)
                wires += self._holds(turn, client) if held[turn] else []
                wires += [] if own else [self._last(turn, readers[turn], len(readers) - memory.own > 1)]
            self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")
        for wire, port in self.writers.items():
            kept = set().union(*(used.get(key, set()) for key in [wire, *self._states_of(wire)]))
            for lane, name in enumerate(port.lanes):
                if lane not in kept:
                    self.lines.append(f"  wire {name}_unused = ^{name};")

    def _kept(self, name: str, memory: Memory, port: Port) -> list[str]:
        """Return the connections of the control signals of a memory that holds state."""
        reader = self.sizes.readers[memory.readers[0]]
        done, train = self.wire(f"{name}_done"), self.conductor.within(frozenset({Mode.TRAIN}))
        if self.fold.updates and (reader.operand is not None or not self.fold.modal):
            self.done.append(f"({done} | ~{train})" if self.fold.modal else done)
        else:
            self.lines.append(f"  wire {done}_unused = {done};")
        steady = f"~{train}" if self.fold.modal else "1'b0"
        wires = [f".w_valid({port.name}_valid)", ".commit(status_take)", ".r_bank(status_bank)"]
        wires += [f".all_done({done})", f".steady({steady})"]
        if memory.shows:
            free = self.wire(f"{name}_free")
            self.free.setdefault(self.sizes.links[memory.readers[-1]].writer, []).append(free)
            wires += [f".w_free({free})", f".w_last({port.name}_last)"]
        return wires

    def _queued(self, name: str, memory: Memory, port: Port) -> list[str]:
        """Return the connections of the control signals of a memory that holds what each frame writes and reads."""
        link, free = self.sizes.links[memory.readers[0]], self.wire(f"{name}_free")
        some = self.conductor.narrowed(self._modes(link.writer), self._modes(link.reader))
        self.free.setdefault(link.writer, []).append(f"({free} | ~{some})" if some else free)
        wires = [f".w_free({free})", f".w_last({port.name}_last)"]
        return wires + [f".w_{word}({port.name}_{word}{f' & {some}' * bool(some)})" for word in ("start", "valid")]

    def _client(self, name: str, turn: int, client: Client, width: int, own: bool) -> list[str]:
        """Return the connections of a reader that reads a channel in its turn, or at any time if it is the channel's
        `own` writer.
        """
        port, number = prefix(turn), client.readers[0]
        reader = self.sizes.readers[number]
        to, side = self._reader(reader)[1], self._side(reader)
        wires = []
        if not own:
            ready = self.wire(f"{name}_{port}_ready" if turn else f"{name}_ready")
            self.ready.setdefault(reader.actor, []).append(ready)
            wires = [f".{port}_start({to}_start)", f".{port}_ready({ready})"]
        also = [k for k, shared in self.sizes.shared.items() if shared == number]
        more = "".join(f" | out_{self.outs[k - self.first - len(self.fold.stages)].name}_r_step" for k in also)
        columns = [
            self.wire(f"{name}_{port}_{k}" if turn else f"{name}_{k}", width) for k in range(len(client.layout.columns))
        ]
        for place, taken in zip(client.readers, client.columns, strict=True):
            self.columns[reader.actor, self.sizes.readers[place].operand or ""] = [columns[k] for k in taken]
        for place, slots in zip(client.readers, client.slots, strict=True):
            self.slots[reader.actor, self.sizes.readers[place].operand or ""] = slots
        return [
            *wires,
            f".{port}_step({to}_{side}step{more})",
            *(f".{port}_data{k}({column})" for k, column in enumerate(columns)),
        ]

    def _holds(self, turn: int, client: Client) -> list[str]:
        """Return the connection of the signal with which the outputs that read a channel keep what they read."""
        outputs = [actor for number in client.readers for actor in senders(self.sizes, number)]
        return [f".{prefix(turn)}_holds({' | '.join(f'{self._actor(actor)}_r_holds' for actor in outputs)})"]

    def _last(self, turn: int, reader: Reader, among: bool) -> str:
        """Return the connection of the signal that ends a reader's frame.

        The signal that ends the frame of a single reader is its last step; if a sender shares a memory with other
        readers, its frame ends only when its last beat is taken.
        """
        to, side = self._reader(reader)[1], self._side(reader)
        gone = f"out_{to.removeprefix('out_')}_gone" if self.fold.rounds is not None and reader.operand is None else ""
        if not among:
            self.lines += [f"  wire {gone}_unused = {gone};"] * bool(gone)
            return f".r_last({to}_{side}last)"
        if reader.operand is not None:
            return f".{prefix(turn)}_done({to}_{side}step & {to}_{side}last)"
        stream = to.removeprefix("out_")
        self.lines.append(f"  wire {to}_r_last_unused = {to}_r_last;")
        if gone:
            return f".{prefix(turn)}_done({gone})"
        return f".{prefix(turn)}_done({stream}_tvalid & {stream}_tready & {stream}_tlast)"

    def _initial(self, wire: int) -> Indices:
        """Return the (element, value) pairs that the writer's lanes would write for the initial state, step by step."""
        values = np.asarray(self.initial[self.fold.held[wire].name], np.int64).reshape(-1)
        written = self.plan.written[self.fold.states[wire]]
        return np.stack([np.where(written >= 0, written, NOTHING), values[np.maximum(written, 0)]], axis=2)
