"""One bus for all inputs of a design and another for all outputs: each tensor begins with a new word of the bus, and
each frame is a packet.

If the frames of a design have modes, the first word of a packet gives the frame's mode, and only the tensors of that
mode follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from circuitize.circuits.errors import CircuitizeError

from ..design import CLOCK, STATUS, Bus, Design, Stream
from ..modes import MODE
from .conversion import convert
from .turns import FRAME_MODE, turns
from .wiring import Wiring

WIDEST_SLOT = 64
"""The most bits of a slot: hosts write elements as integers of 1, 2, 4 or 8 bytes."""


def require_fit(bus: Bus, inner: Mapping[str, Stream]) -> None:
    """Raise CircuitizeError if an element of a tensor is wider than the bus, or the bus too wide for what a round has
    of the tensor.
    """
    for stream in bus.streams:
        if stream.lanes < 1:
            raise CircuitizeError(
                f"--bus-bits: expected at least {stream.pitch} bits for an element of {inner[stream.name].port!r}, "
                "found fewer; widen the bus"
            )
        if stream.lanes * WIDEST_SLOT < bus.data_bits:
            core = inner[stream.name]
            raise CircuitizeError(
                f"--bus-bits: expected at most {stream.lanes * WIDEST_SLOT}, for {core.lanes} elements of "
                f"{core.port!r} in each round, found {bus.data_bits}; narrow the bus, or change --micro-batch"
            )


def _turns_out(wiring: Wiring, design: Design, bus: Bus) -> None:
    """Add the one-hot wires `leaving` to a shell: the wire of the tensor whose words leave is 1. The register behind
    the wires `leaving` moves to the next tensor when a tensor has left.

    In a design with modes, the register of turns rests before each packet, until the mode determines the packet's first
    tensor.
    """
    count, modal = len(bus.streams), bool(design.modes)
    bits = next(stream.element_bits for stream in design.streams if stream.port == MODE) if modal else 0
    turn = turns(wiring, design, bus, FRAME_MODE, bits)
    places = range(modal, count + modal)
    wires = {place: f"leaving[{place - modal}]" for place in places}
    following = [*(turn.following(place, wires) for place in reversed(range(1, count + modal))), "sent_closes"]
    wiring.lines.append("  // Of each tensor one bit: whether its words leave.")
    register = "leaving"
    if modal:
        register = "leaves"
        first = [f"leaves[0] & {turn.step(0, place)}" for place in places]
        own = [f"leaves[{place}] | ({begins})" for place, begins in zip(places, first, strict=True)]
        wiring.wire("leaving", count)
        wiring.lines.append(f"  assign leaving = {{{', '.join(reversed(own))}}};")
    wiring.lines += [
        f"  reg [{count - 1 + modal}:0] {register};",
        f"  always @(posedge {CLOCK})",
        f"    if ({wiring.reset}) {register} <= {count + modal}'d1;",
        f"    else if (sent_valid & sent_ready & sent_ends) {register} <= {{{', '.join(following)}}};",
        f"  assign sent_closes = {turn.closing(wires)};",
    ]


def shared_outputs(
    wiring: Wiring, design: Design, bus: Bus, inner: Mapping[str, Stream], queued: Sequence[Stream]
) -> None:
    """Add a shared bus of outputs to a shell: the output tensors of a frame leave in order, the status last; the status
    of a design with state has no buffer. A parallel design gives all outputs of a round together: those `queued` wait
    in a queue for the tensors before them.
    """
    name, buffered = bus.name, not design.held
    bytes_ = bus.data_bits // 8
    _turns_out(wiring, design, bus)
    for word, width in (("data", bus.data_bits), ("valid", 0), ("ready", 0), ("last", 0), ("ends", 0), ("closes", 0)):
        wiring.wire(f"sent_{word}", width)
    datas, valids, lasts = [], [], []
    for k, stream in enumerate(bus.streams):
        side, core = wiring.side(stream), inner[stream.name]
        bits = stream.lanes * stream.element_bits
        wiring.core(stream, core.data_bits)
        for word, width in (("elements", bits), ("sent", 0), ("ends", 0), ("word", bus.data_bits)):
            wiring.wire(f"{side}_{word}", width)
        given = side
        if core in queued:
            given = f"{side}_late"
            for word, width in (("data", core.data_bits), ("valid", 0), ("ready", 0), ("last", 0)):
                wiring.wire(f"{given}_{word}", width)
            wiring.queue(
                side,
                core.data_bits + 1,
                core.beats,
                (f"{{{side}_last, {side}_data}}", f"{side}_valid", f"{side}_ready"),
                (f"{{{given}_last, {given}_data}}", f"{given}_valid", f"{given}_ready"),
            )
        source = (f"{given}_data", f"{given}_valid", f"{given}_ready", f"{given}_last", "1'b0")
        if stream.name == STATUS:
            pad = f"{{{bits - 1}'d0, {side}_data}}" if bits > 1 else f"{side}_data"
            wiring.lines += [
                f"  assign {side}_elements = {pad};",
                f"  assign {side}_sent = {side}_valid;",
                f"  assign {side}_ready = sent_ready & leaving[{k}];",
                f"  assign {side}_ends = {side}_last;",
            ]
        else:
            convert(wiring, stream, core, side, source, inwards=False, ready=f"sent_ready & leaving[{k}]")
        wiring.pack(stream, side, f"{side}_elements", f"{side}_word")
        datas.append(f"({{{bus.data_bits}{{leaving[{k}]}}}} & {side}_word)")
        valids.append(f"(leaving[{k}] & {side}_sent)")
        lasts.append(f"(leaving[{k}] & {side}_ends)")
    wiring.lines += [
        f"  assign sent_data = {' | '.join(datas)};",
        f"  assign sent_valid = {' | '.join(valids)};",
        f"  assign sent_ends = {' | '.join(lasts)};",
        "  assign sent_last = sent_ends & sent_closes;",
        f"  assign {name}_tkeep = {{{bytes_}{{1'b1}}}};",
    ]
    if not buffered:
        wiring.lines += [
            f"  assign {name}_tdata = sent_data;",
            f"  assign {name}_tvalid = sent_valid;",
            f"  assign {name}_tlast = sent_last;",
            f"  assign sent_ready = {name}_tready;",
        ]
        return
    wiring.skid(
        "sent",
        bus.data_bits + 1,
        ("{sent_last, sent_data}", "sent_valid", "sent_ready"),
        (f"{{{name}_tlast, {name}_tdata}}", f"{name}_tvalid", f"{name}_tready"),
    )
