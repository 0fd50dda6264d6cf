"""The Verilog target: synthesisable hardware, made by a scheduler of the user's choice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.phases import Phases
from circuitize.circuits.reading import Json

from .contract import PLAIN, Files, Request, Shown, Target
from .names import DESIGN_FILE
from .options import Option, Options

if TYPE_CHECKING:
    from circuitize.api.exact import Exact
    from circuitize.backends.verilog.bound import Bound
    from circuitize.circuits.operation import Operation
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims.rtl.designs import DesignRun

    from .verilog_circuit import Hardware

SCHEDULERS = ("parallel", "folded")
SIMULATORS = ("icarus", "verilator")
MULTIPLY = ("adders", "dsp")
ELEMENTS = ("bytes", "packed")
BOARDS = ("ulx3s-85f",)
FAMILIES = ("xc7", "xcup", "ecp5")
EITHER = ("compile", "estimate")
PARALLEL, FOLDED = (("scheduler", name) for name in SCHEDULERS)


def _own(folder: Path) -> Collection[str]:
    from circuitize.backends.verilog.project import written_files

    return written_files(folder)


class Verilog(Target["Hardware"]):
    """The Verilog target: its scheduler `parallel` makes designs that take a frame every clock cycle, and `folded`
    makes designs that share a few multipliers.
    """

    name = title = "verilog"
    measure = "LUTs, folded"
    counted = False
    files = Files(DESIGN_FILE, _own)
    inputs_are = "values of held inputs"
    options = (
        Option(
            "scheduler",
            "choice",
            "a frame a cycle, or a few shared multipliers",
            choices=SCHEDULERS,
            default="folded",
            required="parallel is for small networks",
        ),
        Option(
            "levels_per_stage", "count", "adders between registers (default: 4, or as --mhz allows)", "N", only=PARALLEL
        ),
        Option(
            "multiplication", "choice", "products with constants (default: adders)", choices=MULTIPLY, only=PARALLEL
        ),
        Option("lanes", "count", "multipliers that work at once", "P", only=FOLDED),
        Option("dsp_budget", "count", "as many lanes as N DSPs allow", "N", only=FOLDED),
        Option("interval_budget", "count", "the fewest lanes for a frame in N cycles", "N", only=FOLDED),
        Option("micro_batch", "count", "N examples of a batch at a time, in less memory or logic", "N"),
        Option("elements_per_beat", "count", "at least N elements a beat, a power of two of them", "N", only=FOLDED),
        Option("name", "name", "of the top module, and before all others (default: circuitize)", "NAME"),
        Option("elements", "choice", "each in 1, 2, 4 or 8 bytes, or bit after bit (default: bytes)", choices=ELEMENTS),
        Option("bus_bits", "count", "one stream in and one out, of N bits, for one DMA", "N"),
        Option("control", "flag", "AXI4-Lite registers: reset, status, frames, cycles"),
        Option("loadable", "flag", "weights and other state are memory that frames write and read", only=FOLDED),
        Option("predict", "name", "beside a step: its prediction, on the same memory", "FILE.py:NAME", only=FOLDED),
        Option("train_interval", "count", "with --predict: a step may take N cycles, in few LUTs", "N", only=FOLDED),
        Option("board", "choice", "files for a board, with a Makefile for its bitstream", choices=BOARDS),
        Option("vivado", "name", "scripts for a Xilinx part, xc7z020clg400-1 and others; never tried", "PART"),
        Option("mhz", "count", "the clock with --board (default: 50), --vivado (100) or --family ecp5", "N"),
        Option("family", "choice", "whose cells are counted (default: xc7)", choices=FAMILIES, commands=EITHER),
        Option("device", "name", "whether it holds the design: LFE5U-85F, XC7A35T and others", "NAME", commands=EITHER),
        Option("plot", "file", "draw cycles and LUTs of folded designs there", "FILE.svg", commands=("estimate",)),
    )

    @property
    def rules(self) -> Collection[type[Operation]]:
        from circuitize.backends.verilog import folded, parallel

        return parallel.RULES.keys() & folded.RULES

    def require(self, command: str, options: Options) -> None:
        if "plot" in options:
            require_file(Path(options["plot"]))
        if {"device", "mhz"} & options.keys():
            from circuitize.backends.verilog.devices import Asked

            asked = Asked.of(options)
            if "mhz" in options and not {"board", "vivado"} & options.keys():
                from circuitize.backends.verilog.timing import Clock

                Clock(asked.family, options["mhz"]).require()
        if {"board", "vivado"} <= options.keys():
            raise CircuitizeError("--vivado: expected no --board, found it; leave one of the two out")

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> Hardware:
        from .verilog_circuit import Hardware

        return Hardware(self, program, phases, request)

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        """Return the sizes of the folded design and its `tradeoff`, and those of the `parallel` design and of parallel
        designs in `rounds` if they are small enough; if the program cannot be folded, return those of parallel designs
        alone.

        The sizes of each design are given by FPGA family, with whether the chosen device holds the design and, for a
        family whose delays are known, the MHz that its clock is expected to reach.
        """
        from circuitize.backends.verilog.devices import Asked
        from circuitize.backends.verilog.shell import Interface
        from circuitize.backends.verilog.sizes import folded_sizes, parallel_sizes, round_sizes, tradeoff
        from circuitize.backends.verilog.timing import with_mhz
        from circuitize.sims.rtl.frames import bound_somehow

        from .tradeoff_plot import plot

        plain, asked = Interface(), Asked.of(options)

        def answered(sizes: Json, made: Bound, scheduler: str, **options: int) -> Json:
            return with_mhz(asked.answered(sizes), made, scheduler, options, asked.family)

        found: Json = {}
        left_out: dict[str, str] = {}
        bound: Bound | None = None
        for scheduler in ("folded", "parallel"):
            try:
                bound = bound or bound_somehow(program)
                made = bound.program
                if scheduler == "folded":
                    found |= {
                        **answered(folded_sizes(made, None, plain), bound, scheduler),
                        "scheduler": scheduler,
                        "tradeoff": [
                            answered(row, bound, scheduler, lanes=row["lanes"]) for row in tradeoff(made, plain)
                        ],
                    }
                else:
                    parallel = answered(parallel_sizes(made, plain), bound, scheduler)
                    found |= {scheduler: parallel} if found else {**parallel, "scheduler": scheduler}
            except CircuitizeError as error:
                left_out[scheduler] = str(error)
        if found and bound:
            rounds = [
                answered(row, bound, "parallel", micro_batch=row["micro_batch"])
                for row in round_sizes(bound.program, plain)
            ]
            found |= {"rounds": rounds} if rounds else {}
        if "plot" in options:
            if not found.get("tradeoff"):
                raise CircuitizeError(f"expected a folded design to plot, found none: {left_out['folded']}")
            plot(found["tradeoff"], Path(options["plot"]))
        if found:
            found["family"] = asked.family.name
        return found | {"left_out": {scheduler: f"none, {reason}" for scheduler, reason in left_out.items()}}

    def shown(self, sizes: Json) -> Iterator[Shown]:
        """Yield a table with a row for each scheduler, for each number of examples at a time and for each number of
        lanes, which say whether a device holds the design.
        """
        from circuitize.backends.verilog.devices import Asked
        from circuitize.backends.verilog.sizes import CYCLES
        from circuitize.backends.verilog.timing import MHZ

        asked = Asked.of({"family": sizes["family"]})
        rows = [(sizes["scheduler"], sizes)]
        rows += [("parallel", sizes["parallel"])] if "parallel" in sizes else []
        rows += [(f"parallel, N = {row['micro_batch']}", row) for row in sizes.get("rounds", ())]
        rows += [(f"folded, P = {row['lanes']}", row) for row in sizes.get("tradeoff", ())]
        wide = max(len(title) for title, _ in rows)
        fields = (*CYCLES, MHZ) if any(MHZ in row for _, row in rows) else CYCLES
        cells = {title: {**asked.cells(row), **{name: row.get(name) for name in fields}} for title, row in rows}
        heads = [{MHZ: "MHz"}.get(name, name.replace("_", " ")) for name in cells[rows[0][0]]]
        yield f"{self.title}, {asked.family.title}"
        yield " " * (wide + 2) + "".join(f"  {head:>15}" for head in heads)
        for title, row in rows:
            counts = "".join(f"  {'' if count is None else f'{count:,}':>15}" for count in cells[title].values())
            yield f"  {title:<{wide}}{counts}" + (f"  {row['device']['text']}" if "device" in row else "")

    def cost(self, program: IntegerProgram) -> int:
        from circuitize.backends.verilog.sizes import folded_sizes
        from circuitize.sims.rtl.frames import bound_somehow

        return int(folded_sizes(bound_somehow(program).program)["lut"])

    def check_designs(self, program: IntegerProgram, count: int, seed: int) -> Sequence[DesignRun]:
        from circuitize.sims.rtl.designs import check_designs

        return check_designs(program, count, seed)


verilog = Verilog()
