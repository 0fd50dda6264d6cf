"""Verilog's operators on the words of a folded design. If an operator cannot show its result, the result is unknown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bits import After, Bits, Operators
from .forms import Form, known
from .refusal import Refused
from .symbols import Symbols
from .tables import LIMIT
from .word import OPAQUE, UNKNOWN, AnyOf, Mixed, Unknown, Word, binary, fits, repeated, unary


class Words:
    """The operators of the certified subset of Verilog on words whose widths are known. If `apart` is true, each
    unknown result is a new object, so that copies of one word can be told from copies of another word.
    """

    def __init__(self, symbols: Symbols, apart: bool = False) -> None:
        self.symbols, self.apart = symbols, apart
        self.operators = Operators(symbols)
        self.refusal = ""
        """Why the first word became unknown that could not be shown."""
        self._joined: dict[frozenset[tuple[int, int]], Bits] = {}

    def unknown(self) -> Unknown:
        """Return a word that may be anything: a new object if `apart` is true, the same object every time otherwise."""
        return Unknown() if self.apart else UNKNOWN

    def bits(self, word: Word, width: int, signed: bool = False) -> Bits | None:
        """Return a word as a vector of bits whose parts are forms, or None if some bits of the word are unknown."""
        if isinstance(word, int):
            return self.operators.number(word, width, signed)
        if isinstance(word, AnyOf):
            return self._or(word.functions)
        if isinstance(word, Bits):
            return Bits(word.parts, signed)
        return None

    def _or(self, functions: frozenset[tuple[int, int]]) -> Bits:
        """Return one bit, the OR of functions of bits. The functions are joined from the highest variable down, so that
        each step is short.
        """
        found = self._joined.get(functions)
        if found is None:
            bits, made = self.symbols.bits, 0
            for function, _ in sorted(functions, key=lambda pair: -bits.nodes[pair[0]][0]):
                made = bits.either(function, made)
            after = After(max(last for _, last in functions), functions)
            found = self._joined[functions] = Bits(((self.symbols.bit(made), 1, after),))
        return found

    def settled(self, bits: Bits) -> Word:
        """Return a vector of bits as a number if all its parts are known and rely on no check, or the vector itself
        otherwise.
        """
        number = start = 0
        for form, width, after in bits.parts:
            if form.terms or after.last:
                return bits
            number |= (form.constant & ((1 << width) - 1)) << start
            start += width
        return number

    def _shown(self, refusal: Refused) -> Word:
        self.refusal = self.refusal or str(refusal)
        return self.unknown()

    def unary(self, operator: str, word: Word, width: int, signed: bool) -> Word:
        """Return the result of a Verilog operator on one word."""
        if isinstance(word, int):
            return unary(operator, word, width)
        if isinstance(word, Mixed) and operator in ("|", "~|", "&", "~&"):
            return self._reduced(operator, word)
        if operator in ("&", "|") and width == 1:
            return word
        bits = self.bits(word, width, signed)
        if bits is None:
            return self.unknown()
        try:
            if operator == "|":
                # Each part may be a bit that reports a failure.
                found: Word = 0
                for part in bits.parts:
                    one = Bits((part,))
                    found = self.either(found, one if part[1] == 1 else self.operators.unary("|", one))
                return found
            return self.settled(self.operators.unary(operator, bits))
        except Refused as refusal:
            return self._shown(refusal)

    def _reduced(self, operator: str, word: Mixed) -> Word:
        """Return the reduction of a word that has unknown bits: a number if one known part of the word decides the
        result, an unknown word otherwise.
        """
        for part, width in word.parts:
            if isinstance(part, int):
                if operator.endswith("|") and part:
                    return int(operator == "|")
                if operator.endswith("&") and part != (1 << width) - 1:
                    return int(operator == "~&")
        return self.unknown()

    def either(self, left: Word, right: Word) -> Word:
        """Return the OR of two words of one bit each."""
        if left == 1 or right == 1:
            return 1
        if isinstance(left, int):
            return right
        if isinstance(right, int) or left is right:
            return left
        if isinstance(left, OPAQUE) or isinstance(right, OPAQUE):
            return self.unknown()
        return AnyOf(self.functions(left) | self.functions(right))

    def functions(self, word: Word) -> frozenset[tuple[int, int]]:
        """Return the functions of bits whose OR is the given word of one bit, each with the number of checks on which
        the function relies. Raise Refused for a word that is unknown.
        """
        if isinstance(word, AnyOf):
            return word.functions
        bits = self.bits(word, 1)
        if bits is None:
            raise Refused("a bit that is not shown")
        return self.operators.any_of(bits)

    def binary(self, operator: str, left: Word, right: Word, width: int, signed: bool) -> Word:
        """Return the result of a Verilog operator on two words of the same width, which are both signed or both read as
        unsigned.
        """
        if isinstance(left, int) and isinstance(right, int):
            return binary(operator, width, signed)(left, right)
        found = self._trivial(operator, left, right, width)
        if found is not None:
            return found
        if operator == "|" and width == 1:
            return self.either(left, right)
        a, b = self.bits(left, width, signed), self.bits(right, width, signed)
        if a is None or b is None:
            return self.unknown()
        try:
            return self.settled(self.operators.binary(operator, a, b))
        except Refused as refusal:
            return self._shown(refusal)

    def _trivial(self, operator: str, left: Word, right: Word, width: int) -> Word | None:
        """Return the result of an operator if one operand is a number that makes the result trivial, such as 0 in a
        product. Return None otherwise.
        """
        ones = (1 << width) - 1
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, int):
                continue
            if operator == "&" and one in (0, ones):
                return other if one else 0
            if operator == "|" and one in (0, ones):
                return ones if one else other
            if operator in ("+", "^") and one == 0:
                return other
            if operator == "*" and one == 0:
                return 0
        return left if operator == "-" and right == 0 and isinstance(right, int) else None

    def choose(self, condition: Word, yes: Word, no: Word, width: int, signed: bool) -> Word:
        """Return the word that is `yes` where the condition is 1, and `no` where the condition is 0."""
        if isinstance(condition, int):
            return yes if condition else no
        if yes is no or (isinstance(yes, int) and isinstance(no, int) and yes == no):
            return yes
        if width == 1 and isinstance(yes, int) and isinstance(no, int):
            return condition if yes else self.unary("~", condition, 1, False)
        words = (self.bits(condition, 1), self.bits(yes, width, signed), self.bits(no, width, signed))
        if words[0] is None or words[1] is None or words[2] is None:
            return self.unknown()
        try:
            return self.settled(self.operators.choice(words[0], words[1], words[2]))
        except Refused as refusal:
            return self._shown(refusal)

    def join(self, parts: Sequence[tuple[Word, int]]) -> Word:
        """Return the concatenation of words, the lowest word first."""
        number, start, others = 0, 0, []
        for word, width in parts:
            assert fits(word, width), "a word of another width"
            if isinstance(word, int):
                number |= word << start
                start += width
            else:
                others.append(word)
        if not others:
            return number
        if any(isinstance(word, OPAQUE) for word in others):
            apart = (part[0].parts if isinstance(part[0], Mixed) else (part,) for part in parts)
            return Mixed(tuple(piece for pieces in apart for piece in pieces))
        found = [self.bits(word, width) for word, width in parts]
        return Bits(tuple(piece for bits in found if bits is not None for piece in bits.parts))

    def repeat(self, count: int, word: Word, width: int) -> Word:
        """Return the concatenation of `count` copies of a word."""
        if isinstance(word, int):
            return repeated(word, width, count)
        if isinstance(word, OPAQUE) or count == 1:
            return self.join([(word, width)] * count)
        bits = self.bits(word, width)
        assert bits is not None
        return self.settled(self.operators.repeat(count, bits))

    def slice(self, word: Word, low: int, width: int, whole: int) -> Word:
        """Return `width` bits, from bit `low` on, of a word of `whole` bits."""
        if isinstance(word, int):
            return (word >> low) & ((1 << width) - 1)
        if low == 0 and width == whole:
            return word
        if isinstance(word, Unknown):
            return self.unknown()
        if isinstance(word, Mixed):
            return self._mixed(word, low, width)
        bits = self.bits(word, whole)
        assert bits is not None
        return self.settled(self.operators.slice(bits, low, width))

    def _mixed(self, word: Mixed, low: int, width: int) -> Word:
        found: list[tuple[Word, int]] = []
        start = 0
        for part, size in word.parts:
            first, last = max(low, start), min(low + width, start + size)
            if first < last:
                found.append((self.slice(part, first - start, last - first, size), last - first))
            start += size
        return found[0][0] if len(found) == 1 else self.join(found)

    def extended(self, word: Word, width: int, more: int) -> Word:
        """Return a word extended by `more` copies of its highest bit."""
        if isinstance(word, int):
            return word | (((1 << more) - 1) << width if word >> (width - 1) else 0)
        bits = self.bits(word, width)
        if bits is None:
            return self.unknown()
        form = self.operators.form(bits, True)
        return self.settled(Bits(((form, width + more, After(bits.last)),)))

    def positive(self, word: Word, width: int) -> Word:
        """Return the number that a signed word represents where the number is not negative, and 0 elsewhere. The result
        has one bit less than the word.
        """
        if isinstance(word, int):
            return 0 if word >> (width - 1) else word
        bits = self.bits(word, width, True)
        if bits is None:
            return self.unknown()
        try:
            form = self.operators.form(bits, True)
            form = self.symbols.positive(form, self.symbols.limit == LIMIT)
            return self.settled(Bits(((form, width - 1, After(bits.last)),)))
        except Refused as refusal:
            return self._shown(refusal)

    def lookup(self, index: Word, width: int, table: Sequence[Word], entry: int) -> Word:
        """Return the entry of a table of known numbers at an index, which is a word made of forms."""
        bits = self.bits(index, width)
        if bits is None or 1 << width != len(table) or entry > 62:
            return self.unknown()
        numbers = np.array([word if isinstance(word, int) else -1 for word in table], np.int64)
        if numbers.min() < 0:
            return self.unknown()
        try:
            form = self.symbols.lookup(self.operators.form(bits, False), numbers, 0)
            return self.settled(Bits(((form, entry, After(bits.last)),)))
        except Refused as refusal:
            return self._shown(refusal)

    def exact(self, word: Bits, width: int, signed: bool, settled: bool) -> Word:
        """Return, as one form, the integer that a net holds. If `settled` is true, the form is written in the canonical
        way for functions of one form.
        """
        try:
            form = self.operators.form(word, signed)
            form = self.symbols.settled(form) if settled else form
        except Refused as refusal:
            return self._shown(refusal)
        after = word.parts[0][2] if width == 1 else After(word.last)
        return self.settled(Bits(((form, width, after),)))

    def checked(self, word: Word, width: int) -> Word:
        """Return the symbol that stands for a checked number, if the word has the same low bits as that number, or the
        word itself otherwise.

        The symbol equals the checked number only in frames in which the check passes; the status reports all other
        frames.
        """
        if not isinstance(word, Bits):
            return word
        for number, symbol in self.symbols.checks_of(self.operators.whole(word)):
            low, high = self.symbols.interval(symbol)
            if -1 << (width - 1) <= low and high < 1 << (width - (low < 0)):
                return Bits(((symbol, width, After(max(word.last, number + 1))),))
        return word

    def free(self, name: str) -> Bits:
        """Return a word of one bit that is a free symbol with the given name."""
        return Bits(((self.symbols.free(0, 1, name), 1, After()),))

    def number(self, word: Word, width: int, signed: bool) -> Form | None:
        """Return the form of the integer that a word represents, or None if some bits of the word are unknown."""
        bits = self.bits(word, width, signed)
        if bits is None:
            return None
        return self.operators.form(bits, signed) if bits.parts else known(0)
