"""A bench of turns at one resource in Icarus: users that start when they may, and end when they like."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tiers import count

from circuitize.backends.verilog.folded.tokens import taking_turns, taking_turns_by_mode

CLOCKS = count(1_500, deep=4_000)


def run(folder: Path, orders: Sequence[Sequence[int]], fault: tuple[str, str] | None = None) -> tuple[bool, int]:
    """Whether one user at a time came, in the order of its mode, and how many frames ended at least.

    `orders` are the users of a frame of each mode; of several, a frame's mode is drawn. `fault` is a guard and what
    stands there without it.
    """
    names, words = [[f"u{k}" for k in order] for order in orders], [f"in{k}" for k in range(len(orders))]
    lines = taking_turns(names[0], [""] * len(names[0])) if len(orders) == 1 else taking_turns_by_mode(words, names)
    text = "\n".join(lines)
    if fault is not None:
        assert fault[0] in text, text
        text = text.replace(*fault)
    (folder / "bench.v").write_text(_bench(text, orders))
    subprocess.run(["iverilog", "-g2005", "-o", "bench", "bench.v"], cwd=folder, check=True)
    said = subprocess.run(["vvp", "-n", "bench"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return "wrong" not in said, int(said.rpartition("ended ")[2] or 0) if "ended" in said else 0


def _bench(turns: str, orders: Sequence[Sequence[int]]) -> str:
    """The users: `at` is the place in the order of the frame's mode of the one that comes next."""
    users = sorted({k for order in orders for k in order})

    def others(user: int) -> str:
        return "|".join(f"u{k}_start" for k in users if k != user) or "0"

    follow = "\n".join(
        f"    if (mode == {m} && at == {place} && {others(user)}) wrong = 1;"
        for m, order in enumerate(orders)
        for place, user in enumerate(order)
    )
    lengths = " : ".join(f"mode == {m} ? {len(order)}" for m, order in enumerate(orders[:-1]))
    length = f"({lengths} : {len(orders[-1])})" if lengths else str(len(orders[0]))
    declared = "\n".join(
        f"  reg u{k}_active = 0;\n"
        f"  wire u{k}_ready;\n"
        f"  wire u{k}_start = u{k}_ready & chance[{k}] & ~rst;\n"
        f"  wire u{k}_done = u{k}_active & chance[{k + 8}];"
        for k in users
    )
    moves = "\n".join(f"    u{k}_active <= u{k}_start | (u{k}_active & ~u{k}_done);" for k in users)
    started, done = ("|".join(f"u{k}_{word}" for k in users) for word in ("start", "done"))
    active = " + ".join(f"u{k}_active" for k in users)
    modes = "\n".join(f"  wire in{m} = mode == {m};" for m in range(len(orders)))
    return f"""\
module bench;
  reg clk = 0, rst = 1, wrong = 0;
  integer seed = 1, at = 0, mode = 0, ended = 0;
  reg [31:0] chance = 0;
  always #1 clk = ~clk;
{modes}
{declared}
{turns}
  always @(posedge clk) begin
    chance <= $urandom(seed);
{follow}
    if ((({active}) > 1) || (({started}) && ({active}) > 0)) wrong = 1;
    if ({done}) begin
      at <= at + 1 == {length} ? 0 : at + 1;
      if (at + 1 == {length}) begin
        ended <= ended + 1;
        mode <= chance[31:20] % {len(orders)};
      end
    end
{moves}
    if (wrong) begin
      $display("wrong");
      $finish;
    end
  end
  initial begin
    #4 rst = 0;
    #{2 * CLOCKS} $display("ended %0d", ended);
    $finish;
  end
endmodule
"""
