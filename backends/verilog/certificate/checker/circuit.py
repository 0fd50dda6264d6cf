"""A hierarchy of modules as a list of nets with their drivers: names are resolved, loops are unrolled, and every bit is
driven once.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping

from .elaboration import Scope, compares, number
from .nets import Driver, Net, require_drivers, require_order
from .refusal import Refused
from .syntax import (
    Assignment,
    Binary,
    Clocked,
    Combinational,
    Condition,
    Declaration,
    Expression,
    Initial,
    Instance,
    Item,
    Join,
    Loop,
    Memory,
    Module,
    Name,
    Number,
    Slice,
    Unary,
    assignments,
    read_names,
    within,
)

DELAYED = re.compile(r"_(?:d|at)\d+\Z")


class Circuit:
    """The nets below a top module by their names, `instance.instance.net`; the contents of modules in `cut` are left
    out.

    The input ports of the top module, and the output ports of modules in `cut`, have no driver.
    """

    def __init__(self, modules: Mapping[str, Module], top: str, cut: Iterable[str] = ()) -> None:
        self.modules, self.cut = modules, frozenset(cut)
        self.nets: dict[str, Net] = {}
        self.memories: dict[str, str] = {}
        self.placed: dict[str, str] = {}
        """The module of each instance, by its path; the path of the top module is empty."""
        self.free: set[str] = set()
        self.compared: set[str] = set()
        """Names of nets that are compared with a number, without the suffix that says by how many registers they are
        delayed.
        """
        if top not in modules:
            raise Refused(f"expected a module {top}, found none")
        self._place(modules[top], "", {}, None)
        require_drivers(self.nets, self.undriven())
        require_order(self.nets)

    def undriven(self) -> set[str]:
        """The nets that need no driver: inputs, and memories that are loaded."""
        return {*self.free, *self.memories}

    def net(self, name: str, scope: Scope) -> str:
        """Return the net for which a name stands in a module."""
        found = scope.names.get(name)
        if found is None:
            raise Refused(f"{scope.module.name}: {name} is not declared")
        return found

    def place(self, target: Name | Slice, scope: Scope) -> tuple[str, int, int]:
        """Return the net that an assignment drives, and which of its bits."""
        name = self.net(target.name, scope)
        if isinstance(target, Name):
            return name, 0, self.nets[name].width
        low, width = number(target.low, scope), number(target.width, scope)
        if low < 0 or width < 1 or low + width > self.nets[name].width:
            raise Refused(f"{scope.module.name}: bits past the ends of {target.name}")
        return name, low, width

    def source(self, name: str) -> str:
        """Return the net of which a given net is only another name, through assignments of whole nets and the ports of
        modules.
        """
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            drivers = self.nets[name].drivers
            if len(drivers) != 1 or drivers[0].width != self.nets[name].width or self.nets[name].clocked:
                return name
            (driver,) = drivers
            if driver.value is None and not driver.from_bit and self.nets[driver.port].width == driver.width:
                name = driver.port
            elif isinstance(driver.value, Name) and self._alike(driver.scope.names.get(driver.value.name), name):
                name = driver.scope.names[driver.value.name]
            else:
                return name
        raise Refused(f"{name} depends on itself")

    def _alike(self, other: str | None, name: str) -> bool:
        """Return whether a name is a net, not a memory, and has the width of another net."""
        return other is not None and not self.nets[other].entries and self.nets[other].width == self.nets[name].width

    def _place(self, module: Module, path: str, numbers: dict[str, int], pins: tuple[Instance, Scope] | None) -> None:
        if path.count(".") > 8:
            raise Refused(f"{module.name}: modules within modules without end")
        self.placed[path] = module.name
        scope = Scope(module, path, {}, dict(numbers))
        for parameter, value in module.parameters.items():
            if parameter not in scope.numbers:
                self._parameter(parameter, value, scope, scope.numbers)
        for port in module.ports:
            self._declare(port, scope)
        if pins is None:
            self.free |= {scope.names[port.name] for port in module.ports if port.direction == "input"}
        else:
            self._connect(module, scope, *pins)
        if module.name in self.cut:
            self.free |= {scope.names[port.name] for port in module.ports if port.direction == "output"}
            return
        self._items(module.items, scope)

    def _declare(self, made: Declaration, scope: Scope) -> None:
        if made.name in scope.names or made.name in scope.numbers:
            raise Refused(f"{scope.module.name}: {made.name} is declared twice")
        width = number(made.width, scope)
        if not 1 <= width <= 1 << 20:
            raise Refused(f"{scope.module.name}: {made.name} has {width} bits")
        name = f"{scope.path}.{made.name}" if scope.path else made.name
        scope.names[made.name] = name
        entries = 0 if made.entries is None else number(made.entries, scope)
        if name in self.nets:
            raise Refused(f"{scope.module.name}: {name} is declared twice")
        self.nets[name] = Net(width, made.signed, made.register, scope, entries)

    def _connect(self, module: Module, scope: Scope, instance: Instance, outer: Scope) -> None:
        if set(instance.pins) != {port.name for port in module.ports}:
            missing = set(instance.pins) ^ {port.name for port in module.ports}
            raise Refused(f"{outer.module.name}: {instance.name} has other pins than {module.name}: {min(missing)}")
        for port in module.ports:
            value, name = instance.pins[port.name], scope.names[port.name]
            if port.direction == "input":
                self.nets[name].drivers.append(Driver(0, self.nets[name].width, outer, value))
                continue
            start = 0
            for part in reversed(value.parts if isinstance(value, Join) else (value,)):
                if not isinstance(part, Name | Slice):
                    raise Refused(f"{outer.module.name}: pin {port.name} of {instance.name} drives no net")
                target, low, width = self.place(part, outer)
                self.nets[target].drivers.append(Driver(low, width, outer, None, name, start))
                start += width
            if start != self.nets[name].width:
                raise Refused(f"{outer.module.name}: pin {port.name} of {instance.name} has {start} bits")

    def _items(self, items: Iterable[Item], scope: Scope) -> None:
        """Read the declarations of a module first, so that a module may be placed above the declaration of the nets
        that it drives.
        """
        later: list[Item] = []
        for item in items:
            if isinstance(item, Declaration):
                self._declare(item, scope)
            else:
                later.append(item)
        for item in later:
            if isinstance(item, Assignment):
                self._drive(item, scope, False)
            elif isinstance(item, Combinational):
                self._combinational(item, scope)
            elif isinstance(item, Clocked):
                self._clocked(item, scope)
            elif isinstance(item, Memory):
                self._memory(item, scope)
            elif isinstance(item, Instance):
                self._instance(item, scope)
            elif isinstance(item, Loop):
                first, end = number(item.first, scope), number(item.end, scope)
                if compares(item.first, item.end) or first < 0 or end - first > 1 << 16:
                    raise Refused(f"{scope.module.name}: expected a loop over few numbers from 0 up")
                for value in range(first, end):
                    inner = {**scope.numbers, item.variable: value}
                    self._block(f"{item.label}[{value}]", item.body, scope, inner)
            elif isinstance(item, Condition):
                chosen = item.yes if self.holds(item.condition, scope) else item.no
                self._block(item.label, chosen, scope, scope.numbers)
            elif isinstance(item, Initial):
                self._initial(item, scope)

    def holds(self, condition: Expression, scope: Scope) -> bool:
        """Whether a condition holds when the design is elaborated."""
        return number(condition, scope) != 0

    def _initial(self, item: Initial, scope: Scope) -> None:
        raise Refused(f"{scope.module.name}: expected {item.name} without a first value, found one")

    def _parameter(self, name: str, value: Expression, scope: Scope, numbers: dict[str, int]) -> None:
        """Note the value of a parameter."""
        numbers[name] = number(value, scope)
        if compares(value):
            raise Refused(f"{scope.module.name}: expected a number for {name}, found a comparison")

    def _block(self, label: str, body: Iterable[Item], scope: Scope, numbers: dict[str, int]) -> None:
        path = f"{scope.path}.{label}" if scope.path else label
        inner = Scope(scope.module, path, ChainMap({}, scope.names), numbers)
        self._items(body, inner)

    def _instance(self, item: Instance, scope: Scope) -> None:
        module = self.modules.get(item.module)
        if module is None:
            raise Refused(f"{scope.module.name}: {item.name} is of the module {item.module}, which is not there")
        numbers: dict[str, int] = {}
        for parameter, value in item.parameters.items():
            self._parameter(parameter, value, scope, numbers)
        if not numbers.keys() <= module.parameters.keys():
            raise Refused(f"{scope.module.name}: {item.name} has a parameter that {module.name} has not")
        path = f"{scope.path}.{item.name}" if scope.path else item.name
        if path in self.placed:
            raise Refused(f"{scope.module.name}: {item.name} is placed twice")
        self._place(module, path, numbers, (item, scope))

    def _memory(self, item: Memory, scope: Scope) -> None:
        name = self.net(item.name, scope)
        if not self.nets[name].entries or name in self.memories:
            raise Refused(f"{scope.module.name}: {item.name} is no memory, or is read twice")
        self.memories[name] = self._file(item.file, scope)

    def _file(self, file: str | Name, scope: Scope) -> str:
        if isinstance(file, Name):
            raise Refused(f"{scope.module.name}: expected the name of a file, found {file.name}")
        return file

    def _drive(self, item: Assignment, scope: Scope, register: bool) -> None:
        name, low, width = self.place(item.target, scope)
        net = self.nets[name]
        if net.register is not register or net.entries:
            raise Refused(f"{scope.module.name}: {item.target.name} is assigned as what it is not")
        net.drivers.append(Driver(low, width, scope, item.value))
        self._note(item.value)

    def _combinational(self, item: Combinational, scope: Scope) -> None:
        """Check that no assignment of a block reads what a later assignment of the same block drives, and that the
        block reads anything at all.
        """
        targets = [part.target.name for part in item.body if isinstance(part, Assignment)]
        if len(targets) != len(item.body) or len(set(targets)) != len(targets):
            raise Refused(f"{scope.module.name}: an always block is no list of assignments to different nets")
        waiting, read = set(targets), False
        for part in item.body:
            assert isinstance(part, Assignment)
            names = {name for name in read_names(part.value) if name in scope.names}
            names = {name for name in names if not self.nets[scope.names[name]].entries}
            if names & waiting:
                raise Refused(f"{scope.module.name}: {min(names & waiting)} is read before it is assigned")
            waiting.discard(part.target.name)
            read |= bool(names - set(targets))
            self._drive(part, scope, True)
        if not read:
            raise Refused(f"{scope.module.name}: an always block reads nothing, so that it never runs")

    def _clocked(self, item: Clocked, scope: Scope) -> None:
        for name in {self.net(part.target.name, scope) for part in assignments(item.body)}:
            net = self.nets[name]
            if net.clocked is not None or not net.register:
                raise Refused(f"{scope.module.name}: {name} is no register, or follows two clocked blocks")
            net.clocked = item, scope

    def _note(self, value: Expression) -> None:
        """Remember which nets an expression compares with a number."""
        for part in within(value):
            if isinstance(part, Binary) and part.operator in ("<", ">"):
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    if isinstance(other, Number) or (isinstance(other, Unary) and isinstance(other.value, Number)):
                        self.compared |= {DELAYED.sub("", name) for name in read_names(one)}
