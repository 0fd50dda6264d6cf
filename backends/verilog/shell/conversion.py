"""The conversion between words of a shared bus and beats of the design inside."""

from __future__ import annotations

from ..design import CLOCK, RESET, Stream
from .wiring import Wiring, instance


def convert(
    wiring: Wiring,
    stream: Stream,
    core: Stream,
    side: str,
    source: tuple[str, str, str, str, str],
    inwards: bool,
    ready: str = "",
) -> None:
    """Add the instance that converts words of a shared bus to beats of the design inside, or such beats to words."""
    given = dict(zip(("in_data", "in_valid", "in_ready", "in_last", "in_wrong"), source, strict=True))
    words = ("data", "valid", "ready", "last", "user") if inwards else ("elements", "sent", "", "ends", "")
    out = dict(
        zip(
            ("out_data", "out_valid", "out_ready", "out_last", "out_wrong"), (f"{side}_{w}" for w in words), strict=True
        )
    )
    if not inwards:
        out["out_ready"], out["out_wrong"] = ready, wiring.wire(f"{side}_wrong_unused")
    here, there = (stream.lanes, core.lanes) if inwards else (core.lanes, stream.lanes)
    size, width = stream.format.size, stream.element_bits
    if here == there or core.beats == stream.beats == 1:
        kept, wanted = (n * width for n in (here, there))
        if kept > wanted:
            wiring.lines.append(f"  wire {side}_past_unused = ^{given['in_data']};")
            given["in_data"] += f"[{wanted - 1}:0]"
        elif kept < wanted:
            given["in_data"] = f"{{{wanted - kept}'d0, {given['in_data']}}}"
        for into, outof in (("in_data", "out_data"), ("in_valid", "out_valid"), ("in_last", "out_last")):
            wiring.lines.append(f"  assign {out[outof]} = {given[into]};")
        wiring.lines.append(f"  assign {out['out_wrong']} = {given['in_wrong']};")
        wiring.lines.append(f"  assign {given['in_ready']} = {out['out_ready']};")
        return
    wide, narrow = max(here, there), min(here, there)
    parts = -(-wide // narrow)
    within = size - (-(-size // wide) - 1) * wide
    final = -(-within // narrow)
    module = "gather" if there == wide else "scatter"
    held = parts * narrow * width
    if wide * width != held:
        # The wider side is one beat of all elements, no whole number of the narrower side's.
        over = f"{side}_wide"
        wiring.wire(over, held)
        if module == "gather":
            wiring.lines.append(f"  assign {out['out_data']} = {over}[{wide * width - 1}:0];")
            wiring.lines.append(f"  wire {over}_unused = ^{over};")
            out["out_data"] = over
        else:
            wiring.lines.append(f"  assign {over} = {{{held - wide * width}'d0, {given['in_data']}}};")
            given["in_data"] = over
    pins = [f".{CLOCK}({CLOCK})", f".{RESET}({wiring.reset})"]
    pins += [f".{pin}({wire})" for pin, wire in {**given, **out}.items()]
    wiring.lines += instance(
        module, f"{side}_{module}", {"WIDTH": narrow * width, "PARTS": parts, "FINAL": final}, pins
    )
