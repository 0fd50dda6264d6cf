"""The parser of a folded design's Verilog, which has constructs that parallel designs lack: memories that are written,
first values of registers, loops in clocked blocks, and texts as parameters.
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
    """Return the one module that a Verilog file of a folded design must contain. Raise Refused for a text outside the
    subset of Verilog that the checker accepts in folded designs.
    """
    return _FoldedReader(text, file).module()


class _FoldedReader(Reader):
    """A reader of the items of a module of a folded design: declarations, assignments, blocks and instances."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.variables: set[str] = set()
        """The variables of loops in clocked blocks that no loop around the next token has."""

    def primary(self) -> Expression:
        """Parse and return a primary expression, which may also be a text in quotes or a call of `$unsigned`."""
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
        """Parse the next item of a module, and return the nets, assignments, blocks or instances of the item."""
        if self.tokens[self.at] == "(":
            return self.attributed()
        if self.take("integer"):
            self.variables.add(self.name())
            self.expect(";")
            return []
        return super().item()

    def attributed(self) -> list[Item]:
        """Parse and return a memory that is declared with attributes. The attributes say of which cells the memory is
        made, and whether a read of an entry at the edge of a write to the same entry may give any word.
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
        """Parse an `initial` statement, and return the file of a memory or the number with which a register begins."""
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
        """Parse and return the next statement of a block, or all statements inside a `begin` block that comes next."""
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
        """Parse and return a `for` loop over statements, whose variable counts up by 1."""
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
        """Parse a `case` statement, and return the statement as nested branches, one for each number, with the default
        last.
        """
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
        """Parse and return an assignment to some bits of the memory entry that `target` names."""
        low = self.expression()
        self.expect("+:")
        width = self.expression()
        self.expect("]", "<=")
        made = Store(target.name, target.low, low, width, self.expression())
        self.expect(";")
        return made
