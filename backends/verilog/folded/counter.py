"""Counters and memories as Verilog text."""

from __future__ import annotations

from .sequence import Sequence


def counter(
    name: str, sequence: Sequence, step: str, bits: int, files: dict[str, str], apart: bool = False
) -> tuple[list[str], str]:
    """Return the Verilog of a counter that runs through a sequence, by one number in each clock in which `step` is 1,
    and the expression of the present number.

    The contents of the tables of a counter are added to `files`. If `apart` is true, a register follows each table that
    is in a block memory.
    """
    first = sequence.first
    if sequence.constant:
        return [], f"{bits}'d{first}"
    if sequence.loops is None:
        return _table(name, sequence, step, bits, files, apart), name
    loops = sequence.moving
    declared, moves = [f"  reg [{bits - 1}:0] {name};"], []
    resets = [f"      {name} <= {bits}'d{first};"]
    own = len(loops) == 1 and loops[0][1] == 1 and first == 0
    ends, back, choices = [], 0, []
    for place, (count, stride) in enumerate(loops):
        delta = (stride - back) % (1 << bits)
        choices.append(f"{name} + {bits}'d{delta}")
        back += stride * (count - 1)
        index, width = (name, bits) if own else (f"{name}_i{place}", max(1, (count - 1).bit_length()))
        before = f"{name}_end{place - 1} & " if place else ""
        declared.append(f"  wire {name}_end{place} = {before}({index} == {width}'d{count - 1});")
        if not own:
            declared.insert(-1, f"  reg [{width - 1}:0] {index};")
            resets.append(f"      {index} <= {width}'d0;")
            guard = f"if ({name}_end{place - 1}) " if place else ""
            moves.append(f"      {guard}{index} <= {name}_end{place} ? {width}'d0 : {index} + {width}'d1;")
        ends.append(f"{name}_end{place}")
    text = choices[0]
    for end, choice in zip(ends, [*choices[1:], f"{bits}'d{first}"], strict=True):
        text = f"{end} ? {choice} : {text}" if text == choices[0] else f"{end} ? {choice} : ({text})"
    lines = [
        *declared,
        "  always @(posedge clk)",
        "    if (rst) begin",
        *resets,
        f"    end else if ({step}) begin",
        *moves,
        f"      {name} <= {text};",
        "    end",
    ]
    return lines, name


def _table(name: str, sequence: Sequence, step: str, bits: int, files: dict[str, str], apart: bool) -> list[str]:
    """Return the Verilog of a table that is read ahead: a register holds the present number, and `next` is the place of
    the number after it. If a second register follows the table, `next` is one place further.
    """
    steps, values = sequence.steps, sequence.values
    apart = apart and rom_in_block(steps, bits)
    read = f"{name}_ahead" if apart else name
    places = max(1, (steps - 1).bit_length())
    files[f"{name}.hex"] = "".join(f"{value:x}\n" for value in values.tolist())
    style = ['  (* rom_style = "block" *)'] if rom_in_block(steps, bits) else []
    return [
        *style,
        f"  reg [{bits - 1}:0] {name}_table [0:{steps - 1}];",
        f'  initial $readmemh("{name}.hex", {name}_table);',
        f"  reg [{places - 1}:0] {name}_next;",
        *([f"  reg [{bits - 1}:0] {read};"] if apart else []),
        f"  reg [{bits - 1}:0] {name};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        *([f"      {read} <= {bits}'d{int(values[1 % steps])};"] if apart else []),
        f"      {name} <= {bits}'d{int(values[0])};",
        f"      {name}_next <= {places}'d{(1 + apart) % steps};",
        f"    end else if ({step}) begin",
        *([f"      {name} <= {read};"] if apart else []),
        f"      {read} <= {name}_table[{name}_next];",
        f"      {name}_next <= ({name}_next == {places}'d{steps - 1}) ? {places}'d0 : {name}_next + {places}'d1;",
        "    end",
    ]


BLOCK_BITS = 4096
"""Memories of so many bits or more, and of at least BLOCK_WORDS words, go into block RAM."""
BLOCK_WORDS = 64


def in_block(words: int, width: int) -> bool:
    """Return whether a memory is put into block RAM."""
    return words >= BLOCK_WORDS and words * width >= BLOCK_BITS


def rom_in_block(words: int, width: int) -> bool:
    """Return whether constants are put into block RAM: LUTs hold up to 64 words well, but longer tables badly."""
    return words > 64 and words * width >= BLOCK_BITS // 4


def banked(banks: int, depth: int, width: int, dense: bool = False) -> tuple[int, int, bool]:
    """Return the words of a memory of `banks` banks of `depth` words each, the number of address bits that select the
    bank, and whether these are the lowest bits.

    The lowest address bits of a memory select the bank if the memory is in block RAM, or if `dense` is true, and if it
    then takes no more words than with the highest bits.
    """
    if banks == 1:
        return depth, 0, False
    bank, bits = bits_of(banks - 1), bits_of(depth - 1)
    low = depth << bank <= banks << bits and (dense or in_block(depth << bank, width))
    return (depth << bank if low else banks << bits), bank, low


def bits_of(most: int) -> int:
    """Return the number of bits, at least one, that hold the numbers from 0 to `most`."""
    return max(1, most.bit_length())


def start(initialised: bool) -> tuple[str, str]:
    """Return the parameter of a memory's module that names the file of its first words, and the text that loads this
    file; both are empty if the memory is not initialised.
    """
    if not initialised:
        return "", ""
    load = '\n  generate if (FILE != "") begin : start\n    initial $readmemh(FILE, words);\n  end endgenerate'
    return ', parameter FILE = ""', load


def memory(block: bool, initialised: bool) -> tuple[str, str]:
    """Return the name and the text of a memory's module, in block RAM or in LUTs, with or without first contents."""
    name = "folded_" + ("state_" if initialised else "") + ("block" if block else "memory")
    style = "block" if block else "distributed"
    extra, load = start(initialised)
    text = f"""\
// One memory with one port to write and one to read; what is read is there a clock later.
`default_nettype none
module {name} #(parameter WIDTH = 8, parameter WORDS = 2, parameter ADDRESS = 1{extra}) (
  input wire clk,
  input wire write,
  input wire [ADDRESS-1:0] write_address,
  input wire [WIDTH-1:0] write_data,
  input wire read,
  input wire [ADDRESS-1:0] read_address,
  output reg [WIDTH-1:0] read_data
);
  (* ram_style = "{style}" *)
  reg [WIDTH-1:0] words [0:WORDS-1];{load}
  always @(posedge clk) begin
    if (write) words[write_address] <= write_data;
    if (read) read_data <= words[read_address];
  end
endmodule
`default_nettype wire
"""
    return name, text


def counts(name: str, last: int, step: str) -> list[str]:
    """Return a counter from 0 up to `last` and again, that counts the clocks in which `step` is 1; `NAME_ends` is 1
    where it is at the last.
    """
    if last == 0:
        return [f"  wire {name}_ends = 1'b1;"]
    bits = bits_of(last)
    return [
        f"  reg [{bits - 1}:0] {name};",
        f"  wire {name}_ends = {name} == {bits}'d{last};",
        "  always @(posedge clk)",
        f"    if (rst) {name} <= {bits}'d0;",
        f"    else if ({step}) {name} <= {name}_ends ? {bits}'d0 : {name} + {bits}'d1;",
    ]
