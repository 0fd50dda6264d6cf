"""The design inside the shell: the checker shows that the design's control works as specified, and that its outputs are
those of the statement.

The control of a design has the registers `occupied`, a bit for each stage, `taken`, a bit for each output, and
`skipping`, a bit for each input; after a reset all these registers are 0.

`arrived` is 1 if every input is valid and none is skipping.
`enable` is 1 if the last stage is not occupied, or if each output is taken now or was taken before.
`skipping` of an input is 1 after a beat without tlast, up to the next beat with tlast.
`occupied` moves on by one stage in clocks in which `enable` is 1, and its first bit is then `arrived`.
`taken` says in clocks in which `enable` is 0 which outputs have been taken; in other clocks it becomes 0.

All registers outside the control load at clock edges at which `enable` is 1 and at no others, so that the outputs of S
stages are a function of the beats that came in S loads before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .bits import CONTROL, After, Bits
from .circuit import Circuit
from .edges import Json, Stated
from .evaluation import Evaluation, at_once
from .forms import Form
from .refusal import Refused
from .statement import element_bits
from .symbols import Symbols
from .syntax import Module

STATUS = "status"


@dataclass
class Core:
    """The part of a design inside the shell, as the checker has shown it."""

    evaluation: Evaluation
    stages: int


def free_bits(symbols: Symbols, name: str, width: int, stage: int = CONTROL) -> Bits:
    """Return a vector of bits, each of which is a new symbol."""
    return Bits(tuple((symbols.free(0, 1, name, place), 1, After()) for place in range(width)), False, stage)


def show_core(
    modules: Mapping[str, Module],
    top: str,
    memories: Mapping[str, str],
    statement: Json,
    streams: Json,
    made: Stated,
    symbols: Symbols,
) -> Core:
    """Show that the module `top` computes a statement.

    Raise Refused for anything that is not shown of the design inside the shell.
    """
    if modules[top].parameters:
        raise Refused(f"{top}: expected no parameters, which the shell could give otherwise")
    circuit = Circuit(modules, top)
    inputs, outputs = streams["inputs"], [*streams["outputs"], STATUS]
    entering = [bits_of(statement["inputs"][i], made.entering[i]) for i in range(len(inputs))]
    given = _given(symbols, inputs, entering, outputs)
    for name in ("occupied", "taken", "skipping"):
        given[name] = free_bits(symbols, name, require_net(circuit, name))
    ports = {port.name for port in modules[top].ports if port.direction == "input"}
    for name, bits in given.items():
        if require_net(circuit, name) != bits.width or (name in ports) == (name in ("occupied", "taken", "skipping")):
            raise Refused(f"{top}: expected {name} of {bits.width} bits, found another one")
    if ports != set(given) - {"occupied", "taken", "skipping"}:
        raise Refused(f"{top}: expected the ports of its streams, found others: {min(ports ^ set(given))}")
    evaluation = Evaluation(circuit, symbols, given, memories)
    stages = given["occupied"].width
    _control(evaluation, top, inputs, outputs)
    _status(evaluation, top, inputs, made, symbols, stages)
    for name, port in zip(streams["outputs"], statement["outputs"], strict=True):
        if not 0 <= port["wire"] < len(made.wires) or list(made.wires[port["wire"]].shape) != port["shape"]:
            raise Refused(f"{name}: expected a wire of the statement, of the output's shape")
        _output(evaluation, top, f"{name}_tdata", port, made.wires[port["wire"]].reshape(-1).tolist(), stages)
    return Core(evaluation, stages)


def require_net(circuit: Circuit, name: str) -> int:
    """Return the width of a net, and raise Refused if the design has no such net."""
    if name not in circuit.nets:
        raise Refused(f"{circuit.placed['']}: expected a net {name}, found none")
    return circuit.nets[name].width


def bits_of(port: Json, forms: Sequence[Form]) -> Bits:
    """Return the elements of an input tensor, side by side in a vector of bits."""
    width = element_bits(port["low"], port["high"])
    return Bits(tuple((form, width, After()) for form in forms), False, 0)


def _given(
    symbols: Symbols, inputs: Sequence[str], entering: Sequence[Bits], outputs: Sequence[str]
) -> dict[str, Bits]:
    given = {name: free_bits(symbols, name, 1) for name in ("clk", "rst")}
    for name, data in zip(inputs, entering, strict=True):
        given[f"{name}_tdata"] = data
        given[f"{name}_tvalid"] = free_bits(symbols, f"{name}_tvalid", 1)
        for wire in ("tlast", "tuser"):
            given[f"{name}_{wire}"] = free_bits(symbols, f"{name}_{wire}", 1, 0)
    for name in outputs:
        given[f"{name}_tready"] = free_bits(symbols, f"{name}_tready", 1)
    return given


class Logic:
    """The nets of the control as functions of bits, which are found by the names of the nets."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.symbols = evaluation, evaluation.symbols

    def vector(self, name: str) -> list[int]:
        """Return the bits of a net as functions, the lowest first."""
        bits = at_once(self.evaluation.bits(name), name)
        return [self.symbols.decided(bit) for bit in self.evaluation.operators.each(bits)]

    def bit(self, name: str) -> int:
        """Return the function that a net of one bit computes."""
        found = self.vector(name)
        if len(found) != 1:
            raise Refused(f"expected {name} of one bit, found {len(found)}")
        return found[0]

    def all(self, *functions: int) -> int:
        """Return the function that is 1 where all the given functions are 1."""
        made = 1
        for function in reversed(functions):
            made = self.symbols.bits.both(function, made)
        return made

    def any(self, *functions: int) -> int:
        """Return the function that is 1 where any of the given functions is 1."""
        made = 0
        for function in reversed(functions):
            made = self.symbols.bits.either(function, made)
        return made

    def no(self, function: int) -> int:
        """Return the function that is 1 where the given function is 0."""
        return self.symbols.bits.invert(function)

    def choose(self, condition: int, yes: int, no: int) -> int:
        """Return the function that is `yes` where the condition is 1, `no` elsewhere."""
        return self.symbols.bits.choose(condition, yes, no)

    def require(self, module: str, name: str, wanted: Sequence[int]) -> None:
        """Raise Refused unless the bits of a net equal the given functions."""
        if self.vector(name) != list(wanted):
            raise Refused(f"{module}: {name} is another function of the handshake than the one that is stated")

    def require_next(self, module: str, name: str, wanted: Sequence[int]) -> None:
        """Raise Refused unless the bits of a register equal the given functions after the next edge of the clock."""
        if [self.symbols.decided(bit) for bit in self.evaluation.following(name)] != list(wanted):
            raise Refused(f"{module}: {name} follows another function of the handshake than the one that is stated")


