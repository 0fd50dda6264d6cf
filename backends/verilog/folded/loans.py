"""The multipliers of a top module that stages use in turns, and the wires that join them to the stages."""

from __future__ import annotations

from .lanes import TURNS, Lanes
from .lending import Loan, Sent, sent_by
from .lent_text import lent_text

LENT = "folded_multipliers"


class Loans(Lanes):
    """The wires of a top module, with its memories, its shared lanes, and the multipliers that stages lend out."""

    def _lender(self, number: int) -> str | None:
        """Return the name of the multipliers that make the products of a stage, or None if it makes all by itself."""
        if self.sizes.pool is not None and number in self.sizes.pool.borrowers:
            return "pool"
        groups = [g for g, loan in enumerate(self.sizes.loans) if number in loan.order]
        return f"{LENT}{groups[0]}" if groups else None

    def _sent(self, number: int) -> Sent | None:
        """Return the products that a stage makes outside, or None if it makes none there."""
        if self._lender(number) is None:
            return None
        return sent_by(self.fold, number, self.sizes.choices[number])

    def _lend(self, number: int) -> Sent | None:
        """Return the products that a stage makes outside, and make the stage wait for its turn."""
        sent = self._sent(number)
        if sent is not None:
            ready = self.wire(f"{self.fold.stages[number].name}_away_ready")
            self.ready.setdefault(self.first + number, []).append(ready)
        return sent

    def _sent_wires(self, number: int, sent: Sent | None) -> list[str]:
        """Return the connections between a stage and its multipliers."""
        if sent is None:
            return []
        name = self.fold.stages[number].name
        lender = self._lender(number)
        wires = [f".away_done({self.wire(f'{name}_away_done')})"]
        for place, (x, y) in enumerate(sent.bits):
            factors = [
                self.wire(f"{name}_away{place}_{letter}", bits) for letter, bits in zip("xy", (x, y), strict=True)
            ]
            wires += [f".away{place}_{letter}({factor})" for letter, factor in zip("xy", factors, strict=True)]
            wires.append(f".away{place}({lender}_product{place}[{x + y - 1}:0])")
        return wires

    def _loans(self) -> None:
        """Add the multipliers that stages use in turns to the top module."""
        for group, loan in enumerate(self.sizes.loans):
            self._loan(f"{LENT}{group}", loan)

    def _loan(self, name: str, loan: Loan) -> None:
        stages = [(self.fold.stages[k].name, sent) for k in loan.order if (sent := self._sent(k)) is not None]
        self.files[f"{name}.v"] = lent_text(name, stages, loan.size, loan.bits)
        wires, total = [".clk(clk)", ".rst(rst)"], sum(loan.bits)
        for k, (stage, sent) in enumerate(stages):
            wires += [f".m{k}_{word}({stage}_{wire})" for word, wire in TURNS]
            for place in range(len(sent.bits)):
                wires += [f".m{k}_{letter}{place}({stage}_away{place}_{letter})" for letter in "xy"]
        for slot in range(loan.size):
            needed = max(sum(sent.bits[slot]) for _, sent in stages if slot < len(sent.bits))
            wires.append(f".product{slot}({self._product(name, slot, total, needed)})")
        self.lines.append(f"  {name} {name}_i (\n    {', '.join(wires)});")
