"""The top module of a parallel design: its streams, the single enable signal that stalls every register, and the valid
bits. With state or rounds, frames go through the pipeline one at a time.
"""

from __future__ import annotations

from ...verilog.concatenation import computed_once, concatenation, pieces
from ...verilog.design import CLOCK, RESET, STATUS, Stream
from .modules import CLEAR, ENABLE, Modules
from .rounds import LAST_ROUND, AtOnce
from .state import KEPT
from .text import extended

INDENT = "    "
IDLE = "idle"
"""The signal that is 1 if no frame is in a pipeline with state or rounds."""


def top(
    name: str,
    inputs: list[Stream],
    outputs: list[tuple[Stream, list[int]]],
    modules: Modules,
    comment: list[str],
    unframed: str,
    passing: AtOnce,
) -> str:
    """Return the Verilog of the top module: a frame enters a parallel design when all inputs are valid and the pipeline
    moves.

    The pipeline of a parallel design moves unless the last stage holds a frame of which some output has not been taken.
    After a beat without `tlast`, which the bit `unframed` reports, the beats of that input are skipped up to the next
    beat with `tlast`. With state, a frame enters when the pipeline is empty, and the state follows in the clock in
    which a status of 0 is taken. If frames pass in rounds, each round enters and leaves as a frame does otherwise, and
    the status leaves in the last one.
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
    lines += passing.declared()
    alone = modules.pipe.alone
    if alone:
        lines.append(f"    wire {IDLE} = ~(|occupied);")
    every = range(len(modules.groups))
    used = {gate for index in every for gate in modules.gates(index)}
    if KEPT in used:
        lines.append(f"    wire {KEPT} = {STATUS}_tvalid & {STATUS}_tready & ~{STATUS}_tdata[0];")
    valid = [IDLE] * alone
    valid += [passing.valid(stream) for stream in inputs]
    arrived = " & ".join(valid + ["~(|skipping)"] * bool(inputs)) or "1'b1"
    left = " & ".join(
        f"({passing.unless_given(stream)}{stream.name}_tready | taken[{i}])" for i, (stream, _) in enumerate(outputs)
    )
    lines += [
        f"    wire arrived = {arrived};",
        f"    wire leaves = {left};",
        f"    wire {ENABLE} = ~occupied[{stages - 1}] | leaves;",
    ]
    lines += passing.lines(stages)
    if CLEAR in used:
        lines.append(f"    wire {CLEAR} = {RESET} | (round_ends & {LAST_ROUND});")
    if alone:
        before = ["arrived", *(f"occupied[{stage}]" for stage in range(stages - 1))]
        loads = {modules.gate(stage): name for stage, name in enumerate(before, 1)}
        lines += [f"    wire {gate} = {name};" for gate, name in loads.items() if gate in used]
    lines += [
        f"    assign {stream.name}_tready = ~{RESET} & (skipping[{i}] | ({ENABLE} & arrived{passing.takes(stream)}));"
        for i, stream in enumerate(inputs)
    ]
    ends = " & ".join(f"{passing.right(stream)} & ~{stream.name}_tuser" for stream in inputs) or "1'b1"
    lines.append(f"    wire [0:0] {unframed}_tdata = ~({ends}){passing.failed()};")
    for i, (stream, _) in enumerate(outputs):
        valid_beat = f"occupied[{stages - 1}] & ~taken[{i}] & ~{RESET}{passing.given(stream)}"
        lines += [
            f"    assign {stream.name}_tvalid = {valid_beat};",
            f"    assign {stream.name}_tlast = {passing.last(stream)};",
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
            lines.append(f"            if ({moves}) skipping[{i}] <= ~{stream.name}_tlast{passing.late(i)};")
        lines += ["        end", "    end"]
    if alone:  # What is kept goes back to modules before those that make it.
        lines += [line for index in every for line in modules.wires(index)]
        lines += [line for index in every for line in modules.instance(index)]
    else:
        lines += [line for index in every for line in (*modules.wires(index), *modules.instance(index))]
    for stream, nodes in outputs:
        read = [extended(modules.signal(node, stages), stream.element_bits) for node in nodes]
        lines += _joined(f"{stream.name}_tdata", read, stream.element_bits)
    return "\n".join([*lines, "endmodule", ""])


def _joined(target: str, elements: list[str], bits: int) -> list[str]:
    """Return the Verilog that drives a wire with expressions of so many bits each. If there are many, a block joins
    nets that have some of them each, since the top module has many signals.
    """
    some = pieces(len(elements))
    if len(some) == 1 or all(element[0].isdigit() for element in elements):
        return concatenation(f"assign {target}", elements, INDENT)
    lines, names = [], []
    for number, piece in enumerate(some):
        names.append(f"{target}_part{number}")
        lines += concatenation(f"wire {_range(bits * (piece.stop - piece.start))} {names[-1]}", elements[piece], INDENT)
    lines += computed_once(f"{target}_parts", names, bits * len(elements), INDENT)
    return [*lines, f"{INDENT}assign {target} = {target}_parts;"]


def _range(bits: int) -> str:
    return f"[{bits - 1}:0]"
