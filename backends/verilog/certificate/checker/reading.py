"""The parser of the certified subset of Verilog-2005, which refuses anything outside the subset and names the line."""

from __future__ import annotations

import re
from collections.abc import Callable

from .expressions import Expressions
from .syntax import (
    Assignment,
    Binary,
    Branch,
    Clocked,
    Combinational,
    Condition,
    Declaration,
    Expression,
    Instance,
    Item,
    Loop,
    Memory,
    Module,
    Name,
    Number,
    Slice,
    Statement,
)


def read(text: str, file: str) -> Module:
    """Return the one module that a Verilog file must contain.

    Raise Refused for a text outside the certified subset of Verilog.
    """
    return Reader(text, file).module()


class Reader(Expressions):
    """A reader of the items of a module, one after the other."""

    def module(self) -> Module:
        """Return the one module of the file."""
        self.expect("module")
        made = Module(self.name(), self.file)
        if self.take("#"):
            self.expect("(")
            while True:
                self.expect("parameter")
                name = self.name()
                self.expect("=")
                made.parameters[name] = self.expression()
                if not self.take(","):
                    break
            self.expect(")")
        self.expect("(")
        while True:
            made.ports += self.declarations(True)
            if not self.take(","):
                break
        self.expect(")", ";")
        while not self.take("endmodule"):
            made.items += self.item()
        self.expect("")
        return made

    def declarations(self, port: bool) -> list[Declaration]:
        """Return the declaration of a port, or of a net with the width that the nets after it share."""
        direction = self.next() if port else ""
        if port and direction not in ("input", "output"):
            self.at -= 1
            raise self.fail("input or output")
        kind = self.next()
        if kind not in ("wire", "reg") or (direction == "input" and kind == "reg"):
            self.at -= 1
            raise self.fail("wire or reg")
        signed = self.take("signed")
        width: Expression = Number(1)
        if self.take("["):
            width = self.range()
        return [Declaration(self.name(), direction, kind == "reg", signed, width)]

    def range(self) -> Expression:
        """Return the number of bits of a range, which is written `high:0]`."""
        high = self.expression()
        self.expect(":", "0", "]")
        return Binary("+", high, Number(1))

    def item(self) -> list[Item]:
        """Return the items that stand next."""
        token = self.tokens[self.at]
        if token in ("wire", "reg"):
            return self.nets()
        rules: dict[str, Callable[[], list[Item]]] = {
            "assign": self.assign,
            "always": self.always,
            "initial": self.initial,
            "genvar": self.genvar,
            "generate": self.generate,
            "for": self.loop,
            "if": self.condition,
        }
        return rules[token]() if token in rules else self.instance()

    def nets(self) -> list[Item]:
        """Return the nets of a declaration, with the assignments of the values that it gives them."""
        (first,) = self.declarations(False)
        found: list[Item] = []
        while True:
            if self.take("["):
                self.expect("0", ":")
                last = self.expression()
                self.expect("]")
                entries = Binary("+", last, Number(1))
                found.append(Declaration(first.name, "", first.register, first.signed, first.width, entries))
            else:
                found.append(first)
                if self.take("="):
                    found.append(Assignment(Name(first.name), self.expression()))
            if not self.take(","):
                break
            first = Declaration(self.name(), "", first.register, first.signed, first.width)
        self.expect(";")
        return found

    def assign(self) -> list[Item]:
        """Return a continuous assignment."""
        self.expect("assign")
        target = self.target()
        self.expect("=")
        made = Assignment(target, self.expression())
        self.expect(";")
        return [made]

    def target(self) -> Name | Slice:
        """Return the net, or bits of one, that an assignment drives."""
        found = self.named()
        assert isinstance(found, Name | Slice)
        return found

    def always(self) -> list[Item]:
        """Return a combinational or a clocked block."""
        self.expect("always", "@")
        if self.take("*"):
            return [Combinational(self.statement("="))]
        self.expect("(", "posedge")
        clock = self.name()
        self.expect(")")
        return [Clocked(clock, self.statement("<="))]

    def statement(self, sign: str) -> tuple[Statement, ...]:
        """Return the statements that stand next, whose assignments have this sign."""
        if self.take("begin"):
            found: list[Statement] = []
            while not self.take("end"):
                found += self.statement(sign)
            return tuple(found)
        if self.take("if"):
            self.expect("(")
            condition = self.expression()
            self.expect(")")
            yes = self.statement(sign)
            no = self.statement(sign) if self.take("else") else ()
            return (Branch(condition, yes, no),)
        target = self.target()
        self.expect(sign)
        made = Assignment(target, self.expression())
        self.expect(";")
        return (made,)

    def initial(self) -> list[Item]:
        """Return the file of a memory."""
        self.expect("initial", "$readmemh", "(")
        file = self.tokens[self.at]
        if not re.fullmatch(r'"[A-Za-z0-9_]+\.hex"', file):
            raise self.fail("the plain name of a file of the design")
        self.at += 1
        self.expect(",")
        made = Memory(self.name(), file.strip('"'))
        self.expect(")", ";")
        return [made]

    def genvar(self) -> list[Item]:
        """Go past the declaration of loop variables."""
        self.expect("genvar")
        self.name()
        while self.take(","):
            self.name()
        self.expect(";")
        return []

    def generate(self) -> list[Item]:
        """Return the items of a generate region."""
        self.expect("generate")
        found: list[Item] = []
        while not self.take("endgenerate"):
            found += self.item()
        return found

    def loop(self) -> list[Item]:
        """Return a loop of generated blocks."""
        self.expect("for", "(")
        variable = self.name()
        self.expect("=")
        first = self.expression()
        self.expect(";", variable, "<")
        end = self.expression()
        self.expect(";", variable, "=", variable, "+", "1", ")")
        label, body = self.block()
        return [Loop(variable, first, end, label, body)]

    def condition(self) -> list[Item]:
        """Return generated blocks under a condition."""
        self.expect("if", "(")
        condition = self.expression()
        self.expect(")")
        label, yes = self.block()
        no: tuple[Item, ...] = ()
        if self.take("else"):
            no = tuple(self.condition()) if self.tokens[self.at] == "if" else self.block()[1]
        return [Condition(condition, label, yes, no)]

    def block(self) -> tuple[str, tuple[Item, ...]]:
        """Return the label and the items of a generated block."""
        self.expect("begin", ":")
        label, body = self.name(), []
        while not self.take("end"):
            body += self.item()
        return label, tuple(body)

    def instance(self) -> list[Item]:
        """Return a module placed here."""
        module = self.name()
        parameters = self.pins() if self.take("#") else {}
        name = self.name()
        made = Instance(module, name, parameters, self.pins())
        self.expect(";")
        return [made]

    def pins(self) -> dict[str, Expression]:
        """Return the pins of an instance, or its parameters, by name."""
        self.expect("(")
        found: dict[str, Expression] = {}
        while True:
            self.expect(".")
            name = self.name()
            self.expect("(")
            if name in found:
                raise self.fail(f"{name} once")
            found[name] = self.expression()
            self.expect(")")
            if not self.take(","):
                break
        self.expect(")")
        return found
