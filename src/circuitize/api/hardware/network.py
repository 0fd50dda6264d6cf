"""A network for a chip, with the functions that users of high-level synthesis expect: configure, predict, trace, count
and write.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.api.targets.options import Options
from circuitize.api.targets.registry import TARGETS
from circuitize.api.targets.written import WrittenCircuit
from circuitize.backends.verilog.bound import Bound
from circuitize.backends.verilog.devices import Holding
from circuitize.backends.verilog.devices.asked import OPTIONS as ASKED
from circuitize.backends.verilog.devices.asked import Asked
from circuitize.backends.verilog.project import Project, write_project
from circuitize.backends.verilog.shell import Interface
from circuitize.backends.verilog.sizes import SIZES
from circuitize.backends.verilog.timing import MHZ as EXPECTED
from circuitize.backends.verilog.timing import Clock
from circuitize.circuits.arrays import Quantize
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.lowering import Precision
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import lowered
from circuitize.circuits.reading import Json
from circuitize.circuits.values import to_integers, to_reals
from circuitize.frontends.layers import Model
from circuitize.frontends.operands import named
from circuitize.frontends.training import predict as prediction
from circuitize.sims import integer
from circuitize.sims.rtl.frames import example_frames, frames_to_try, vectors

from .config import RESULT, Config, config_of
from .layers import layers_of, with_layers
from .sharing import shared

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

MHZ = 200.0
"""The default clock: a period of 5 ns."""
FRAMES = 16
MOST_FRAMES = 64
"""How many frames of the data are written with a design."""
INTERFACE = ("name", "elements", "bus_bits", "control")
OPTIONS = (*INTERFACE, *ASKED, "levels_per_stage", "multiplication")


def hardware(
    model: Model | Program,
    config: Mapping[str, object] | None = None,
    *,
    weights: Mapping[str, ArrayLike] | None = None,
    data: ArrayLike | Mapping[str, ArrayLike] | None = None,
    precision: Precision | None = None,
    **options: object,
) -> HardwareModel:
    """Schedule a network as hardware, with formats and reuse of multipliers by layer.

    The argument `config` is a dictionary of hls4ml: `{"Model": {"Precision": "ap_fixed<16,6>", "ReuseFactor": 1},
    "LayerName": {"dense1": {"Precision": {"result": ..., "weight": ...}, "ReuseFactor": 4}}, "ClockPeriod": 5}`. A
    format in a configuration is a text of ap_fixed, a `Format`, `auto` (calibrated, the default), or an array of these
    for channels or elements. The argument `weights` gives real values by parameter (by default a model's initial
    values, or those of a program's first example); `data` gives inputs along a first axis, with which formats are
    calibrated and the design is tried. The options of a design are `name`, `elements`, `bus_bits` and `control`;
    `levels_per_stage` and `multiplication`, for a design that shares no multipliers; and `family` or `device`, whose
    cells `table` counts. A program of integers, such as a quantized network that was read from a file, keeps its own
    formats: only the reuse of its multipliers can be configured. Raise CircuitizeError, naming the layer and the
    tensor, for a configuration that cannot be met.
    """
    for option in options:
        if option not in OPTIONS:
            raise CircuitizeError(f"expected options among {', '.join(OPTIONS)}, found {option!r}; leave it out")
    program = _program(model, precision)
    found = layers_of(program.arrow, program.inputs)
    chosen = config_of(config, found.tensors)
    if isinstance(program, IntegerProgram):
        _require_given(program, chosen, weights)
        return HardwareModel(_with_data(program, data), chosen, options)
    values = _weights(model, program, weights)
    program = _with_data(with_layers(program, chosen, values), data)
    return HardwareModel(program, chosen, options)


class HardwareModel(WrittenCircuit):
    """A hardware design together with the network that it computes: predictions and traces equal the design's own
    bits.
    """

    noun = "design"

    def __init__(self, program: Program, config: Config, options: Options) -> None:
        phases = Phases()
        self.config, self.given = config, program
        made, arrow, wires = _lowered(program, config)
        self.program: IntegerProgram = made
        found = layers_of(arrow, program.inputs)
        self.wires = {
            name: tuple(wires[wire] for wire in leaving if wires[wire] >= 0) for name, leaving in found.results.items()
        }
        self.asked = Asked.of(options)
        self.clock = Clock(self.asked.family, None if config.mhz is None else math.ceil(config.mhz))
        own = {name: options[name] for name in INTERFACE if name in options}
        rest = {name: value for name, value in options.items() if name not in (*INTERFACE, *ASKED)}
        with phases.phase("schedule", "scheduling"):
            self.design = shared(made, config.reuse_of, Interface(**own), rest, self.clock)
        bound = Bound(made, {})
        with phases.phase("vectors", "running the program on its examples"):
            self.frames = vectors(bound, example_frames(bound) or frames_to_try(bound, FRAMES, seed=0))
        target = TARGETS["verilog"]
        super().__init__(f"hardware, scheduler {self.design.scheduler}", program_digest(made), target.files, phases)
        self.sizes = {name: value for name, value in self.design.report.items() if name in SIZES}

    def predict(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Any:
        """Return the outputs that the design gives for several inputs, which stand along a first axis, as the real
        numbers that the design's integers stand for.

        A prediction is one array if the network has one output, or else a dictionary of arrays by output name. The
        inputs of a prediction are rounded to their formats by the rounding rule that each format states. Raise
        CircuitizeError for inputs of a wrong shape or name, and Undefined if a Check of the program fails.
        """
        run = integer.executor(self.program)
        made = [run.outputs(list(frame)) for frame in self._frames(x)]
        ports = self.program.outputs
        found = {
            port.name: np.concatenate([_batched(to_reals(port.format, frame[at])) for frame in made])
            for at, port in enumerate(ports)
        }
        return found[ports[0].name] if len(ports) == 1 else found

    def trace(self, x: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, Reals]:
        """Return the results of each layer for several inputs, which stand along a first axis, by layer name, as real
        numbers that equal the design's own bits.

        A layer with several results has several entries in a trace, of which the second is named `name.1`. Raise
        CircuitizeError and Undefined for the same reasons as `predict`.
        """
        run, format = integer.executor(self.program), self.program.arrow.format
        chosen = {
            name if not place else f"{name}.{place}": wire
            for name, leaving in self.wires.items()
            for place, wire in enumerate(leaving)
        }
        found: dict[str, list[Reals]] = {name: [] for name in chosen}
        for frame in self._frames(x):
            values = run.wires(list(frame))
            for name, wire in chosen.items():
                found[name].append(_batched(to_reals(format(wire), values[wire])))
        return {name: np.concatenate(rows) for name, rows in found.items()}

    @property
    def report(self) -> Json:
        """Return the sizes of the design, and its formats by layer."""
        return {
            "scheduler": self.design.scheduler,
            "digest": self.digest,
            **self.asked.answered(self.design.report),
            "layers": {row["layer"]: row for row in self._layers()},
        }

    def table(self, mhz: float | None = None) -> str:
        """Return a table with the formats and reuse of each layer and the costs of the whole design: its time at a
        clock in MHz, and its cells on a device family.

        The table assumes the clock of the configuration, or 200 MHz if none is configured. The LUT and FF counts of the
        table are the scheduler's estimates for the family of the chosen device, or for the Xilinx 7 series; the last
        line says whether the chosen device holds the design.
        """
        clock = mhz or self.config.mhz or MHZ
        rows = [("layer", "result", "bits", "reuse")]
        rows += [(row["layer"], row["format"], str(row["bits"]), str(row["reuse"])) for row in self._layers()]
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, wide, strict=True)).rstrip() for row in rows]
        sizes = self.sizes
        latency, interval = sizes["latency_cycles"], sizes["interval_cycles"]
        taken = self.asked.cells(self.design.report)
        heads = ("scheduler", "clock", "latency", "interval", "LUT", "FF", "DSP", "memory", *list(taken)[-1:])
        cells = (
            self.design.scheduler,
            f"{clock:g} MHz",
            f"{latency:,} cycles, {latency * 1000 / clock:,.1f} ns",
            f"{interval:,} cycles, {interval * 1000 / clock:,.1f} ns",
            *(f"{taken[name]:,}" for name in ("lut", "ff", "dsp")),
            f"{sizes['bram_bits']:,} bits",
            f"{taken[self.asked.family.block]:,}",
        )
        widths = [max(len(head), len(cell)) for head, cell in zip(heads, cells, strict=True)]
        whole = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (heads, cells)
        ]
        answers = [self.clock.told(self.design)] if EXPECTED in self.design.report else []
        answers += [] if self.holding is None else [self.holding.text]
        return "\n".join([*lines, "", *whole, *([""] if answers else []), *answers])

    @property
    def holding(self) -> Holding | None:
        """Return whether the chosen device holds the design, or None if no device was chosen."""
        return self.asked.holding(self.design.report)

    def fill(self, folder: Path) -> list[Path]:
        write_project(Project(self.design, self.program, self.frames, None), folder)
        return sorted(path for path in folder.rglob("*") if path.is_file())

    def _layers(self) -> list[Json]:
        format = self.program.arrow.format
        rows: list[Json] = []
        for name, leaving in self.wires.items():
            for wire in leaving:
                made = format(wire)
                rows.append(
                    {
                        "layer": name,
                        "format": f"[{made.low}, {made.high}] / 2^{made.fraction_bits}",
                        "bits": made.width,
                        "shape": list(made.shape),
                        "reuse": self.config.reuse_of(name),
                    }
                )
        return rows

    def _frames(self, x: ArrayLike | Mapping[str, ArrayLike]) -> list[list[Integers]]:
        """Return the integers that enter the network, frame by frame."""
        ports = self.program.inputs
        given = _by_name(x, [port.name for port in ports])
        columns = []
        for port in ports:
            values = _split(given[port.name], port.format.shape, port.name)
            rule = self.config.format(port.name, RESULT)
            if rule is not None and not rule.low.ndim and (rule.rounding, rule.overflow) != ("half even", "check"):
                overflow = "saturate" if rule.overflow == "saturate" else "check"
                (values,) = Quantize(
                    int(rule.fraction_bits), int(rule.low), int(rule.high), rule.rounding, overflow
                ).run(values)
            columns.append([to_integers(port, frame, "predict") for frame in np.asarray(values)])
        if len({len(column) for column in columns}) > 1:
            counts = {port.name: len(column) for port, column in zip(ports, columns, strict=True)}
            raise CircuitizeError(f"expected as many frames of each input, found {counts}; give equally many rows")
        return [list(frame) for frame in zip(*columns, strict=True)]


def _lowered(program: Program, config: Config) -> tuple[IntegerProgram, Arrow, list[int]]:
    """Quantize a program in the same way as `lowered`; if this fails and some format has the overflow mode "wrap", the
    error says how to change that mode.
    """
    if isinstance(program, IntegerProgram):
        return program, program.arrow, list(range(program.arrow.wire_count))
    try:
        return lowered(program)
    except CircuitizeError as error:
        if not config.wraps:
            raise
        raise CircuitizeError(
            f"{error} (of a format with AP_WRAP, as formats without modes are, nothing may wrap: add ,AP_TRN,AP_SAT)"
        ) from None


def _program(model: object, precision: Precision | None) -> Program:
    if isinstance(model, Model):
        return prediction(model, 1, precision=precision or Precision())
    if not isinstance(model, Program):
        raise CircuitizeError(
            f"expected a Model or a Program, found {named(model)}; give sequential(...), from_onnx(...), "
            "from_logic(...) or predict(...)"
        )
    carried = {port.name for port in model.outputs} & {port.name for port in model.inputs}
    if carried:
        raise CircuitizeError(
            f"expected a prediction, found one that renews {sorted(carried)[0]!r}; give a training step to "
            "cz.compile(step, cz.verilog)"
        )
    return model


def _require_given(program: IntegerProgram, config: Config, weights: object) -> None:
    """Raise CircuitizeError if formats or weights are stated for a program of integers, which already contains its
    own.
    """
    said = config.everywhere is not None or any(layer.formats for layer in config.layers.values())
    if said or weights is not None or any(port.held for port in program.inputs):
        found = "a Precision" if said else "weights"
        raise CircuitizeError(
            f"expected, of a program of integers, reuse alone, found {found}; leave it out, or give cz.compile the "
            "program and its weights"
        )


def _weights(model: Model | Program, program: Program, given: Mapping[str, ArrayLike] | None) -> dict[str, Reals]:
    names = [port.name for port in program.inputs if port.held]
    if given is not None:
        if unknown := sorted(set(given) - set(names)):
            raise CircuitizeError(f"weights: expected names among {names}, found {unknown[0]!r}; correct it")
        return {name: _numbers(values, name) for name, values in given.items()}
    if isinstance(model, Model):
        return model.initial(0)
    return {name: program.examples[0][name] for name in names if program.examples and name in program.examples[0]}


def _with_data(program: Program, data: ArrayLike | Mapping[str, ArrayLike] | None) -> Program:
    if data is None:
        return program if program.examples else replace(program, examples=_drawn(program))
    names = [port.name for port in program.inputs]
    given = _by_name(data, names)
    split = {port.name: _split(given[port.name], port.format.shape, port.name) for port in program.inputs}
    count = min(map(len, split.values()))
    return replace(
        program, examples=tuple({name: split[name][n] for name in names} for n in range(min(count, MOST_FRAMES)))
    )


def _drawn(program: Program) -> tuple[dict[str, Reals], ...]:
    """Return random frames whose values span the whole formats of the inputs, drawn from a fixed seed."""
    random = np.random.default_rng(0)
    ports = program.inputs
    return tuple(
        {
            port.name: to_reals(
                port.format, random.integers(port.format.low, port.format.high, port.format.shape, endpoint=True)
            )
            for port in ports
        }
        for _ in range(FRAMES)
    )


def _by_name(x: ArrayLike | Mapping[str, ArrayLike], names: Sequence[str]) -> Mapping[str, ArrayLike]:
    if not isinstance(x, Mapping):
        if len(names) > 1:
            raise CircuitizeError(f"expected inputs by name, {', '.join(names)}, found one array; give a dictionary")
        return {names[0]: x}
    if set(x) != set(names):
        raise CircuitizeError(f"expected inputs {list(names)}, found {sorted(x)}; give each of them once")
    return x


def _numbers(given: ArrayLike, name: str) -> Reals:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise CircuitizeError(f"expected numbers as {name!r}, found {named(given)}; give an array of floats") from None


def _split(given: ArrayLike, shape: tuple[int, ...], name: str) -> Reals:
    """Return inputs, which stand one after the other along their first axis, as frames along a new first axis."""
    values = _numbers(given, name)
    rows = shape[0] if shape else 1
    if values.shape[1:] != shape[1:] or not values.ndim or len(values) % rows or not len(values):
        wanted = ["N", *shape[1:]]
        raise CircuitizeError(
            f"expected {name!r} of shape {str(wanted).replace(chr(39), '')}, N a multiple of {rows}, found "
            f"{list(values.shape)}; reshape it"
        )
    return values.reshape(-1, *shape)


def _batched(frame: Reals) -> Reals:
    return frame if frame.ndim else frame.reshape(1)