def _control(evaluation: Evaluation, top: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    logic = Logic(evaluation)
    if require_net(evaluation.circuit, "taken") != len(outputs):
        raise Refused(f"{top}: expected a bit of taken for each output, found others")
    if require_net(evaluation.circuit, "skipping") != len(inputs):
        raise Refused(f"{top}: expected a bit of skipping for each input, found others")
    running = logic.no(logic.bit("rst"))
    skipping, taken, occupied = (logic.vector(name) for name in ("skipping", "taken", "occupied"))
    ready = [logic.bit(f"{name}_tready") for name in outputs]
    valid = [logic.bit(f"{name}_tvalid") for name in inputs]
    arrived = logic.all(*valid, *map(logic.no, skipping))
    leaves = logic.all(*(logic.any(a, b) for a, b in zip(ready, taken, strict=True)))
    enable = logic.any(logic.no(occupied[-1]), leaves)
    logic.require(top, "enable", [enable])
    moved = [logic.choose(enable, earlier, now) for earlier, now in zip([arrived, *occupied], occupied, strict=False)]
    logic.require_next(top, "occupied", [logic.all(running, bit) for bit in moved])
    stays = logic.all(running, logic.no(enable))
    logic.require_next(top, "taken", [logic.all(stays, logic.any(a, b)) for a, b in zip(taken, ready, strict=True)])
    following = []
    for i, name in enumerate(inputs):
        accepts = logic.all(running, logic.any(skipping[i], logic.all(enable, arrived)))
        logic.require(top, f"{name}_tready", [accepts])
        moves = logic.all(valid[i], accepts)
        following.append(logic.all(running, logic.choose(moves, logic.no(logic.bit(f"{name}_tlast")), skipping[i])))
    logic.require_next(top, "skipping", following)
    for i, name in enumerate(outputs):
        logic.require(top, f"{name}_tvalid", [logic.all(occupied[-1], logic.no(taken[i]), running)])
        logic.require(top, f"{name}_tlast", [1])


def _status(
    evaluation: Evaluation, top: str, inputs: Sequence[str], made: Stated, symbols: Symbols, stages: int
) -> None:
    """Show that the status is 1 if a beat came without tlast or was marked as wrong, or if the statement is undefined,
    and only then.

    What is known of values after a check holds only if the check passes. The status is therefore the OR of the failures
    of all checks, and the bit that reports a failed check relies only on the checks before it, so that in a frame with
    failures the first failure is reported.
    """
    logic = Logic(evaluation)
    framed = [part for n in inputs for part in (logic.bit(f"{n}_tlast"), logic.no(logic.bit(f"{n}_tuser")))]
    unframed = logic.no(logic.all(*framed))
    failures = [(symbols.decided(bit), number) for bit, number in made.failures]
    wanted = symbols.bit(logic.any(unframed, *(function for function, _ in failures)))
    found = evaluation.bits(f"{STATUS}_tdata")
    if found.width != 1 or found.stage not in (stages, None):
        raise Refused(f"{top}: expected {STATUS} of one bit after {stages} stages, found stage {found.stage}")
    if not symbols.same(evaluation.operators.form(found, False), wanted):
        raise Refused(f"{top}: {STATUS} is 1 for other frames than those without a value")
    told, waiting = 0, sorted(evaluation.operators.any_of(found), key=lambda part: part[1])
    for function, before in [(unframed, 0), *sorted(failures, key=lambda part: part[1])]:
        while waiting and waiting[0][1] <= before:
            told = symbols.bits.either(waiting.pop(0)[0], told)
        if symbols.bits.choose(function, told, 1) != 1:
            raise Refused(f"{top}: {STATUS} relies on a check to tell that it fails, or one before it")


def _output(evaluation: Evaluation, top: str, name: str, port: Json, wanted: Sequence[Form], stages: int) -> None:
    operators, width = evaluation.operators, element_bits(port["low"], port["high"])
    found = evaluation.bits(name)
    if found.width != width * len(wanted) or found.stage not in (stages, None):
        where = f"{found.width} bits after stage {found.stage}"
        raise Refused(f"{top}: expected {name} of {width * len(wanted)} bits after {stages} stages, found {where}")
    for place, form in enumerate(wanted):
        element = operators.form(operators.slice(found, place * width, width), port["low"] < 0)
        if not evaluation.symbols.same(element, form):
            raise Refused(f"{top}: element {place} of {name} is not shown to be what the program says")
        low, high = evaluation.symbols.interval(form)
        if low < port["low"] or high > port["high"]:
            raise Refused(f"element {place} of {name}: [{low}, {high}] is not within its format")
