"""The shared lanes of a top module, and the wires that join them to the stages that take turns at them."""

from __future__ import annotations

from .borrowing import borrowed_products
from .memories import Memories
from .pool import Use, use, widths
from .pool_text import Member, member, pool_text

POOL = "folded_pool"
TURNS = (("start", "start"), ("ready", "away_ready"), ("done", "away_done"))
"""The signals of a turn at multipliers, and the wires of the stage that they are joined to."""


class Lanes(Memories):
    """The wires of a top module, with its memories and with the lanes that stages share."""

    def _share(self, number: int) -> tuple[Member, Use]:
        """Return how a stage uses the pool, and make the stage wait for its turn."""
        pool = self.sizes.pool
        assert pool is not None
        name = self.fold.stages[number].name
        self.ready.setdefault(self.first + number, []).append(self.wire(f"{name}_pool_ready"))
        return self._member(number), use(self.fold, pool, number, self.sizes.choices[number])

    def _member(self, number: int) -> Member:
        stage, feeds = self.fold.stages[number], self.fold.members[number]
        return member(stage, self.plan.tilings[number], feeds, self.plan.slots(number), self.plan.late(number))

    def _pool_wires(self, number: int) -> list[str]:
        """Return the connections between a stage and the pool."""
        if number not in self.fold.members:
            return []
        one, name = self._member(number), self.fold.stages[number].name
        signals = [f"pool_{word}" for word in ("add", "last", "done", *(["short"] if one.short else []))]
        wires = [f".{signal}({self.wire(f'{name}_{signal}')})" for signal in signals]
        for side, letter in enumerate("xy"):
            for n in range(len(one.made[side])):
                factor = self.wire(f"{name}_pool_{letter}{n}", one.feeds[side].bits)
                wires.append(f".pool_{letter}{n}({factor})")
        for u, parts in enumerate(one.taps):
            wires += [f".sum{u}_{part}(pool_sum{tap}[{one.sum_bits - 1}:0])" for part, tap in enumerate(parts)]
        return wires

    def _pool(self) -> None:
        """Add the pool of shared lanes to the top module."""
        pool = self.sizes.pool
        if pool is None:
            return
        members = [self._member(number) for number in pool.stages]
        multiplied = borrowed_products(self.fold, self.sizes.choices, pool)
        bits = widths(self.fold, self.sizes.choices, pool.borrowers.values())
        numbers = [*pool.stages, *pool.borrowers]
        turns = {mode: [numbers.index(number) for number in order] for mode, order in pool.orders.items()}
        self.files.update(pool_text(POOL, members, bits, turns, multiplied))
        wires = [".clk(clk)", ".rst(rst)"]
        modes = [mode for mode in pool.orders if mode is not None]
        wires += [f".{mode.word}({self.conductor.within(frozenset({mode}))})" for mode in modes]
        for k, one in enumerate(members):
            wires += [f".m{k}_start({one.name}_start)", f".m{k}_ready({one.name}_pool_ready)"]
            words = ("done", "add", "last", *(["short"] if one.short else []))
            wires += [f".m{k}_{word}({one.name}_pool_{word})" for word in words]
            for side, letter in enumerate("xy"):
                wires += [f".m{k}_{letter}{n}({one.name}_pool_{letter}{n})" for n in range(len(one.made[side]))]
        for k, (number, other) in enumerate(zip(pool.borrowers, multiplied, strict=True), len(members)):
            wires += [f".m{k}_{word}({other.name}_{wire})" for word, wire in TURNS]
            letters = "yx" if pool.borrowers[number].turned else "xy"
            for n in range(len(other.bits)):
                wires += [f".m{k}_{to}{n}({other.name}_away{n}_{own})" for to, own in zip("xy", letters, strict=True)]
        for lane in range(max((len(other.bits) for other in multiplied), default=0)):
            needed = max(sum(other.bits[lane]) for other in multiplied if lane < len(other.bits))
            wires.append(f".product{lane}({self._product('pool', lane, sum(bits[lane][:2]), needed)})")
        for tap in sorted({tap for one in members for some in one.taps for tap in some}):
            needed = max(one.sum_bits for one in members for some in one.taps if tap in some)
            total = bits[tap][2]
            wires.append(f".sum{tap}({self.wire(f'pool_sum{tap}', total)})")
            if needed < total:
                self.lines.append(f"  wire pool_sum{tap}_unused = ^pool_sum{tap}[{total - 1}:{needed}];")
        self.lines.append(f"  {POOL} pool_i (\n    {', '.join(wires)});")

    def _product(self, name: str, slot: int, bits: int, needed: int) -> str:
        """Declare the wire of a product, of which the lowest `needed` bits are used, and return its name."""
        wire = self.wire(f"{name}_product{slot}", bits)
        if needed < bits:
            self.lines.append(f"  wire {wire}_unused = ^{wire}[{bits - 1}:{needed}];")
        return wire
