"""The estimated size of a shell, in addition to the size of the design inside, by device family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from circuitize.circuits.reading import Json

from ..design import STATUS, Bus, Design, Stream, buses
from ..devices.family import FAMILIES
from .interface import Interface
from .wiring import queue_places

CONTROL = {"lut": 190, "ff": 300}
"""The size of the AXI4-Lite registers, measured with yosys 0.23."""

PLACES = 32
"""The places of a queue that a LUT keeps of a bit."""

SHELL = {6: 1.0, 4: 1.2}
"""How many LUTs of each number of inputs replace one of six: most of a shell selects one bit of two."""


def with_shell(
    report: Json, streams: Sequence[Stream], state: bool, interface: Interface, queued: Sequence[Stream] = ()
) -> Json:
    """Return the report of a design with the given streams, including the size of its shell; `queued` are those of them
    of which a queue keeps the beats of a frame.

    A skid buffer keeps a beat and selects one of two; a shared bus also gathers and scatters the elements of words, and
    a buffer and a register stand between the turns of its incoming words and their tensors. A queue lies in LUTs.
    """
    lut, ff = (CONTROL["lut"], CONTROL["ff"]) if interface.control else (0, 0)
    for stream in queued:
        places = queue_places(stream.beats)
        lut, ff = lut + (stream.data_bits + 2) * -(-places // PLACES) + 12, ff + 2 * places.bit_length()
    for bus in buses(outer(stream, interface) for stream in streams):
        more = _bus(bus, state)
        lut, ff = lut + more[0], ff + more[1]
    families = {
        name: {**made, "lut": made["lut"] + round(lut * SHELL[FAMILIES[name].inputs]), "ff": made["ff"] + ff}
        for name, made in report.get("families", {}).items()
    }
    return {**report, "lut": report["lut"] + lut, "ff": report["ff"] + ff, "families": families}


def outer(stream: Stream, interface: Interface) -> Stream:
    """Return a stream of a scheduler's design as it appears outside the shell.

    A word of a shared bus has as many elements as fit, or fewer in wider slots, so that no beat of the design inside
    begins within a word or ends there.
    """
    slot, bits = interface.slot(stream), interface.bus_bits
    lanes = stream.lanes
    if bits is not None:
        lanes = bits // slot
        if stream.beats > 1 and lanes and stream.lanes % lanes and lanes % stream.lanes:
            lanes = gcd(lanes, stream.lanes)
            slot = bits // lanes
    bus = "" if bits is None else "m_axis" if stream.output else "s_axis"
    slot = 0 if slot == stream.element_bits else slot
    return replace(stream, lanes=lanes, slot=slot, keep=True, user=False, bus=bus)


def queued(design: Design) -> list[Stream]:
    """Return the streams of a scheduler's design of which a shared bus needs queues: a parallel design takes a beat of
    each in every round, while tensors come, and leave, one after the other.
    """
    if design.scheduler != "parallel":
        return []
    ins, outs = ([stream for stream in design.streams if stream.output is output] for output in (False, True))
    return [stream for stream in (*ins[:-1], *outs[1:]) if stream.beats > 1]


def _bus(bus: Bus, state: bool) -> tuple[int, int]:
    if bus.shared:
        tensors = len(bus.streams)
        turned = 0 if bus.output else bus.data_bits * 9 // 8 + tensors + 2
        return bus.data_bits * (1 + tensors) + 12 * tensors + turned, (
            bus.data_bits * (1 + tensors) + 8 * tensors + 2 * turned
        )
    (stream,) = bus.streams
    if state and stream.name == STATUS:
        return 0, 0
    bits = stream.lanes * stream.element_bits
    checked = 0 if bus.output else stream.lanes * -(-(stream.pitch - stream.element_bits + 1) // 5)
    return bits + 3 + checked, bits + 3
