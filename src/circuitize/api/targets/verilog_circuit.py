"""A program's hardware design as a folder of files, with frames to test it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from circuitize.api.exact import Exact
from circuitize.api.user_files import program_in
from circuitize.api.values import given_values, require_values, rounded
from circuitize.backends.verilog.board import DEFAULT, Board, for_serial_line
from circuitize.backends.verilog.bound import Bound, bound_to
from circuitize.backends.verilog.devices.asked import OPTIONS, Asked
from circuitize.backends.verilog.devices.family import ECP5
from circuitize.backends.verilog.devices.holding import Holding
from circuitize.backends.verilog.modes import Modal
from circuitize.backends.verilog.parallel.schedule import DEFAULT_LEVELS
from circuitize.backends.verilog.project import Project, write_project
from circuitize.backends.verilog.shell import Interface
from circuitize.backends.verilog.sizes import CYCLES, SIZES
from circuitize.backends.verilog.timing import LEVELS, MHZ, Clock, clocked
from circuitize.backends.verilog.vivado import Vivado, for_dma
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.micro_batches import batch_of
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.quantize import quantize
from circuitize.circuits.reading import Json
from circuitize.sims.rtl.frames import example_frames, frames_to_try, vectors

from .contract import Request, Shown, Target
from .options import Options
from .written import WrittenCircuit

RANDOM_FRAMES = 16
"""The number of frames that accompany a design whose program has no examples."""

INTERFACE = ("name", "elements", "bus_bits", "control")
"""Return the options that describe a design's interface to its surroundings."""


class Hardware(WrittenCircuit):
    """A hardware design as files: design.json, program.arrow, and the folders rtl, test and synth. The digest of a
    hardware design is that of the program with its held inputs bound.
    """

    noun = "design"

    def __init__(self, target: Target[object], exact: Exact, phases: Phases, request: Request) -> None:
        options = dict(request.options)
        scheduler = options.pop("scheduler", target.options[0].default)
        self.vivado, self.asked = vivado_of(options), asked_of(options)
        self.board = board_of(options)
        self.clock = clock_of(options, self.board, self.asked)
        if self.board is not None and "mhz" not in request.options and scheduler == "parallel":
            options.setdefault(LEVELS, DEFAULT_LEVELS)
        interface = Interface(**{name: options.pop(name) for name in INTERFACE if name in options})
        made = loadable(exact.integer, request, options)
        self.modal = made.modal
        if self.board is not None:
            interface = for_serial_line(interface, made)
        if self.vivado is not None:
            interface = for_dma(interface, made)
            if not self.vivado.processor:
                request.say(
                    f"{self.vivado.part} has no processor: no block design is written, only the IP and synthesis"
                )
        with phases.phase("schedule", "scheduling"):
            self.design = clocked(made, scheduler, options, interface, self.clock)
        with phases.phase("vectors", "running the program on its examples"):
            self.frames = vectors(made, example_frames(made) or frames_to_try(made, RANDOM_FRAMES, seed=0))
        self.program = made.program
        title = f"{target.name}, scheduler {scheduler}"
        super().__init__(title, program_digest(self.program), target.files, phases)
        sizes = self.design.report
        self.sizes = {name: value for name, value in sizes.items() if name in SIZES}
        if self.asked is not None:
            self.sizes = {**self.asked.cells(sizes), **{name: sizes[name] for name in CYCLES}}
            found = self.asked.holding(sizes)
            if found is not None and not found.holds:
                request.say(
                    f"{found.text}; the design is written all the same{smaller(found, made, scheduler, options)}"
                )
        self.sizes |= {name: sizes[name] for name in (LEVELS, MHZ) if name in sizes}
        for remark in [] if self.clock is None else self.clock.remarks(self.design):
            request.say(remark)

    @property
    def report(self) -> Json:
        return {
            "scheduler": self.design.scheduler,
            "top": self.design.top,
            "digest": self.digest,
            **(self.design.report if self.asked is None else self.asked.answered(self.design.report)),
            "streams": [stream.name for stream in self.design.streams],
            "frames": len(self.frames),
        }

    def fill(self, folder: Path) -> list[Path]:
        prediction = None if self.modal is None else self.modal.prediction
        write_project(Project(self.design, self.program, self.frames, self.board, prediction, self.vivado), folder)
        return sorted(path for path in folder.rglob("*") if path.is_file())

    def shown(self, folder: Path, written: Mapping[str, int]) -> Iterator[Shown]:
        streams = [
            f"{'out' if s.output else 'in'} {f'{s.bus}, ' if s.bus else ''}{s.name}: "
            f"{s.beats} beats of {s.lanes} x {s.element_bits} bits in {s.data_bits // 8} bytes"
            for s in self.design.streams
        ]
        yield [("streams", streams[0]), *(("", text) for text in streams[1:])]
        if self.asked is not None and (found := self.asked.holding(self.design.report)) is not None:
            yield f"  {found.text}"
        if self.clock is not None and MHZ in self.design.report:
            yield f"  {self.clock.told(self.design)}"
        size = amount_of_bytes(sum(written.values()))
        on_board = f", make -C {folder}/board bitstream" if self.board else ""
        if self.vivado:
            goal = "bitstream" if self.vivado.processor else "ip"
            on_board = f", make -C {folder}/vivado {goal} (never tried in Vivado)"
        yield f"  {len(written)} files, {size}; next: circuitize simulate {folder}{on_board}"


