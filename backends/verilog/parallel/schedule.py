"""The parallel scheduler, which makes of an integer program a pipelined design that takes a frame in every cycle, or
with state or rounds one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import fold
from circuitize.circuits.integers import PARTIAL
from circuitize.circuits.micro_batches import in_rounds
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram, require_integers
from circuitize.circuits.reading import Json
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Fixed

from ...verilog.design import STATUS, Design, Stream, stream_names
from ...verilog.devices.family import by_family
from ...verilog.netlist import Integers, Kind, Netlist
from ...verilog.rounds import in_turn
from ...verilog.signals import element
from ...verilog.state import initial_values
from .choices import Choices
from .elements import Elements, plain
from .estimate import estimate
from .matrices import optimiser
from .modules import Modules
from .operations import Lowering, any_of
from .parts import Group
from .pipeline import Pipeline, pipeline
from .roms import rom_files
from .round_lowering import RoundLowering
from .rounds import AtOnce, InRounds, block
from .state import State
from .top import top

NAME = "parallel"
"""The name of the top module, with which the name of every other module begins."""

MULTIPLICATIONS = ("adders", "dsp")

DEFAULT_LEVELS = 4
"""The most adders between two registers, where no other number is asked for."""


class Unrolled:
    """A program as a netlist and a pipeline, which is the parallel scheduler's result, from which sizes are estimated
    and Verilog is emitted. The field `states` has the state of the program, of which one frame at a time makes the
    next, and what rounds add up; `rounds` is the program in rounds, or None if a frame takes no more than one.
    """

    def __init__(
        self,
        program: IntegerProgram,
        levels_per_stage: int = DEFAULT_LEVELS,
        multiplication: str = "adders",
        micro_batch: int | None = None,
    ) -> None:
        _check(program, levels_per_stage, multiplication)
        entering = [port.name for port in program.inputs if not port.held]
        inputs, outputs = stream_names(entering, (port.name for port in program.outputs))
        self.names = {*inputs.values(), *outputs.values()}
        rounds = None if micro_batch is None else in_rounds(program, micro_batch, steady=True)
        self.rounds = rounds if rounds is not None and rounds.count > 1 else None
        program = program if self.rounds is None else self.rounds.program
        self.net = Netlist()
        self.groups: list[Group] = [Group(NAME, ())]
        self.inputs: list[Stream] = []
        self.states: dict[str, State] = {}
        self.totals: dict[str, Integers] = {}
        self.feedback: dict[int, int] = {}
        self.teller = ""
        self.told = np.zeros(0, np.int64)
        arrow, adders = simplify(program.arrow, PARTIAL), multiplication == "adders"
        if self.rounds is None:
            lowering = Lowering(self.net, arrow, adders, optimiser())
        else:
            lowering = RoundLowering(self.net, arrow, adders, optimiser(), self.rounds)
            self.totals = lowering.before
        sources = []
        for index, port in enumerate(program.inputs):
            if port.held:
                if isinstance(lowering, RoundLowering) and port.name in lowering.rounds.kept:
                    self._begin("total", [f"the sum of the rounds before: {port.format}"])
                    sources.append(lowering.total(port, index))
                else:
                    sources.append(self._state(port, outputs[port.name], index))
                continue
            if isinstance(lowering, RoundLowering) and port.name == lowering.rounds.teller:
                sources.append(self._told(lowering, index))
                continue
            stream = Stream(inputs[port.name], port.name, False, port.format, port.format.size, user=True)
            self.inputs.append(stream)
            data = block(stream) if self.rounds is not None and port.name in self.rounds.cut_inputs else ""
            self._begin(f"{stream.name}_input", [f"input {port.name}: {port.format}"], stream, data)
            places = np.arange(port.format.size).reshape(port.format.shape)
            bits = self.net.append(Kind.INPUT, *element(port.format).held, n=index, m=places)
            made = Elements.of(lowering.require(bits, port.format.low, port.format.high))
            self._label(made)
            sources.append(made)
        self.framing = self._framing(lowering)
        values = self._operations(lowering, sources)
        self._begin("outputs", ["signs and shifts of outputs, and whether a Check failed"])
        self.outputs: list[tuple[Stream, Integers]] = []
        for port, wire, value in zip(program.outputs, arrow.outputs.tolist(), values, strict=True):
            nodes = plain(self.net, value).reshape(-1)
            if port.name in outputs:
                stream = Stream(outputs[port.name], port.name, True, port.format, port.format.size)
                self.outputs.append((stream, nodes))
            if port.name in self.states:
                state = self.states[port.name]
                state.following = lowering.output(wire, nodes, state.port.format.low, state.port.format.high)
            if port.name in self.totals:
                self.feedback |= dict(zip(self.totals[port.name].tolist(), nodes.tolist(), strict=True))
        if self.rounds is not None:
            self.inputs = in_turn(self.rounds, self.inputs)
            nodes_of = {stream.name: nodes for stream, nodes in self.outputs}
            given = in_turn(self.rounds, [stream for stream, _ in self.outputs])
            self.outputs = [(stream, nodes_of[stream.name]) for stream in given]
        status = Stream(STATUS, "", True, Fixed((), 0, 0, 1), 1)
        self.outputs.append((status, np.array([any_of(self.net, lowering.failures)], np.int64)))
        following = [state.following for state in self.states.values()]
        registers = np.array(list(self.feedback.values()), np.int64)
        self.wanted = np.unique(np.concatenate([*(nodes for _, nodes in self.outputs), *following, registers]))
        self.pipe: Pipeline
        self.stage(levels_per_stage)

    @property
    def passing(self) -> AtOnce:
        """Return how frames pass: at once, or in rounds."""
        if self.rounds is None:
            return AtOnce(self.inputs)
        teller = self.teller if self.pipe.live[self.told].any() else ""
        return InRounds(self.inputs, self.rounds.count, teller)

    @property
    def depth(self) -> int:
        """Return the number of levels of adders from inputs to outputs, which one stage may contain."""
        return max(int(self.net.level[self.pipe.live].max(initial=0)), 1)

    def stage(self, levels_per_stage: int) -> None:
        """Place the pipeline registers anew, with at most so many levels of adders between two of them."""
        alone = bool(self.states) or self.rounds is not None
        stable = np.concatenate([self.told, *(state.nodes for state in self.states.values()), *self.totals.values()])
        self.pipe = pipeline(self.net, self.wanted, levels_per_stage, stable if alone else None)

    def report(self) -> Json:
        """Return the sizes of the parallel design before anything is emitted: LUTs, registers, DSPs, block memory and
        cycles, and the sizes by device family under `families`.
        """
        sides = len(self.inputs), len(self.outputs)
        choices = Choices(self.net, self.pipe)
        bits = sum(state.bits(self.pipe.live) for state in self.states.values())
        totals = np.array(list(self.feedback.values()), np.int64)
        made = by_family(lambda family: estimate(self.net, self.pipe, choices, *sides, family, bits, totals))
        return self.passing.counted(made)

    def design(self, initial: Mapping[str, Values] | None = None) -> Design:
        """Return the parallel design with its Verilog files; its state begins with the values in `initial`.

        Raise CircuitizeError for values that are not those of the program's state.
        """
        begins = initial_values([state.port for state in self.states.values()], initial or {})
        for name, state in self.states.items():
            state.initial = begins[name].reshape(-1).tolist()
        states = list(self.states.values())
        given = np.unique(np.concatenate([nodes for _, nodes in self.outputs]))
        modules = Modules(self.net, self.groups, self.pipe, given, self.feedback, states)
        files = {}
        for index, group in enumerate(modules.groups):
            text = modules.text(index)
            if text:
                files[f"{group.name}.v"] = text
        files |= rom_files(self.net, modules.roms)
        comment = self.passing.comment(self.pipe.stages, bool(self.states))
        outputs = [(stream, nodes.tolist()) for stream, nodes in self.outputs]
        files[f"{NAME}.v"] = top(NAME, self.inputs, outputs, modules, comment, self.framing.name, self.passing)
        for name, text in files.items():
            if name.endswith(".v"):
                files[name] = f"`default_nettype none\n\n{text}\n`default_nettype wire\n"
        streams = (*self.inputs, *(stream for stream, _ in self.outputs))
        return Design(NAME, "parallel", files, streams, tuple(self.states), self.report())

    def _framing(self, lowering: Lowering) -> Stream:
        """Return the input stream of one bit per frame that is 1 if an input's beat has no `tlast`; the bit goes
        through the pipeline in the same way as an input.
        """
        name = self._named("unframed")
        stream = Stream(name, "", False, Fixed((), 0, 0, 1), 1)
        self._begin(name, ["1 where a beat of some input has no tlast, or is known to be wrong"], stream)
        bit = self.net.append(Kind.INPUT, 0, 1, n=len(self.inputs))
        self._label(Elements.of(bit))
        lowering.failures.append(bit.reshape(-1))
        return stream

    def _told(self, lowering: RoundLowering, index: int) -> Elements:
        """Return what tells the pipeline which round it is."""
        self.teller = self._named("round")
        stream = Stream(self.teller, "", False, Fixed((), 0, 0, 1), 1)
        self._begin(self.teller, ["1 in the last round"], stream)
        made = lowering.told(index)
        self.told = np.array([lowering.last])
        self._label(made)
        return made

    def _state(self, port: Port[Fixed], output: str, index: int) -> Elements:
        """Return the elements of state, which is always inside its interval: it begins there, and what would leave it
        fails.
        """
        register = Stream(self._named(f"{output}_state"), port.name, False, port.format, port.format.size)
        self._begin(register.name, [f"state {port.name}: {port.format}"], register)
        places = np.arange(port.format.size).reshape(port.format.shape)
        nodes = self.net.append(Kind.INPUT, port.format.low, port.format.high, n=index, m=places)
        self.states[port.name] = State(port, register, nodes.reshape(-1))
        made = Elements.of(nodes)
        self._label(made)
        return made

    def _named(self, name: str) -> str:
        """Return a name that no stream has, with as many underscores after it as that needs, and take it."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def _begin(self, name: str, comment: list[str], stream: Stream | None = None, data: str = "") -> None:
        self.groups.append(Group(self._free(f"{NAME}_{name}"), comment, stream, data))
        self.net.current = len(self.groups) - 1

    def _free(self, name: str) -> str:
        """Return the name without two underscores in a row, since two underscores separate an operation's name from an
        element's.
        """
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        taken = {group.name for group in self.groups}
        free, number = word, 2
        while free in taken:
            free, number = f"{word}_{number}", number + 1
        return free

    def _label(self, made: Elements) -> None:
        """Name those nodes of the current group that are elements of the operation's target."""
        group = self.groups[self.net.current]
        node = made.node.reshape(-1)
        for at in np.flatnonzero(self.net.group[node] == self.net.current)[::-1].tolist():
            place = np.unravel_index(at, made.shape) if made.shape else ()
            group.labels[int(node[at])] = "_".join(str(int(i)) for i in place) or "value"

    def _operations(self, lowering: Lowering, sources: list[Elements]) -> list[Elements]:
        arrow = lowering.arrow

        def one(index: int, operation: Operation, values: list[Elements]) -> list[Elements]:
            edge = arrow.edge(index)
            types = [arrow.format(wire) for wire in edge.sources]
            target = arrow.format(edge.targets[0])
            word = operation.name.removeprefix("integer.")
            part = edge.provenance.part
            read = ", ".join(map(str, types)) or "nothing"
            self._begin(
                f"{part}_{word}" if part else word, [f"{operation.name}: {edge.provenance}", f"{read} -> {target}"]
            )
            made = lowering.edge(edge, values)
            self._label(made)
            return [made]

        values = fold(arrow, sources, one)
        return [value for value in (values[wire] for wire in arrow.outputs.tolist()) if value is not None]


