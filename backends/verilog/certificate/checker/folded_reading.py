"""The parser of what folded designs have beside the subset of parallel ones: memories that are written, numbers that
registers begin with, loops in clocked blocks, texts as parameters.
"""

from __future__ import annotations

from dataclasses import replace

from .reading import Reader
from .syntax import (
    Binary,
    Branch,
    Declaration,
    Each,
    Expression,
    Initial,
    Item,
    Join,
    Memory,
    Module,
    Name,
    Number,
    Slice,
    Statement,
    Store,
    Text,
)

STYLES = ('"block"', '"distributed"')


def read_folded(text: str, file: str) -> Module:
    """The one module that a Verilog file of a folded design must contain. Raise Refused for a text outside the subset
    of folded designs.
    """
    return _FoldedReader(text, file).module()


class _FoldedReader(Reader):
    """A reader of the items of a module of a folded design."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.variables: set[str] = set()
        """The variables of loops in clocked blocks that no loop around the next token has."""

    def primary(self) -> Expression:
        """Return a primary expression, a text, or `$unsigned`."""
        token = self.tokens[self.at]
        if token.startswith('"'):
            self.at += 1
            return Text(token.strip('"'))
        if self.take("$unsigned"):
            self.expect("(")
            # A concatenation has no sign.
            bits = Join((self.expression(),))
            self.expect(")")
            return bits
        return super().primary()

    def item(self) -> list[Item]:
        """Return the nets, assignments, blocks or instances of the next item."""
        if self.tokens[self.at] == "(":
            return self.attributed()
        if self.take("integer"):
            self.variables.add(self.name())
            self.expect(";")
            return []
        return super().item()

    def attributed(self) -> list[Item]:
        """Return a memory with the attributes that say of which cells it is made, and whether an entry may be read at
        the edge at which it is written.
        """
        self.expect("(", "*")
        if not self.take("rom_style"):
            self.expect("ram_style")
        self.expect("=")
        if self.next() not in STYLES:
            self.at -= 1
            raise self.fail('"block" or "distributed"')
        unordered = self.take(",")
        if unordered:
            self.expect("no_rw_check")
        self.expect("*", ")")
        made = self.nets()
        if len(made) != 1 or not isinstance(made[0], Declaration) or made[0].entries is None:
            raise self.fail("one memory behind its attributes")
        return [replace(made[0], unordered=unordered)]

    def initial(self) -> list[Item]:
        """Return the file of a memory, or the number with which a register begins."""
        self.expect("initial")
        if self.tokens[self.at] != "$readmemh":
            name = self.name()
            self.expect("=")
            first = Initial(name, self.expression())
            self.expect(";")
            return [first]
        self.at -= 1
        if self.tokens[self.at + 3].startswith('"'):
            return super().initial()
        self.expect("initial", "$readmemh", "(")
        file = Name(self.name())
        self.expect(",")
        made = Memory(self.name(), file)
        self.expect(")", ";")
        return [made]

    def statement(self, sign: str) -> tuple[Statement, ...]:
        """Return the statements that stand next."""
        if self.take("for"):
            return (self.each(sign),)
        if self.take("case"):
            return (self.case(sign),)
        before = self.at
        if sign == "<=" and self.tokens[self.at] not in ("begin", "if"):
            target = self.target()
            if isinstance(target, Slice) and target.width == Number(1) and self.take("["):
                return (self.stored(target),)
            self.at = before
        return super().statement(sign)

    def each(self, sign: str) -> Each:
        """Return a loop of statements."""
        self.expect("(")
        if self.tokens[self.at] not in self.variables:
            raise self.fail("an integer that no loop around this one counts")
        variable = self.name()
        self.expect("=")
        first = self.expression()
        self.expect(";", variable, "<")
        end = self.expression()
        self.expect(";", variable, "=", variable, "+", "1", ")")
        self.variables.remove(variable)
        body = self.statement(sign)
        self.variables.add(variable)
        return Each(variable, first, end, body)

    def case(self, sign: str) -> Statement:
        """Return the statements of each number, as branches; the default stands last."""
        self.expect("(")
        value = self.expression()
        self.expect(")")
        found: list[tuple[Expression, tuple[Statement, ...]]] = []
        while not self.take("default"):
            if not self.tokens[self.at][:1].isdigit():
                raise self.fail("a number, or default")
            number = self.number()
            self.expect(":")
            found.append((Binary("==", value, number), self.statement(sign)))
        self.expect(":")
        made = self.statement(sign)
        self.expect("endcase")
        for condition, body in reversed(found):
            made = (Branch(condition, body, made),)
        if not found:
            raise self.fail("a number")
        return made[0]

    def stored(self, target: Slice) -> Store:
        """Return an assignment to bits of an entry of a memory."""
        low = self.expression()
        self.expect("+:")
        width = self.expression()
        self.expect("]", "<=")
        made = Store(target.name, target.low, low, width, self.expression())
        self.expect(";")
        return made
