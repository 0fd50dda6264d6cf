"""An independent reader of emitted Verilog: pyverilog's syntax tree, the signs and widths of what is in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pyverilog.vparser import ast
    from pyverilog.vparser.parser import VerilogParser
    from pyverilog.vparser.preprocessor import preprocess

KEEPS_LEFT = (ast.Sll, ast.Srl, ast.Sla, ast.Sra, ast.Power)
COMPARES = (ast.LessThan, ast.GreaterThan, ast.LessEq, ast.GreaterEq, ast.Eq, ast.NotEq, ast.Eql, ast.NotEql)
TRUTHS = (ast.Land, ast.Lor)
REDUCES = (ast.Ulnot, ast.Uand, ast.Unand, ast.Uor, ast.Unor, ast.Uxor, ast.Uxnor)


@dataclass(frozen=True)
class Declared:
    """A port, wire or register: its bits and whether it is signed; `direction` is empty inside a module."""

    width: int
    signed: bool
    direction: str = ""


@dataclass(frozen=True)
class Module:
    """A module: what it declares, and where an expression mixes signs or shifts what has none."""

    definition: ast.ModuleDef
    names: dict[str, Declared]
    faults: list[str]

    @property
    def ports(self) -> dict[str, Declared]:
        return {name: found for name, found in self.names.items() if found.direction}


_parser: VerilogParser | None = None


def read(files: list[Path], folder: Path) -> dict[str, Module]:
    """The modules of Verilog files, by name; the parser writes what it remembers to `folder`."""
    global _parser
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if _parser is None:
            _parser = VerilogParser(outputdir=str(folder), debug=False)
        text = preprocess([str(path) for path in files], str(folder / "preprocessed.v"))
        tree = _parser.parse(text, debug=0)
    definitions = [node for node in tree.description.definitions if isinstance(node, ast.ModuleDef)]
    return {node.name: _module(node) for node in definitions}


def _module(definition: ast.ModuleDef, given: dict[str, int] | None = None) -> Module:
    """A module as it is with these parameters, the others as they are by default."""
    names: dict[str, Declared] = {}
    constants: dict[str, int] = dict(given or {})
    for node in walk(definition):
        if isinstance(node, (ast.Parameter, ast.Localparam)):
            if node.name not in constants and not isinstance(node.value.var, ast.StringConst):
                constants[node.name] = _number(node.value, constants)
            names[node.name] = Declared(0, bool(node.signed))
    for node in walk(definition):
        if isinstance(node, (ast.Input, ast.Output, ast.Inout, ast.Wire, ast.Reg)):
            earlier = names.get(node.name)
            direction = type(node).__name__.lower() if isinstance(node, (ast.Input, ast.Output, ast.Inout)) else ""
            signed = bool(node.signed) or (earlier.signed if earlier else False)
            width = _width(node.width, constants) if node.width or not earlier else earlier.width
            names[node.name] = Declared(width, signed, direction or (earlier.direction if earlier else ""))
        elif isinstance(node, ast.Genvar):
            names[node.name] = Declared(0, False)
        elif isinstance(node, ast.Integer):
            names[node.name] = Declared(32, True)
    module = Module(definition, names, [])
    for node in walk(definition):
        if isinstance(node, (ast.Assign, ast.BlockingSubstitution, ast.NonblockingSubstitution)):
            _sign(node.right.var, module)
        elif isinstance(node, (ast.IfStatement, ast.CaseStatement)):
            _sign(node.cond if isinstance(node, ast.IfStatement) else node.comp, module)
    return module


def walk(node: ast.Node) -> Iterator[ast.Node]:
    """A node and all below it."""
    yield node
    for child in node.children():
        yield from walk(child)


def _number(value: ast.Node, constants: dict[str, int]) -> int:
    inner = value.var if isinstance(value, ast.Rvalue) else value
    if isinstance(inner, ast.Identifier):
        return constants[inner.name]
    if isinstance(inner, ast.Operator):
        calculate = {"Plus": int.__add__, "Minus": int.__sub__, "Times": int.__mul__}[type(inner).__name__]
        return calculate(_number(inner.left, constants), _number(inner.right, constants))
    text = inner.value
    return int(text, 0) if "'" not in text else int(text.rpartition("d")[2])


def _width(width: ast.Width | None, constants: dict[str, int]) -> int:
    return abs(_number(width.msb, constants) - _number(width.lsb, constants)) + 1 if width else 1


def _sign(node: ast.Node, module: Module) -> bool | None:
    """Whether an expression is signed; None for a plain number, which fits either. Notes what mixes them."""

    def same(*operands: ast.Node) -> bool | None:
        found = {sign for sign in (_sign(one, module) for one in operands) if sign is not None}
        if len(found) > 1:
            module.faults.append(f"{module.definition.name}, line {node.lineno}: signed and unsigned in one expression")
        return all(found) if found else None

    if isinstance(node, ast.Rvalue):
        return _sign(node.var, module)
    if isinstance(node, ast.Identifier):
        if node.name not in module.names:
            module.faults.append(f"{module.definition.name}, line {node.lineno}: {node.name} is not declared")
            return None
        return module.names[node.name].signed
    if isinstance(node, ast.IntConst):
        return "'s" in node.value.lower() if "'" in node.value else None
    if isinstance(node, ast.SystemCall):
        for argument in node.args:
            _sign(argument, module)
        return bool(node.syscall == "signed")
    if isinstance(node, KEEPS_LEFT):
        left = _sign(node.left, module)
        _sign(node.right, module)
        if isinstance(node, ast.Sra) and not left:
            module.faults.append(f"{module.definition.name}, line {node.lineno}: >>> of something unsigned")
        return left
    if isinstance(node, COMPARES):
        same(node.left, node.right)
        return False
    if isinstance(node, TRUTHS):
        _sign(node.left, module)
        _sign(node.right, module)
        return False
    if isinstance(node, REDUCES):
        _sign(node.right, module)
        return False
    if isinstance(node, ast.Cond):
        _sign(node.cond, module)
        return same(node.true_value, node.false_value)
    if isinstance(node, ast.UnaryOperator):
        return _sign(node.right, module)
    if isinstance(node, ast.Operator):
        return same(node.left, node.right)
    for child in node.children():
        _sign(child, module)
    return False


def connections(module: Module, modules: dict[str, Module]) -> list[str]:
    """Instances that connect a whole wire to a port of another width or signedness; addresses have no sign."""
    wrong = []
    for node in walk(module.definition):
        if not isinstance(node, ast.Instance) or node.module not in modules:
            continue
        numbers = [one for one in node.parameterlist if not isinstance(one.argname, ast.StringConst)]
        given = {one.paramname: _number(one.argname, {}) for one in numbers}
        target = modules[node.module]
        ports = (_module(target.definition, given) if given else target).ports
        for connection in node.portlist:
            port = ports.get(connection.portname)
            if port is None:
                wrong.append(f"{node.module} has no port {connection.portname}")
            elif isinstance(connection.argname, ast.Identifier):
                wire = module.names[connection.argname.name]
                address = connection.portname == "index"  # of a table: the bits of a number, whatever its sign
                if wire.width != port.width or (wire.signed != port.signed and not address):
                    wrong.append(f"{node.module}.{connection.portname}: {port} to {connection.argname.name}: {wire}")
    return wrong