def schedule(
    program: IntegerProgram,
    levels_per_stage: int = DEFAULT_LEVELS,
    multiplication: str = "adders",
    initial: Mapping[str, Values] | None = None,
    micro_batch: int | None = None,
) -> Design:
    """Return the design that the parallel scheduler makes of an integer program whose parameters are bound.

    In a parallel design, at most `levels_per_stage` adders lie between two registers. In a parallel design, products
    with constants are sums of shifted copies, or multipliers if `multiplication` is "dsp". Held inputs that an output
    of the same name updates are state, which starts with the values in `initial` (integers, or reals that are rounded
    once). If `micro_batch` is given, the design takes so many examples of a batch at a time. Raise CircuitizeError for
    a program of the real language, for a held input without a value, for a program that is too large, and for invalid
    options.
    """
    return Unrolled(program, levels_per_stage, multiplication, micro_batch).design(initial)


def _check(program: IntegerProgram, levels_per_stage: int, multiplication: str) -> None:
    require_integers(program)
    unbound = {port.name for port in program.inputs if port.held} - {port.name for port in program.outputs}
    if unbound:
        raise CircuitizeError(f"expected the value of {min(unbound)!r} before scheduling, found none; bind it")
    if levels_per_stage < 1:
        raise CircuitizeError(f"expected at least 1 level of adders a stage, found {levels_per_stage}")
    if multiplication not in MULTIPLICATIONS:
        raise CircuitizeError(f"expected multiplication by {' or '.join(MULTIPLICATIONS)}, found {multiplication!r}")