def smaller(found: Holding, made: Bound, scheduler: str | None, options: Options) -> str:
    """Return the advice to take one example at a time, if a device has too little memory for a folded design that takes
    several, or too little logic for a parallel one, or an empty text.
    """
    batch = batch_of(made.program) or 1
    if options.get("micro_batch", batch) == 1 or made.modal is not None:
        return ""
    one = f"; --micro-batch 1 takes 1 of {batch} examples at a time"
    if scheduler == "folded" and found.shares["blocks"] > 1:
        return f"{one} and, with fewer multipliers, less memory"
    if scheduler == "parallel" and max(found.shares["lut"], found.shares["dsp"]) > 1:
        return f"{one}, in less logic"
    return ""


def asked_of(options: Options) -> Asked | None:
    """Return the device family and device that the options choose for the estimate, or None if they choose none, and
    remove them from the options.
    """
    given = {name: options.pop(name) for name in OPTIONS if name in options}
    return Asked.of(given) if given else None


def board_of(options: Options) -> Board | None:
    """Return the board that the options name, or None, and remove the board from the options."""
    name = options.pop("board", None)
    return None if name is None else Board(name, options.get("mhz", DEFAULT))


def clock_of(options: Options, board: Board | None, asked: Asked | None) -> Clock | None:
    """Return the clock of the board, or that for which the options ask beside a family, and remove it from the options;
    None if there is neither a board nor a family.
    """
    mhz = options.pop("mhz", None)
    if board is not None:
        return Clock(ECP5, board.mhz)
    return None if asked is None else Clock(asked.family, mhz)


def vivado_of(options: Options) -> Vivado | None:
    """Return the Xilinx part that the options name, or None, and remove the part and its clock from the options."""
    part = options.pop("vivado", None)
    if part is None:
        return None
    return Vivado(part, **({"mhz": options.pop("mhz")} if "mhz" in options else {}))


def loadable(program: IntegerProgram, request: Request, options: Options) -> Bound:
    """Return a program whose held inputs lie in loadable memory, together with its prediction program if `options`
    names one; the entries "predict" and "loadable" are removed from `options`.
    """
    given, asked = options.pop("predict", None), options.pop("loadable", False)
    if given is None and not asked:
        return bound(program, request)
    made = bound(program, request, asked=True)
    prediction = None
    if given is not None:
        path, _, name = given.rpartition(":")
        if not path or not name:
            raise CircuitizeError(f"--predict: expected FILE.py:NAME, found {given!r}; name a file and a program in it")
        prediction = quantize(program_in(Path(path), name))
        values = {port.name for port in prediction.inputs if port.role is Role.FROZEN}
        if values:
            raise CircuitizeError(f"--predict: expected weights that the step updates, found frozen {sorted(values)}")
    return replace(made, modal=Modal(made.program, prediction))


def bound(program: IntegerProgram, request: Request, asked: bool = False) -> Bound:
    """Bind every held input of a program to its given value, or else to its value in the first example; state remains
    an input.

    If `asked` is true, which asks for a design with loadable memory, every held input counts as state.

    The given values of held inputs are read in the same way as `program_inputs` reads inputs. Raise CircuitizeError for
    a held input without a value, for an unknown name, and for values that do not fit their input.
    """
    held = [port for port in program.inputs if port.held]
    if not held:
        return Bound(program, {})
    if not request.inputs and not program.examples:
        raise CircuitizeError(
            f"expected values of the held inputs {[port.name for port in held]} to put into the hardware, found none "
            "and a program without examples; give --inputs FILE.npz"
        )
    where, given = given_values(program, request.inputs, request.say, request.raw_inputs)
    require_values(held, given, where)
    return bound_to(program, rounded(held, given, where, request.say), asked)
