"""The top module of a parallel design: its streams, the single enable signal that stalls every register, and the valid
bits.
"""

from __future__ import annotations

from ...verilog.design import CLOCK, RESET, Stream
from ...verilog.signals import Signal
from .modules import ENABLE, Modules
from .text import Operand


def top(
    name: str,
    inputs: list[Stream],
    outputs: list[tuple[Stream, list[int]]],
    modules: Modules,
    comment: list[str],
    unframed: str,
) -> str:
    """Return the Verilog of the top module: a frame enters a parallel design when all inputs are valid and the pipeline
    moves.

    The pipeline of a parallel design moves unless the last stage holds a frame of which some output has not been taken.
    After a beat without `tlast`, which the bit `unframed` reports, the beats of that input are skipped up to the next
    beat with `tlast`.
    """
    stages = modules.pipe.stages
    ports = [f"input wire {CLOCK}", f"input wire {RESET}"]
    for stream in [*inputs, *(stream for stream, _ in outputs)]:
        ports += stream.ports
    lines = [*(f"// {line}" for line in comment), f"module {name} ("]
    lines += [",\n".join(f"    {port}" for port in ports), ");"]
    lines += [f"    reg {_range(stages)} occupied;", f"    reg {_range(len(outputs))} taken;"]
    if inputs:
        lines.append(f"    reg {_range(len(inputs))} skipping;")
    arrived = " & ".join([f"{stream.name}_tvalid" for stream in inputs] + ["~(|skipping)"] * bool(inputs)) or "1'b1"
    left = " & ".join(f"({stream.name}_tready | taken[{i}])" for i, (stream, _) in enumerate(outputs))
    lines += [
        f"    wire arrived = {arrived};",
        f"    wire leaves = {left};",
        f"    wire {ENABLE} = ~occupied[{stages - 1}] | leaves;",
    ]
    lines += [
        f"    assign {stream.name}_tready = ~{RESET} & (skipping[{i}] | ({ENABLE} & arrived));"
        for i, stream in enumerate(inputs)
    ]
    ends = " & ".join(f"{stream.name}_tlast & ~{stream.name}_tuser" for stream in inputs) or "1'b1"
    lines.append(f"    wire [0:0] {unframed}_tdata = ~({ends});")
    for i, (stream, _) in enumerate(outputs):
        lines += [
            f"    assign {stream.name}_tvalid = occupied[{stages - 1}] & ~taken[{i}] & ~{RESET};",
            f"    assign {stream.name}_tlast = 1'b1;",
        ]
    following = f"{{occupied[{stages - 2}:0], arrived}}" if stages > 1 else "arrived"
    lines += [
        f"    always @(posedge {CLOCK}) begin",
        f"        if ({RESET}) begin",
        f"            occupied <= {stages}'d0;",
        f"            taken <= {len(outputs)}'d0;",
        f"        end else if ({ENABLE}) begin",
        f"            occupied <= {following};",
        f"            taken <= {len(outputs)}'d0;",
        "        end else begin",
    ]
    lines += [f"            taken[{i}] <= taken[{i}] | {stream.name}_tready;" for i, (stream, _) in enumerate(outputs)]
    lines += ["        end", "    end"]
    if inputs:
        lines += [f"    always @(posedge {CLOCK}) begin", f"        if ({RESET}) skipping <= {len(inputs)}'d0;"]
        lines.append("        else begin")
        for i, stream in enumerate(inputs):
            moves = f"{stream.name}_tvalid & {stream.name}_tready"
            lines.append(f"            if ({moves}) skipping[{i}] <= ~{stream.name}_tlast;")
        lines += ["        end", "    end"]
    for index in range(len(modules.groups)):
        lines += modules.instance(index)
    for stream, nodes in outputs:
        read = [_element(modules.signal(node, stages), stream.element_bits) for node in reversed(nodes)]
        joined = ",\n".join(f"        {text}" for text in read)
        lines += [f"    assign {stream.name}_tdata = {{", joined, "    };"]
    return "\n".join([*lines, "endmodule", ""])


def _element(value: Operand, bits: int) -> str:
    """Return an element of an output in Verilog, sign-extended to the width of the stream."""
    if isinstance(value, Signal) and value.width == bits:
        return value.name
    return value.slice(0, bits)


def _range(bits: int) -> str:
    return f"[{bits - 1}:0]"
