"""Verilog signals: how an integer in an interval is declared, extended and written in Verilog."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.types import Fixed


@dataclass(frozen=True, slots=True)
class Signal:
    """A Verilog signal that can hold every integer of an interval; it is unsigned if no integer is negative."""

    name: str
    low: int
    high: int

    @property
    def signed(self) -> bool:
        """Return whether the interval has negative integers, so that the signal is declared as signed."""
        return self.low < 0

    @property
    def width(self) -> int:
        """Return the number of bits of the signal, which is at least 1; a signed signal is in two's complement."""
        return width(self.low, self.high)

    @property
    def held(self) -> tuple[int, int]:
        """Return the least and the greatest number that the bits of the signal can hold, whatever its interval."""
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1

    @property
    def declared(self) -> str:
        """Return the type of the signal for use after `wire`, `reg`, `input` or `output`, such as `signed [7:0]`."""
        return declared(self.width, self.signed)

    def extended(self, bits: int) -> str:
        """Return the value of the signal as a signed Verilog expression of exactly the given number of bits, with every
        bit written out.

        The number `bits` must be at least the signed width, which for an unsigned signal is its width plus one. The
        name of the signal must be an identifier declared with `declared`, which gives even a signal of one bit a range.
        """
        missing = bits - self.width
        assert missing >= (0 if self.signed else 1), (self, bits)
        if not missing:
            return self.name
        top = f"{self.name}[{self.width - 1}]" if self.signed else "1'b0"
        return f"$signed({{{{{missing}{{{top}}}}}, {self.name}}})"

    def slice(self, start: int, count: int) -> str:
        """Return the Verilog of `count` bits of the signal from bit `start` on, as an unsigned expression; bits above
        the signal's highest bit are copies of the sign, or zeros.
        """
        inside = max(0, min(count, self.width - start))
        top = f"{self.name}[{self.width - 1}]" if self.signed else "1'b0"
        parts = [f"{{{count - inside}{{{top}}}}}"] if count > inside else []
        if inside == 1:
            parts.append(f"{self.name}[{start}]")
        elif inside == self.width and not self.signed:
            parts.append(self.name)
        elif inside:
            parts.append(f"{self.name}[{start + inside - 1}:{start}]")
        return parts[0] if len(parts) == 1 else f"{{{', '.join(parts)}}}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A known number in place of a Verilog signal."""

    value: int

    @property
    def signed(self) -> bool:
        """Return whether the number is negative."""
        return self.value < 0

    @property
    def width(self) -> int:
        """Return the number of bits that the number needs."""
        return width(self.value, self.value)

    def extended(self, bits: int) -> str:
        """Return the number as a signed Verilog literal of the given number of bits."""
        return literal(self.value, bits)

    def slice(self, start: int, count: int) -> str:
        """Return `count` bits of the number from bit `start` on, as an unsigned Verilog literal."""
        return f"{count}'d{(self.value >> start) & ((1 << count) - 1)}"


def width(low: int, high: int) -> int:
    """Return the number of bits of the narrowest vector that holds all integers from low to high, which is unsigned if
    low >= 0 and in two's complement if low < 0.
    """
    if low >= 0:
        return max(1, high.bit_length())
    return max((~low).bit_length(), high.bit_length() if high > 0 else 0) + 1


def signed_width(low: int, high: int) -> int:
    """Return the number of bits of the narrowest two's complement vector that holds all integers from low to high."""
    return width(min(low, -1), high)


def declared(bits: int, signed: bool) -> str:
    """Return the type of a vector in a Verilog declaration, such as `signed [7:0]` or `[7:0]`."""
    return f"{'signed ' if signed else ''}[{bits - 1}:0]"


def literal(value: int, bits: int) -> str:
    """Return a signed Verilog literal with the given number of bits, such as `8'sd5` or `-8'sd3`. The most negative
    number of a width is written in binary digits, since its magnitude does not fit into the width.
    """
    if value == -(1 << (bits - 1)):
        return f"{bits}'sb1{'0' * (bits - 1)}"
    return f"-{bits}'sd{-value}" if value < 0 else f"{bits}'sd{value}"


def element(format: Fixed) -> Signal:
    """Return the signal, without a name, of an element of a tensor in the given format."""
    return Signal("", format.low, format.high)
