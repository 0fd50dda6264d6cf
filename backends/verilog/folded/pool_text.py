"""A pool of lanes as Verilog text: it decides whose turn it is, selects and multiplies factors, and adds up the
products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..modes import Mode
from .borrowing import Multiplied
from .channel import HEAD, TAIL
from .feeding import Feed, plain
from .graph import Stage
from .lane_text import lane_bits
from .pool import Bits, place_of
from .tiling import Tiling
from .tokens import taking_turns, taking_turns_by_mode

Sources = tuple[int, ...]
"""The columns of its operands of which a factor is made."""
Pairs = tuple[tuple[int, int], ...]
"""The (stage, factor) pairs among which a lane selects a factor."""


@dataclass(frozen=True)
class Member:
    """A stage that shares lanes, with the lane of the pool that serves each of its lanes, and the factors that go to
    this lane.

    `made` lists the distinct first and second factors of a stage, each by the columns that it is made of; those in
    `late` come a clock later from their memories, and registers there take the place of the factors' own. `taken` says
    which of these factors each lane of the stage multiplies. `short` are the lanes of the pool that have no term in the
    last clock of a pass.
    """

    name: str
    feeds: tuple[Feed, Feed]
    made: list[list[Sources]]
    late: list[frozenset[int]]
    taken: list[list[int]]
    lanes: list[int]
    short: frozenset[int]
    taps: list[list[int]]
    sum_bits: int


def member(
    stage: Stage,
    tiling: Tiling,
    feeds: tuple[Feed, Feed],
    slots: Mapping[str, Sequence[int]],
    late: Mapping[str, frozenset[int]],
) -> Member:
    """Return how a stage uses the lanes of the pool; `late` has the columns of its operands that come a clock later
    than others.
    """
    places = range(tiling.lanes * tiling.split)
    made, behind, taken = [], [], []
    for feed in feeds:
        keys = [tuple(slots[operand.name][place] for operand in feed.operands) for place in places]
        own = sorted(set(keys))
        number = {key: k for k, key in enumerate(own)}
        columns = (
            {column for operand in feed.operands for column in late.get(operand.name, ())} if plain(feeds) else set()
        )
        made.append(own)
        behind.append(frozenset(number[key] for key in own if columns & {*key}))
        taken.append([number[key] for key in keys])
    where = [place_of(*divmod(place, tiling.split), tiling.lanes, tiling.units) for place in places]
    spared = [where[p] for p in places if tiling.spare and p % tiling.split >= tiling.split - tiling.spare]
    taps = [
        [place_of(u, part, tiling.lanes, tiling.units) for part in range(tiling.split)] for u in range(tiling.units)
    ]
    bits = lane_bits(stage, tiling.split)
    return Member(stage.name, feeds, made, behind, taken, where, frozenset(spared), taps, bits)


def selections(members: Sequence[Member], size: int, multiplied: Sequence[Multiplied] = ()) -> tuple[list[Pairs], ...]:
    """Return for the first and for the second factor of each lane what the lane selects among; the stages that only
    multiply are numbered after the members.
    """
    sides = []
    for side in (0, 1):
        found: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for number, one in enumerate(members):
            for place, lane in enumerate(one.lanes):
                found[lane].append((number, one.taken[side][place]))
        for number, other in enumerate(multiplied, len(members)):
            for place in range(len(other.bits)):
                found[place].append((number, place))
        sides.append([tuple(pairs) for pairs in found])
    return tuple(sides)


def pool_text(
    name: str,
    members: Sequence[Member],
    bits: Sequence[Bits],
    turns: Mapping[Mode | None, Sequence[int]],
    multiplied: Sequence[Multiplied] = (),
) -> dict[str, str]:
    """Return the modules of a pool by file name; `bits` are the widths of each lane.

    `turns` gives the numbers of the stages in the order of their turns, for each mode if there are modes; the stages
    that only multiply are numbered after the members. Their factors take as many clocks to a product as those of other
    such stages do (`lent_text`).
    """
    ports, lines, size = ["input wire clk", "input wire rst"], [], len(bits)
    for k, one in enumerate(members):
        ports += [f"input wire m{k}_start", f"output wire m{k}_ready", f"input wire m{k}_done"]
        ports += [f"input wire m{k}_add", f"input wire m{k}_last"]
        ports += [f"input wire m{k}_short"] if one.short else []
        for side, letter in enumerate("xy"):
            width = one.feeds[side].bits
            ports += [f"input wire [{width - 1}:0] m{k}_{letter}{n}" for n in range(len(one.made[side]))]
    for k, other in enumerate(multiplied, len(members)):
        ports += [f"input wire m{k}_start", f"output wire m{k}_ready", f"input wire m{k}_done"]
        for n, (x_bits, y_bits) in enumerate(other.bits):
            ports += [f"input wire [{x_bits - 1}:0] m{k}_x{n}", f"input wire [{y_bits - 1}:0] m{k}_y{n}"]
    lends = max((len(other.bits) for other in multiplied), default=0)
    ports += [f"output wire [{sum(bits[lane][:2]) - 1}:0] product{lane}" for lane in range(lends)]
    taps = sorted({tap for one in members for some in one.taps for tap in some})
    ports += [f"output wire [{bits[tap][2] - 1}:0] sum{tap}" for tap in taps]
    ports += [f"input wire {mode.word}" for mode in turns if mode is not None]
    names = [[f"m{k}" for k in order] for order in turns.values()]
    words = [mode.word for mode in turns if mode is not None]
    lines += taking_turns_by_mode(words, names) if words else taking_turns(names[0], [""] * len(names[0]))
    x, y = selections(members, size, multiplied)
    x_of = _factors(lines, "x", x, [own[0] for own in bits], members, multiplied)
    y_of = _factors(lines, "y", y, [own[1] for own in bits], members, multiplied)
    adds: dict[tuple[bool, ...], str] = {}
    lines += [
        "  // The last products of a pass are added, which clears the totals; a clock later the sums are held.",
        *_joined("last", [f"m{k}_last" for k in range(len(members))]),
        *_joined("full", ["last"]),
        "  wire clear = rst | last;",
    ]
    for lane in range(size):
        key = tuple(lane in one.short for one in members)
        if key not in adds:
            adds[key] = f"add{len(adds)}"
            lines += _joined(adds[key], [f"m{k}_{'short' if less else 'add'}" for k, less in enumerate(key)])
    made = [(own, lane < lends) for lane, own in enumerate(bits)]
    kinds = {kind: f"{name}_lane{k or ''}" for k, kind in enumerate(dict.fromkeys(made))}
    for lane in reversed(range(size)):
        total, next_total = bits[lane][2], bits[lane + 1][2] if lane + 1 < size else 0
        parts = [f"{total - next_total}'d0"] if next_total < total else []
        parts += [f"held{lane + 1}"] if next_total else []
        after = f"{{{', '.join(parts)}}}" if len(parts) > 1 else parts[0]
        key = tuple(lane in one.short for one in members)
        shown = f", .product(product{lane})" if lane < lends else ""
        lines += [
            f"  wire [{total - 1}:0] held{lane};",
            f"  {kinds[made[lane]]} lane{lane} (.clk(clk), .x({x_of[x[lane]]}), .y({y_of[y[lane]]}), "
            f".add({adds[key]}), .clear(clear), .full(full), .after({after}), .held(held{lane}){shown});",
        ]
    lines += [f"  assign sum{tap} = held{tap};" for tap in taps]
    whom = ", then ".join([*(one.name for one in members), *(other.name for other in multiplied)])
    head = f"// {size} lanes for {whom}.\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n"
    files = {f"{name}.v": head + "\n".join(lines) + "\n" + TAIL}
    return files | {f"{module}.v": _lane(module, *own, shows) for (own, shows), module in kinds.items()}


def _factors(
    lines: list[str],
    letter: str,
    lanes: Sequence[Pairs],
    widths: Sequence[int],
    members: Sequence[Member],
    multiplied: Sequence[Multiplied],
) -> dict[Pairs, str]:
    """Add the registers of the first or the second factors, one for all lanes that select among the same, and return
    their names.
    """
    side, known = "xy".index(letter), dict[Pairs, str]()
    for pairs, width in zip(lanes, widths, strict=True):
        if pairs in known:
            continue
        known[pairs] = factor = f"{letter}{len(known)}"
        some = []
        for k, n in pairs:
            name = f"m{k}_{letter}{n}"
            if k < len(members):
                feed = members[k].feeds[side]
                some.append(_extended(name, feed.bits, feed.value.signed, width))
            else:
                some.append(_extended(name, multiplied[k - len(members)].bits[n][side], True, width))
        lines += [f"  reg [{width - 1}:0] {factor};", f"  always @(posedge clk) {factor} <= {' | '.join(some)};"]
    return known


def _extended(signal: str, own: int, signed: bool, bits: int) -> str:
    """Return a factor of `own` bits, extended to a signed number of `bits` bits."""
    more = bits - own
    if not more:
        return signal
    sign = f"{signal}[{own - 1}]" if signed else "1'b0"
    return f"{{{{{more}{{{sign}}}}}, {signal}}}"


def _joined(name: str, signals: Sequence[str]) -> list[str]:
    """Return a register that is 1 in the clock after any of the given signals was 1."""
    return [f"  reg {name};", f"  always @(posedge clk) {name} <= ~rst & ({' | '.join(signals)});"]


def _lane(name: str, x: int, y: int, total: int, shows: bool) -> str:
    """Return the module of a shared lane, which adds up one product a clock; sums that are held move on by one lane
    each clock. If `shows` is true, each product is a port.

    The register `total` is cleared with the last product of a pass, whose sum goes to the register `sum`: so the next
    pass begins without a choice between the total and 0, which would take a look-up table for each bit of a lane.
    """
    product = x + y
    term = "product" if total == product else f"product[{total - 1}:0]"
    if total > product:
        term = f"{{{{{total - product}{{product[{product - 1}]}}}}, product}}"
    ports = ["input wire clk", f"input wire [{x - 1}:0] x", f"input wire [{y - 1}:0] y"]
    ports += ["input wire add", "input wire clear", "input wire full"]
    ports += [f"input wire [{total - 1}:0] after", f"output reg [{total - 1}:0] held"]
    ports += [f"output reg [{product - 1}:0] product"] if shows else []
    lines = [
        f"  wire signed [{product - 1}:0] wide_x = $signed({{{{{y}{{x[{x - 1}]}}}}, x}});",
        f"  wire signed [{product - 1}:0] wide_y = $signed({{{{{x}{{y[{y - 1}]}}}}, y}});",
        *([] if shows else [f"  reg signed [{product - 1}:0] product;"]),
        f"  reg [{total - 1}:0] total;",
        f"  reg [{total - 1}:0] sum;",
        f"  wire [{total - 1}:0] more = {term} + total;",
        "  always @(posedge clk) product <= wide_x * wide_y;",
        f"  always @(posedge clk) if (clear) total <= {total}'d0; else if (add) total <= more;",
        "  always @(posedge clk) if (add) sum <= more;",
        "  always @(posedge clk) held <= full ? sum : after;",
    ]
    lines += [f"  wire product_unused = ^product[{product - 1}:{total}];"] if total < product and not shows else []
    text = f"// A lane: products added up, one a clock; the sums of a pass leave over the lanes beside it.\n{HEAD}"
    return f"{text}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(lines) + "\n" + TAIL
