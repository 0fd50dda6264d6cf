"""The tokens of a channel as Verilog text: which frames are ready, whose turn it is to read, and who uses which
bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .counter import bits_of


def prefix(reader: int) -> str:
    """Return the prefix of the ports of a channel's reader, by the reader's number: `r`, `r1`, `r2` and so on."""
    return "r" if reader == 0 else f"r{reader}"


def queued(banks: int, readers: int, ahead: int | None = None) -> list[str]:
    """Return the counters of the frames that are ready and of the banks that are taken, and the numbers of the banks
    that are written and read.

    Several readers of a channel read each frame in turns: a reader may start once the reader before it is done, and the
    next frame is read once the last reader is done. At most one reader of a channel therefore reads in any clock, and
    what a sender shows stays. A frame is ready when its last element is written, or `ahead` clocks after the writer's
    start.
    """
    bits, bank, last = bits_of(banks), bits_of(banks - 1), prefix(readers - 1)
    there = "w_done" if ahead is None else "w_there"
    lines = [
        f"  reg [{bits - 1}:0] filled;",
        f"  reg [{bits - 1}:0] taken;",
        f"  assign w_free = taken != {bits}'d{banks};",
        "  wire w_last_unused = w_last;" if ahead is not None and banks == 1 else "  wire w_done = w_valid & w_last;",
        *_there(ahead),
    ]
    some = f"filled != {bits}'d0"
    if readers > 1:
        lines += taking_turns([prefix(k) for k in range(readers)], [f"({some}) & "] * readers)
    else:
        lines += [f"  assign r_ready = {some};", "  wire r_done = r_step & r_last;"]
    lines += [
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      filled <= {bits}'d0;",
        f"      taken <= {bits}'d0;",
        "    end else begin",
        f"      if ({there} & ~{last}_start) filled <= filled + {bits}'d1;",
        f"      if (~{there} & {last}_start) filled <= filled - {bits}'d1;",
        f"      if (w_start & ~{last}_done) taken <= taken + {bits}'d1;",
        f"      if (~w_start & {last}_done) taken <= taken - {bits}'d1;",
        "    end",
    ]
    for side, done in (("w", "w_done"), ("r", f"{last}_done")) if banks > 1 else ():
        name = f"{side}_bank"
        lines += [
            f"  reg [{bank - 1}:0] {name};",
            "  always @(posedge clk)",
            f"    if (rst) {name} <= {bank}'d0;",
            f"    else if ({done}) {name} <= ({name} == {bank}'d{banks - 1}) ? {bank}'d0 : {name} + {bank}'d1;",
        ]
    return lines


def _there(ahead: int | None) -> list[str]:
    """Return a pulse `ahead` - 1 clocks after a writer starts a frame, after which the frame may be read; nothing if
    `ahead` is None.
    """
    if ahead is None:
        return []
    bits = bits_of(ahead - 2)
    return [
        "  reg coming;",
        f"  reg [{bits - 1}:0] clocks;",
        f"  wire w_there = coming & (clocks == {bits}'d0);",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      coming <= 1'b0;",
        f"      clocks <= {bits}'d0;",
        "    end else begin",
        "      coming <= w_start | (coming & ~w_there);",
        f"      clocks <= w_start ? {bits}'d{ahead - 2} : clocks - {bits}'d1;",
        "    end",
    ]


def taking_turns(names: Sequence[str], also: Sequence[str]) -> list[str]:
    """Return the logic of turns: each reader is ready in its turn if nobody is busy and if its condition in the texts
    `also` is met.
    """
    bits, readers = bits_of(len(names) - 1), len(names)
    return [
        f"  reg [{bits - 1}:0] turn;",
        "  reg busy;",
        f"  wire starts = {' | '.join(f'{name}_start' for name in names)};",
        f"  wire ends = {' | '.join(f'{name}_done' for name in names)};",
        *(
            f"  assign {name}_ready = {some}(turn == {bits}'d{k}) & ~busy;"
            for k, (name, some) in enumerate(zip(names, also, strict=True))
        ),
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      turn <= {bits}'d0;",
        "      busy <= 1'b0;",
        "    end else begin",
        "      busy <= starts | (busy & ~ends);",
        f"      if (ends) turn <= (turn == {bits}'d{readers - 1}) ? {bits}'d0 : turn + {bits}'d1;",
        "    end",
    ]


def taking_turns_by_mode(modes: Sequence[str], orders: Sequence[Sequence[str]]) -> list[str]:
    """Return the logic of turns if frames of each mode, whose wire is 1 in them, have their own order of turns.

    Between frames it is nobody's turn; then the first reader in the order of the mode is ready.
    """
    names = sorted({name for order in orders for name in order})
    bits, number = bits_of(len(names)), {name: k for k, name in enumerate(names, 1)}
    between = f"{bits}'d0"
    lines = [
        f"  reg [{bits - 1}:0] turn;",
        "  reg busy;",
        f"  wire starts = {' | '.join(f'{name}_start' for name in names)};",
        f"  wire ends = {' | '.join(f'{name}_done' for name in names)};",
    ]
    for name in names:
        opens = [mode for mode, order in zip(modes, orders, strict=True) if order[0] == name]
        first = f" | ((turn == {between}) & ({' | '.join(opens)}))" if opens else ""
        lines.append(f"  assign {name}_ready = ~busy & ((turn == {bits}'d{number[name]}){first});")
    after = []
    for mode, order in zip(modes, orders, strict=True):
        for name, follows in pairwise(order):
            here = f"({mode} & (turn == {bits}'d{number[name]}))"
            after.append(f"({{{bits}{{{here}}}}} & {bits}'d{number[follows]})")
    begun = [f"({{{bits}{{{name}_start}}}} & {bits}'d{number[name]})" for name in names]
    return [
        *lines,
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      turn <= {between};",
        "      busy <= 1'b0;",
        "    end else begin",
        "      busy <= starts | (busy & ~ends);",
        f"      if (starts) turn <= {' | '.join(begun)};",
        f"      else if (ends) turn <= {' | '.join(after) or between};",
        "    end",
    ]


def front(readers: int, shows: bool) -> list[str]:
    """Return the tokens of a state: one bank is read while the other is written, and a frame that is kept swaps the two
    banks.

    A frame reads the state once, or any number of times in modes in which the state does not change. Several readers of
    the state take turns in each frame. If `shows` is true, one more reader reads what the frame has written, after the
    other readers and before the next frame reads or writes the state.
    """
    if readers == 1 and not shows:
        return [
            "  reg fresh;",
            "  reg done;",
            "  wire [0:0] w_bank = ~r_bank;",
            "  assign r_ready = fresh;",
            "  assign all_done = done;",
            "  always @(posedge clk)",
            "    if (rst) begin",
            "      fresh <= 1'b1;",
            "      done <= 1'b0;",
            "    end else begin",
            "      fresh <= commit | steady | (fresh & ~r_start);",
            "      done <= ~commit & ~steady & (done | (r_step & r_last));",
            "    end",
        ]
    bits, names = bits_of(readers), [prefix(k) for k in range(readers)]
    free = [" & ~late" * (shows and k == 0) for k in range(readers)]
    return [
        f"  reg [{bits - 1}:0] turn;",
        "  reg busy;",
        *(["  reg late;"] if shows else []),
        "  wire [0:0] w_bank = ~r_bank;",
        f"  wire starts = {' | '.join(f'{name}_start' for name in names)};",
        f"  wire ends = {' | '.join(f'{name}_done' for name in names)};",
        *(
            f"  assign {name}_ready = steady | ((turn == {bits}'d{k}) & ~busy{late});"
            for k, (name, late) in enumerate(zip(names, free, strict=True))
        ),
        f"  assign all_done = turn == {bits}'d{readers};",
        "  always @(posedge clk)",
        "    if (rst | commit | steady) begin",
        f"      turn <= {bits}'d0;",
        "      busy <= 1'b0;",
        "    end else begin",
        "      busy <= starts | (busy & ~ends);",
        f"      if (ends) turn <= turn + {bits}'d1;",
        "    end",
        *(_shown(prefix(readers)) if shows else []),
    ]


def _shown(name: str) -> list[str]:
    """Return the logic that shows new state: the state is `owed` until it is sent, and `late` if the next frame has
    begun, which then waits for the sender.
    """
    return [
        "  reg owed;",
        "  reg sending;",
        "  reg [0:0] s_bank;",
        "  wire w_done = w_valid & w_last;",
        f"  assign {name}_ready = owed & ~sending & (all_done | late);",
        "  assign w_free = ~late;",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      owed <= 1'b0;",
        "      late <= 1'b0;",
        "      sending <= 1'b0;",
        "    end else begin",
        f"      owed <= w_done | (owed & ~{name}_done);",
        f"      late <= (commit | late) & owed & ~{name}_done;",
        f"      sending <= {name}_start | (sending & ~{name}_done);",
        "    end",
        "  always @(posedge clk) if (w_done) s_bank <= w_bank;",
    ]
