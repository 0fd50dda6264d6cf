"""The compiler of a folded design's expressions: each expression becomes a function of the words that nets hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter

from .circuit import DELAYED
from .compiled import Compiled, Values, checked, exact, joined, masks, sliced
from .elaboration import Scope, number
from .folded_circuit import FoldedCircuit
from .refusal import Refused
from .syntax import (
    Binary,
    Choice,
    Expression,
    Join,
    Name,
    Number,
    Repeat,
    Signed,
    Slice,
    Unary,
    is_plain,
    read_names,
)
from .word import Word, binary
from .words import Words

WIDEST = 1 << 20
"""The most bits of an expression."""


class Compiler:
    """A compiler of Verilog expressions into functions of the words of nets. The compiler refuses an operator whose
    operands differ in width, or in signedness if the result depends on signedness, so that no operand is ever extended.
    """

    def __init__(
        self, circuit: FoldedCircuit, words: Words, numbers: Mapping[str, int], collide: Callable[[int, int], bool]
    ) -> None:
        self.circuit, self.words, self.numbers, self.collide = circuit, words, numbers, collide

    def expression(self, value: Expression, scope: Scope, width: int | None = None) -> Compiled:
        """Compile an expression, which must have `width` bits if `width` is given. Raise Refused for an expression
        outside the subset of Verilog that the checker accepts.
        """
        try:
            made = self._compiled(value, scope)
            if width is not None and made.width != width:
                raise Refused(f"{made.width} bits where {width} are expected")
        except Refused as refusal:
            text = str(refusal)
            raise refusal if ": " in text else Refused(f"{scope.module.name}: {text}") from None
        return made

    def driven(self, value: Expression, scope: Scope, width: int, signed: bool) -> Compiled:
        """Compile the expression whose word a net or a register of the given width and signedness takes."""
        made = self.expression(value, scope, width)
        inner = value.value if isinstance(value, Signed) else value
        taken = inner.parts[0] if isinstance(inner, Join) and len(inner.parts) == 1 else None
        bits = inner if isinstance(inner, Slice) else taken if isinstance(taken, Name) else None
        words, word = self.words, made.word
        if bits is not None and DELAYED.sub("", bits.name) in self.circuit.compared:
            word = checked(words, word, width, signed)
        elif signed and width <= 128:
            word = exact(words, word, width, masks(value))
        return Compiled(width, signed, made.reads, word)

    def chosen(self, condition: Compiled, yes: Compiled, no: Compiled, signed: bool) -> Compiled:
        """Return the expression that is `yes` where the condition is 1, and `no` where the condition is 0. If the
        condition is a known number, only the chosen operand is computed.
        """
        words, width = self.words, yes.width
        asked, one, other = condition.word, yes.word, no.word

        def word(values: Values) -> Word:
            bit = asked(values)
            if bit.__class__ is int:
                return one(values) if bit else other(values)
            return words.choose(bit, one(values), other(values), width, signed)

        return Compiled(width, signed, condition.reads | yes.reads | no.reads, word)

    def _compiled(self, value: Expression, scope: Scope) -> Compiled:
        if isinstance(value, Name):
            return self._net(value, scope)
        if isinstance(value, Slice):
            return self._slice(value, scope)
        if isinstance(value, Number):
            if value.width is None:
                raise Refused(f"{value.value} has no width")
            known = value.value
            return Compiled(value.width, value.signed, frozenset(), lambda values: known)
        if isinstance(value, Join):
            return self._join(value, scope)
        if isinstance(value, Repeat):
            return self._repeat(value, scope)
        if isinstance(value, Signed):
            made = self._compiled(value.value, scope)
            return Compiled(made.width, True, made.reads, made.word)
        if isinstance(value, Unary):
            return self._unary(value, scope)
        if isinstance(value, Binary):
            return self._binary(value, scope)
        if isinstance(value, Choice):
            return self._choice(value, scope)
        raise Refused("a text where a number is expected")

    def _net(self, value: Name, scope: Scope) -> Compiled:
        if value.name in scope.numbers:
            raise Refused(f"{value.name} is a number without a width")
        name = self.circuit.net(value.name, scope)
        net = self.circuit.nets[name]
        if net.entries:
            raise Refused(f"{value.name} is a memory")
        if name not in self.numbers:
            raise Refused(f"{value.name} is a clock, and is read")
        root = self.numbers[name]
        return Compiled(net.width, net.signed, frozenset({root}), itemgetter(root))

    def _slice(self, value: Slice, scope: Scope) -> Compiled:
        name = self.circuit.net(value.name, scope)
        net = self.circuit.nets[name]
        if net.entries:
            return self._entry(value, scope, name)
        low, width = number(value.low, scope), number(value.width, scope)
        if low < 0 or width < 1 or low + width > net.width:
            raise Refused(f"bits {low + width - 1} to {low} of {value.name} of {net.width} bits")
        whole = self._net(Name(value.name), scope)
        return Compiled(width, False, whole.reads, sliced(self.words, whole.word, low, width, net.width))

    def _entry(self, value: Slice, scope: Scope, name: str) -> Compiled:
        """Compile the reading of a memory's entry, which gives the word that the entry holds before the next edge."""
        net, memory, words, collide = self.circuit.nets[name], self.numbers[name], self.words, self.collide
        index = self._compiled(value.low, scope)
        if not is_plain(value.low):
            raise Refused(f"{value.name} has an index with an operator")
        if index.signed or value.width != Number(1):
            raise Refused(f"{value.name} has an index with a sign, or more than one entry")
        place, width, entries, size = index.word, index.width, net.entries, net.width
        constant = name not in self.circuit.written

        def word(values: Values) -> Word:
            at = place(values)
            if isinstance(at, int):
                if at >= entries or collide(memory, at):
                    return words.unknown()
                found: Word = values[memory][at]
                return found
            return words.lookup(at, width, values[memory], size) if constant else words.unknown()

        return Compiled(size, net.signed, index.reads | {memory}, word)

    def _join(self, value: Join, scope: Scope) -> Compiled:
        parts = [self._compiled(part, scope) for part in reversed(value.parts)]
        width = sum(part.width for part in parts)
        extended = self._extension(value, scope, parts)
        if extended is not None:
            return extended
        reads = frozenset[int]().union(*(part.reads for part in parts))
        return Compiled(width, False, reads, joined(self.words, parts))

    def _extension(self, value: Join, scope: Scope, parts: list[Compiled]) -> Compiled | None:
        """Compile `{{N{x[high]}}, x}`, the net x extended by copies of its highest bit. Return None for any other
        concatenation.
        """
        if len(value.parts) != 2:
            return None
        copies, net = value.parts
        if not isinstance(copies, Repeat) or not isinstance(copies.value, Slice) or not isinstance(net, Name):
            return None
        bit, (whole, more) = copies.value, parts
        if bit.name != net.name or number(bit.low, scope) != whole.width - 1 or number(bit.width, scope) != 1:
            return None
        words, read, width, added = self.words, whole.word, whole.width, more.width
        return Compiled(width + added, False, whole.reads, lambda values: words.extended(read(values), width, added))

    def _repeat(self, value: Repeat, scope: Scope) -> Compiled:
        count, part = number(value.count, scope), self._compiled(value.value, scope)
        if count < 1 or count * part.width > WIDEST:
            raise Refused(f"{count} times {part.width} bits are too many, or too few")
        words, read, width = self.words, part.word, part.width
        return Compiled(count * width, False, part.reads, lambda values: words.repeat(count, read(values), width))

    def _unary(self, value: Unary, scope: Scope) -> Compiled:
        part, operator, words = self._compiled(value.value, scope), value.operator, self.words
        read, width, signed = part.word, part.width, part.signed
        if operator == "~" and width == 1:

            def flipped(values: Values) -> Word:
                found = read(values)
                if found.__class__ is int:
                    return found ^ 1
                return words.unary(operator, found, width, signed)

            return Compiled(1, signed, part.reads, flipped)
        alike = operator in ("~", "-")
        made = lambda values: words.unary(operator, read(values), width, signed)  # noqa: E731
        return Compiled(width if alike else 1, alike and signed, part.reads, made)

    def _positive(self, value: Binary, scope: Scope) -> Compiled | None:
        """Compile `{N{~x[N]}} & x[N-1:0]`, which is x where the net x is not negative, and 0 elsewhere. Return None for
        any other operation.
        """
        copies, rest = value.left, value.right
        if value.operator != "&" or not isinstance(copies, Repeat) or not isinstance(rest, Slice):
            return None
        bit = copies.value.value if isinstance(copies.value, Unary) and copies.value.operator == "~" else None
        if (
            not isinstance(bit, Slice)
            or bit.name != rest.name
            or self.circuit.nets[self.circuit.net(bit.name, scope)].entries
        ):
            return None
        whole, words = self._net(Name(rest.name), scope), self.words
        read, size, width = whole.word, whole.width, whole.width - 1
        places = [number(part, scope) for part in (copies.count, bit.low, bit.width, rest.low, rest.width)]
        if places != [width, width, 1, 0, width]:
            return None
        return Compiled(width, False, whole.reads, lambda values: words.positive(read(values), size))

    def _binary(self, value: Binary, scope: Scope) -> Compiled:
        positive = self._positive(value, scope)
        if positive is not None:
            return positive
        left, right = self._compiled(value.left, scope), self._compiled(value.right, scope)
        operator, words = value.operator, self.words
        compared = operator in ("<", ">", "==", "!=")
        if operator not in ("+", "-", "*", "&", "|", "^") and not compared:
            raise Refused(f"operator {operator} outside the subset")
        if left.width != right.width:
            raise Refused(f"operands of {left.width} and {right.width} bits beside {operator}")
        if compared and left.signed != right.signed:
            raise Refused(f"a signed and an unsigned operand beside {operator}")
        a, b, width, signed = left.word, right.word, left.width, left.signed and right.signed
        reads = left.reads | right.reads
        if operator == "&":

            def both(values: Values) -> Word:
                one = a(values)
                if one.__class__ is int and one == 0:
                    return 0
                other = b(values)
                if one.__class__ is int and other.__class__ is int:
                    return one & other
                return words.binary("&", one, other, width, signed)

            return Compiled(width, signed, reads, both)
        known = binary(operator, width, signed)

        def made(values: Values) -> Word:
            one, other = a(values), b(values)
            if one.__class__ is int and other.__class__ is int:
                return known(one, other)
            return words.binary(operator, one, other, width, signed)

        return Compiled(1 if compared else width, not compared and signed, reads, made)

    def _choice(self, value: Choice, scope: Scope) -> Compiled:
        yes, no = self._compiled(value.yes, scope), self._compiled(value.no, scope)
        if yes.width != no.width:
            raise Refused(f"a choice between {yes.width} and {no.width} bits")
        if isinstance(value.condition, Binary) and not any(n in scope.names for n in read_names(value.condition)):
            if yes.signed != no.signed:
                raise Refused("a choice between a signed and an unsigned operand")
            return yes if number(value.condition, scope) else no
        condition = self._compiled(value.condition, scope)
        if condition.width != 1:
            raise Refused(f"a choice by {condition.width} bits")
        return self.chosen(condition, yes, no, yes.signed and no.signed)
