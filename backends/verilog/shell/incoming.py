"""A shared bus of inputs: whose turn each word of a packet is, and the tensors that take the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..design import CLOCK, Bus, Design, Stream
from ..modes import Mode
from .conversion import convert
from .turns import FRAME_MODE, Turns, turns
from .wiring import Wiring

ZERO, ONE = "1'b0", "1'b1"


def shared_inputs(
    wiring: Wiring, design: Design, bus: Bus, inner: Mapping[str, Stream], queued: Sequence[Stream]
) -> None:
    """Add a shared bus of inputs to a shell: the words of a packet go to their tensors by count, and after an early
    `tlast` every remaining tensor gets a beat that is marked wrong.

    Words after the last word of a packet's last tensor go to that tensor too, which drops them. A parallel design takes
    all inputs of a round together: each tensor except the last waits in a buffer for the later ones, in a queue if it
    is among those `queued`. A buffer and a register stand between the turns and the tensors, so that no path leads from
    the ones to the others.
    """
    count, name, together = len(bus.streams), bus.name, design.scheduler == "parallel"
    place = max(1, max(stream.beats for stream in bus.streams).bit_length())
    for word, bits in (("data", bus.data_bits), ("keep", bus.data_bits // 8), ("last", 0), ("valid", 0), ("ready", 0)):
        wiring.wire(f"word_{word}", bits)
    wiring.skid(
        "word",
        bus.data_bits * 9 // 8 + 1,
        (f"{{{name}_tlast, {name}_tkeep, {name}_tdata}}", f"{name}_tvalid", f"{name}_tready"),
        ("{word_last, word_keep, word_data}", "word_valid", "word_ready"),
    )
    wiring.lines += [
        "  // A bit a tensor: whether words are for it. `missing`: what follows was left out by an early tlast.",
        f"  reg [{count - 1}:0] tensor;",
        "  reg missing;",
        f"  reg [{place - 1}:0] word;",
        "  wire word_passed;",
    ]
    turn = _turns_in(wiring, design, bus, place)
    wires = {k: f"tensor[{k}]" for k in range(count)}
    final = [turn.closes(k) for k in range(count)]
    ends = [
        f"(tensor[{k}] & (word == {place}'d{stream.beats - 1}){'' if end == ZERO else ' & ~closing'}"
        f"{' & ~lacks_mode' if design.modes and not k else ''})"
        for k, (stream, end) in enumerate(zip(bus.streams, final, strict=True))
        if end != ONE
    ]
    following = ", ".join(turn.following(k, wires) for k in reversed(range(1, count)))
    wiring.lines += [
        f"  wire closing = {turn.closing(wires)};",
        f"  wire word_ends = {' | '.join(['missing', '(word_last & closing)', *ends])};",
        "  wire cut = word_last & ~closing;",
        "  wire tensor_ends = word_ends | cut;",
        "  assign word_ready = word_passed & ~missing;",
        f"  always @(posedge {CLOCK})",
        f"    if ({wiring.reset}) begin",
        f"      tensor <= {count}'d1;",
        "      missing <= 1'b0;",
        f"      word <= {place}'d0;",
        "    end else if (word_passed & (word_valid | missing)) begin",
        f"      if (tensor_ends) tensor <= {{{following + ', ' if following else ''}closing}};",
        "      missing <= (missing | cut) & ~closing;",
        f"      word <= tensor_ends ? {place}'d0 : (&word ? word : word + {place}'d1);",
        "    end",
    ]
    # A cut in the last word of a tensor that is not the last leaves that tensor whole: those after it are wrong.
    whole = [
        f"(tensor[{k}] & (word == {place}'d{stream.beats - 1}))"
        for k, (stream, end) in enumerate(zip(bus.streams, final, strict=True))
        if end != ONE
    ]
    spoilt = f"missing | (cut & ~({' | '.join(whole) or ZERO}))"
    _turned(wiring, design, bus, spoilt)
    passed = []
    for k, stream in enumerate(bus.streams):
        side, core = wiring.side(stream), inner[stream.name]
        bits = stream.lanes * stream.element_bits
        wiring.core(stream, core.data_bits)
        wiring.wire(f"{side}_taken")
        passed.append(f"(given_tensor[{k}] & {side}_taken)")
        elements, wrong = wiring.wire(f"{side}_elements", bits), "given_spoilt"
        if design.modes and not k:
            spare = bits - stream.element_bits
            told = f"given_data[{stream.element_bits - 1}:0]"
            wiring.lines.append(f"  assign {elements} = {f'{{{spare}{chr(39)}d0, {told}}}' if spare else told};")
        else:
            wrong = f"given_spoilt | {wiring.wire(f'{side}_wrong')}"
            wiring.unpack(stream, "given", side, "given_data", "given_keep", "given_ends")
        source = (elements, f"given_valid & given_tensor[{k}]", f"{side}_taken", "given_ends", wrong)
        into = side
        if together and k < count - 1:
            into = f"{side}_early"
            for word, width in (("data", core.data_bits), ("valid", 0), ("ready", 0), ("last", 0), ("user", 0)):
                wiring.wire(f"{into}_{word}", width)
            early = (f"{{{into}_user, {into}_last, {into}_data}}", f"{into}_valid", f"{into}_ready")
            out = (f"{{{side}_user, {side}_last, {side}_data}}", f"{side}_valid", f"{side}_ready")
            if core in queued:
                wiring.queue(side, core.data_bits + 2, core.beats, early, out)
            else:
                wiring.skid(side, core.data_bits + 2, early, out)
        convert(wiring, stream, core, into, source, inwards=True)
    wiring.lines.append(f"  assign given_passed = {' | '.join(passed)};")


def _turned(wiring: Wiring, design: Design, bus: Bus, spoilt: str) -> None:
    """Add the buffer and the register between the turns on a shared bus and the tensors: `given` is a word with the
    tensor that it is for.

    If there are modes, the word of the mode gives the mode in the register of the packet.
    """
    count, data, valid, free = len(bus.streams), "word_data", "(word_valid | missing)", "turned_ready"
    if design.modes:
        bits = bus.streams[0].element_bits
        rest = f"word_data[{bus.data_bits - 1}:{bits}], " if bus.data_bits > bits else ""
        data = f"{rest}tensor[0] ? packet_mode : word_data[{bits - 1}:0]"
        spoilt = f"{spoilt} | (tensor[0] & ({wiring.side(bus.streams[0])}_first_wrong | lacks_mode))"
        valid, free = f"{valid} & known_mode", f"{free} & known_mode"
    fields = {"data": bus.data_bits, "keep": bus.data_bits // 8, "ends": 0, "spoilt": 0, "tensor": count}
    for stage in ("next", "given"):
        for word, width in fields.items():
            wiring.lines.append(
                f"  {'wire' if stage == 'next' else 'reg'} {f'[{width - 1}:0] ' * (width > 0)}{stage}_{word};"
            )
    for name in ("turned_ready", "next_valid", "next_ready", "given_passed"):
        wiring.wire(name)
    into = f"{{{data}, word_keep, tensor_ends, spoilt, tensor}}"
    out = f"{{{', '.join(f'next_{word}' for word in fields)}}}"
    wiring.lines.append(f"  wire spoilt = {spoilt};")
    handshakes = (into, valid, "turned_ready"), (out, "next_valid", "next_ready")
    wiring.skid("turned", sum(width or 1 for width in fields.values()), *handshakes)
    wiring.lines += [
        f"  assign word_passed = {free};",
        "  // The word that a tensor takes, or the mark of a word that is missing.",
        "  reg given_valid;",
        "  assign next_ready = ~given_valid | given_passed;",
        f"  always @(posedge {CLOCK})",
        f"    if ({wiring.reset}) given_valid <= 1'b0;",
        "    else if (next_ready) given_valid <= next_valid;",
        *(f"  always @(posedge {CLOCK}) if (next_ready) given_{word} <= next_{word};" for word in fields),
    ]


def _turns_in(wiring: Wiring, design: Design, bus: Bus, place: int) -> Turns:
    """Return the turns of the input tensors on a shared bus; if there are modes, they depend on the mode in the first
    word of a packet, which a register keeps.

    A packet with a mode that the design lacks is treated as a write without data, whose words are dropped. The first
    word of a packet waits a clock, until the mode is in a register, so that no path leads from the word by the mode to
    the places of the other words.
    """
    if not design.modes:
        return turns(wiring, design, bus, "", 0)
    bits, side = bus.streams[0].element_bits, f"{wiring.side(bus.streams[0])}_first"
    wiring.wire(f"{side}_elements", bus.streams[0].lanes * bits)
    wiring.wire(f"{side}_wrong")
    wiring.unpack(bus.streams[0], "word", side, "word_data", "word_keep", ONE)
    wiring.lines.append(f"  wire {side}_unused = ^{side}_elements;")
    lacking = [f"(word_data[{bits - 1}:0] == {bits}'d{m})" for m in range(1 << bits) if m not in design.known_modes]
    wiring.lines += [
        "  // The mode of the packet under way and whether the design lacks it, a clock after its first word came.",
        f"  reg [{bits - 1}:0] {FRAME_MODE};",
        f"  reg [{bits - 1}:0] packet_mode;",
        "  reg told_mode;",
        "  reg lacked_mode;",
        f"  wire begins_packet = tensor[0] & (word == {place}'d0);",
        "  wire known_mode = ~begins_packet | told_mode;",
        "  wire lacks_mode = begins_packet & lacked_mode;",
        f"  wire unknown_mode = {' | '.join([f'{side}_wrong', *lacking])};",
        f"  always @(posedge {CLOCK})",
        f"    if ({wiring.reset}) begin",
        f"      packet_mode <= {bits}'d0;",
        "      told_mode <= 1'b0;",
        "      lacked_mode <= 1'b0;",
        "    end else begin",
        "      told_mode <= begins_packet & word_valid & ~(told_mode & word_passed);",
        "      if (begins_packet & ~told_mode) begin",
        f"        packet_mode <= unknown_mode ? {bits}'d{Mode.WRITE} : word_data[{bits - 1}:0];",
        "        lacked_mode <= unknown_mode;",
        "      end",
        "    end",
        f"  always @(posedge {CLOCK})",
        f"    if ({wiring.reset}) {FRAME_MODE} <= {bits}'d0;",
        f"    else if (given_valid & given_passed & given_tensor[0]) {FRAME_MODE} <= given_data[{bits - 1}:0];",
    ]
    return turns(wiring, design, bus, "packet_mode", bits)
