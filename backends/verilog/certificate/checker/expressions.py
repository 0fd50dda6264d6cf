"""The parser of expressions in the certified subset of Verilog-2005."""

from __future__ import annotations

from .syntax import Binary, Choice, Expression, Join, Name, Number, Repeat, Signed, Slice, Unary
from .tokens import Tokens

LEVELS = (("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/"))
"""Binary operators, the loosest first."""
LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}

WIDEST = 1 << 20
"""The most bits of a literal."""

REDUCTIONS = ("&", "|", "^", "~|", "~&")


class Expressions(Tokens):
    """A reader of tokens whose next token begins an expression or a part of an expression."""

    def expression(self) -> Expression:
        """Return the next expression, which may be a conditional operator with its operands."""
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        yes = self.expression()
        self.expect(":")
        return Choice(condition, yes, self.expression())

    def binary(self, level: int) -> Expression:
        """Return the next expression of binary operators that bind at least as tightly as the given level of
        `LEVELS`.
        """
        left = self.unary()
        while (own := LEVEL.get(self.tokens[self.at], -1)) >= level:
            operator = self.next()
            left = Binary(operator, left, self.binary(own + 1))
        return left

    def unary(self) -> Expression:
        """Return the next primary expression, with any number of unary operators before it."""
        if self.tokens[self.at] in ("~", "-", *REDUCTIONS):
            return Unary(self.next(), self.unary())
        return self.primary()

    def primary(self) -> Expression:
        """Return the next number, net, concatenation or expression in parentheses."""
        token = self.tokens[self.at]
        if token == "(":
            self.at += 1
            found = self.expression()
            self.expect(")")
            return found
        if token == "{":
            return self.join()
        if token == "$signed":
            self.expect("$signed", "(")
            found = Signed(self.expression())
            self.expect(")")
            return found
        if token[:1].isdigit() or token[:1] == "'":
            return self.number()
        return self.named()

    def number(self) -> Number:
        """Return the next literal.

        Raise Refused for a literal whose value does not fit its number of bits.
        """
        token = self.next()
        width, mark, rest = token.partition("'")
        if not mark:
            return Number(int(token))
        signed = rest[0] == "s"
        rest = rest[signed:]
        try:
            value = int(rest[1:], {"d": 10, "h": 16, "b": 2}[rest[0]])
            bits = int(width)
        except ValueError:
            self.at -= 1
            raise self.fail("a number with its bits") from None
        if not 1 <= bits <= WIDEST or value >> bits:
            self.at -= 1
            raise self.fail(f"a number that fits its bits, of which there are at most {WIDEST}")
        return Number(value, bits, signed)

    def join(self) -> Expression:
        """Return the next concatenation or replication."""
        self.expect("{")
        first = self.expression()
        if self.take("{"):
            parts = [self.expression()]
            while self.take(","):
                parts.append(self.expression())
            self.expect("}", "}")
            return Repeat(first, parts[0] if len(parts) == 1 else Join(tuple(parts)))
        parts = [first]
        while self.take(","):
            parts.append(self.expression())
        self.expect("}")
        return Join(tuple(parts))

    def named(self) -> Expression:
        """Return the next net, parameter, loop variable or part-select of a net."""
        name = self.name()
        if not self.take("["):
            return Name(name)
        first = self.expression()
        if self.take("+:"):
            width = self.expression()
            self.expect("]")
            return Slice(name, first, width)
        if self.take(":"):
            last = self.expression()
            self.expect("]")
            return Slice(name, last, Binary("+", Binary("-", first, last), Number(1)))
        self.expect("]")
        return Slice(name, first, Number(1))
