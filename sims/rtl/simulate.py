"""The simulation of a design on frames, which collects the design's outputs, frame by frame."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import STATUS, Bus, Design, Stream
from circuitize.backends.verilog.modes import MODE
from circuitize.circuits.errors import CircuitizeError

from .beats import Taken, line_length, packets, parted
from .bench import bench
from .passing import Passing
from .simulators import find

Integers = NDArray[np.int64]


LONGEST = 3600
"""The most seconds that a simulation may take."""

QUIET = 20_000
"""The fewest cycles without a beat after which a design is taken to hang."""

BREACHES = {
    "unknown": "is not 0 or 1",
    "unsteady": "changed or withdrew a beat before it was taken",
    "eager": "is 1 in a cycle in which rst is 1",
    "kept": "has a tkeep that is not of the bytes that hold elements",
}
"""The words with which the bench reports a broken protocol."""


@dataclass(frozen=True)
class Frames:
    """The outputs of a design for frames, in the order in which the frames entered.

    The field `outputs[port]` is [frames, *shape]; `failed[frame]` is the status; `unknown[port]` marks frames in which
    some bit of the output was not 0 or 1 in the simulation, and `padded[port]` marks frames with lanes past the end of
    the tensor that are not zero. The field `latency_cycles` is the time from the first beat of an input to the last
    beat of the first frame's last output, and `interval_cycles` is the mean time from one frame's end to the next; if
    `backpressure` was None, nothing but the design determines these times.
    """

    outputs: Mapping[str, Integers]
    failed: NDArray[np.bool_]
    unknown: Mapping[str, NDArray[np.bool_]]
    padded: Mapping[str, NDArray[np.bool_]]
    latency_cycles: int
    interval_cycles: float
    cycles: int


class Simulation:
    """A design built for a simulator, to be run any number of times; each run starts from reset and initial memory."""

    def __init__(self, design: Design, simulator: str = "icarus") -> None:
        found = find(simulator)
        for side in (False, True):
            if not any(stream.output is side for stream in design.streams):
                raise CircuitizeError(
                    f"expected a design with input and output streams, found no {'output' if side else 'input'}; "
                    "leave an input of the program unbound"
                )
        self.design = design
        self.simulator = found
        self._folder = folder = Path(tempfile.mkdtemp(prefix="circuitize-rtl-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, True)
        try:
            for name, text in design.files.items():
                (folder / name).write_text(text)
            (folder / "bench.v").write_text(bench(design))
            self._command = found.build(folder, [name for name in design.files if name.endswith(".v")])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the files that were built for a simulation; without this call they are removed when the object is
        deleted.
        """
        self._remove()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def run(self, vectors: Mapping[str, Integers], backpressure: int | None = None) -> Frames:
        """Run the design and return the outputs for frames `vectors[port][frame, ...]`, integers in the ports' formats.

        The argument `backpressure` seeds random gaps on every input and random readiness on every output; with None
        there are neither gaps nor stalls. Raise CircuitizeError if the design hangs, loses or invents beats, or breaks
        the protocol of the streams.
        """
        frames = _count(self.design.streams, vectors)
        return self.run_beats(self._packets(vectors), frames, backpressure, vectors.get(MODE))

    def _packets(self, vectors: Mapping[str, Integers]) -> dict[str, bytes]:
        passing = Passing(self.design, vectors.get(MODE))
        return {
            bus.name: packets(
                bus,
                {s.port: passing.of(s, vectors[s.port]) for s in bus.streams},
                *passing.beats(bus, len(vectors[bus.streams[0].port])),
            )
            for bus in self.design.buses
            if not bus.output
        }

    def run_beats(
        self,
        beats: Mapping[str, bytes],
        frames: int,
        backpressure: int | None = None,
        modes: Integers | None = None,
    ) -> Frames:
        """Run the design as `run` does, for beats by bus in the form that `beats.packets` writes, but with any `tlast`;
        `frames` frames must come out.

        The argument `modes` lists the modes of the frames, if the design has modes.
        """
        passing = Passing(self.design, modes)
        owned = {bus.name: passing.beats(bus, frames) for bus in self.design.buses}
        said = self._simulate(beats, {name: len(last) for name, (_, last) in owned.items()}, backpressure)
        taken: dict[Stream, Taken] = {}
        for bus in self.design.buses:
            if bus.output:
                texts = parted(bus, self.text(bus), *owned[bus.name])
                taken |= {s: passing.spread(Taken(s, text, passing.count(s, frames))) for s, text in texts.items()}
        ends = np.max([found.cycles for found in taken.values()], axis=0)
        failed = np.zeros(frames, np.bool_)
        for stream, found in taken.items():
            if stream.name == STATUS:
                failed = found.unknown | (found.values[:, 0] != 0)
        named = {stream: found for stream, found in taken.items() if stream.port}
        return Frames(
            outputs={s.port: found.values.reshape(frames, *s.format.shape) for s, found in named.items()},
            failed=failed,
            unknown={s.port: found.unknown for s, found in named.items()},
            padded={s.port: found.padded for s, found in named.items()},
            latency_cycles=int(ends[0]) - min(said.first.values(), default=0) + 1,
            interval_cycles=float((ends[-1] - ends[0]) / (frames - 1)) if frames > 1 else math.nan,
            cycles=int(ends[-1]),
        )

    def run_resets(
        self, vectors: Mapping[str, Integers], plan: Integers, backpressure: int | None = None
    ) -> list[tuple[int, int]]:
        """Reset the design while it runs, and return for each reset its cycle and how many statuses were taken before.

        The argument `plan`, [resets + 1, 2], holds the cycles before each reset and within it; the last row has the
        cycles to the end. After the simulation of resets, the method `text` returns the beats that were taken. Raise
        the errors that `run` raises, and CircuitizeError if a beat moves during a reset.
        """
        frames, passing = _count(self.design.streams, vectors), Passing(self.design, vectors.get(MODE))
        (self._folder / "resets.hex").write_text("".join(f"{number:x}\n" for number in plan.reshape(-1).tolist()))
        wanted = {bus.name: len(passing.beats(bus, frames)[1]) for bus in self.design.buses}
        return self._simulate(self._packets(vectors), wanted, backpressure, len(plan) - 1).resets

    def text(self, stream: Stream | Bus) -> bytes:
        """Return the beats that the last run took from an output, with a line of cycle, `tlast` and data for each
        beat.
        """
        return (self._folder / f"out_{stream.name}.hex").read_bytes()

    def _simulate(
        self, beats: Mapping[str, bytes], wanted: Mapping[str, int], backpressure: int | None, resets: int = 0
    ) -> _Said:
        """Simulate until each bus has given the number of beats that `wanted` states for it."""
        folder = self._folder
        options = [f"+quiet={_patience(self.design)}", f"+resets={resets}"]
        options += [f"+beats_{bus.name}={wanted[bus.name]}" for bus in self.design.buses if bus.output]
        for bus in self.design.buses:
            if not bus.output:
                (folder / f"in_{bus.name}.hex").write_bytes(beats[bus.name])
                options.append(f"+beats_{bus.name}={len(beats[bus.name]) // line_length(bus)}")
        if backpressure is not None:
            options.append(f"+seed={backpressure % (1 << 31)}")
        try:
            done = subprocess.run(
                [*self._command, *options], cwd=folder, capture_output=True, text=True, check=False, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            raise CircuitizeError(
                f"expected {max(wanted.values())} beats within {LONGEST} seconds, found the simulation still running; "
                "try fewer frames, or --simulator verilator; if one frame takes so long, a wire may depend on itself"
            ) from None
        said = _Said(done.stdout)
        said.raise_for(self.design, wanted, done.stderr)
        return said


def simulate(
    design: Design, vectors: Mapping[str, Integers], simulator: str = "icarus", backpressure: int | None = None
) -> Frames:
    """Run a design once, as `Simulation.run` does."""
    with Simulation(design, simulator) as simulation:
        return simulation.run(vectors, backpressure)


def _count(streams: tuple[Stream, ...], vectors: Mapping[str, Integers]) -> int:
    """Return how many frames there are; raise CircuitizeError if an input of the design is missing or does not have its
    shape.
    """
    counts = {}
    for stream in streams:
        if stream.output:
            continue
        found = vectors.get(stream.port)
        if found is None or found.shape[1:] != stream.format.shape or not len(found):
            shown = "none" if found is None else f"shape {list(found.shape)}"
            raise CircuitizeError(
                f"expected frames of input {stream.port!r}, each of shape {list(stream.format.shape)}, found {shown}"
            )
        counts[stream.port] = len(found)
    if len(set(counts.values())) > 1:
        raise CircuitizeError(f"expected as many frames of every input, found {counts}; even them out")
    return next(iter(counts.values()))


def _patience(design: Design) -> int:
    """Return the number of cycles without a beat after which a design is taken to hang: many times the cycles that the
    design states for a frame.
    """
    known = [int(design.report.get(key, 0)) for key in ("latency_cycles", "interval_cycles")]
    return QUIET + 8 * sum(known)


class _Said:
    """The report of the test bench: the cycles of first beats, how the simulation ended, the beats moved, and breaches
    of the protocol.
    """

    def __init__(self, text: str) -> None:
        words = [line.split() for line in text.splitlines()]
        self.first = {line[1]: int(line[2]) for line in words if len(line) == 3 and line[0] == "first"}
        self.beats = {line[1]: int(line[2]) for line in words if len(line) == 3 and line[0] == "beats"}
        self.missing = any(line and line[0] == "missing" for line in words)
        self.resets = [(int(line[1]), int(line[2])) for line in words if len(line) == 3 and line[0] == "reset"]
        self.breach = next((line for line in words if line and line[0] in BREACHES), None)
        self.end = next((line[0] for line in words if line and line[0] in ("done", "quiet")), None)

    def raise_for(self, design: Design, wanted: Mapping[str, int], errors: str) -> None:
        if self.breach is not None:
            kind, where, cycle = self.breach
            raise CircuitizeError(
                f"stream {where}: expected the AXI4-Stream handshake, found that it {BREACHES[kind]}, cycle {cycle}"
            )
        if self.end is None or self.missing:
            lines = errors.strip().splitlines() or ["it could not read its inputs" if self.missing else "no message"]
            raise CircuitizeError(
                f"expected the simulation to run to its end, found: {lines[-1]}; please report this line"
            )
        if self.end == "quiet":
            moved = ", ".join(
                f"{s.name} {'gave' if s.output else 'took'} {self.beats.get(s.name, 0)} of {wanted[s.name]} beats"
                for s in design.buses
            )
            raise CircuitizeError(
                f"the design hangs: no beat moved for {_patience(design)} cycles; {moved}; "
                "a stream that stands still short of its count is where to look"
            )
