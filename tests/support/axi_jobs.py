"""Designs beside each other in one simulation, under benches of cocotbext-axi: frames, faults and resets for each."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tiers import count

from circuitize.backends.verilog.bound import Bound
from circuitize.backends.verilog.design import STATUS, Bus, Design, Stream
from circuitize.backends.verilog.shell.registers import BUS, PORTS
from circuitize.circuits.encode import program_digest
from circuitize.sims.rtl.compare import expected
from circuitize.sims.rtl.frames import frames_to_try

LONGER = count(40, deep=400)
"""A frame that is too long is longer by fewer bytes than these."""


@dataclass(frozen=True)
class Job:
    """A design and the program that it is of; so many frames, of which some break the framing, and so many resets.

    Of those that do not, every other one lacks the padding of its last word, and is as good as with it.
    """

    design: Design
    made: Bound
    frames: int = 8
    faults: float = 0.3
    resets: int = 2


def simulate(jobs: Sequence[Job], folder: Path, seed: int = 0) -> None:
    """Run the jobs in Icarus, in one simulation; fails where a design differs from its program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cocotb_tools.check_results import get_results
        from cocotb_tools.runner import get_runner
    for job in jobs:
        for name, text in job.design.files.items():
            (folder / name).write_text(text)
    (folder / "many.v").write_text(_wrapper([job.design for job in jobs]))
    (folder / "job.json").write_text(json.dumps({"designs": [_described(job, seed) for job in jobs]}))
    shutil.copy(Path(__file__).with_name("axi_bench.py"), folder)
    runner = get_runner("icarus")
    sources = sorted(path for path in folder.iterdir() if path.suffix == ".v")
    runner.build(sources=sources, hdl_toplevel="many", build_dir=folder, always=True, timescale=("1ns", "1ns"))
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("PYTEST", "COV"))}
    try:
        results = runner.test(hdl_toplevel="many", test_module="axi_bench", build_dir=folder, test_dir=folder)
    finally:
        os.environ |= kept
    assert get_results(results) == (1, 0)


def _wrapper(designs: Sequence[Design]) -> str:
    """A module with all designs, the ports of each after its name, one clock, and a reset each."""
    ports, lines = ["input wire clk"], []
    for design in designs:
        name = design.top
        ports.append(f"input wire {name}_rst")
        pins = [".clk(clk)", f".rst({name}_rst)"]
        for bus in design.buses:
            ports += [port.replace(f" {bus.name}_", f" {name}_{bus.name}_") for port in bus.ports]
            pins += [f".{bus.name}_{wire}({name}_{bus.name}_{wire})" for wire in bus.wires]
        for wire, (way, bits) in PORTS.items() if design.control else ():
            ports.append(f"{way} wire [{bits - 1}:0] {name}_{BUS}_{wire}")
            pins.append(f".{BUS}_{wire}({name}_{BUS}_{wire})")
        lines.append(f"  {name} {name}_i ({', '.join(pins)});")
    joined = ",\n  ".join(ports)
    return f"module many (\n  {joined}\n);\n" + "\n".join(lines) + "\nendmodule\n"


def _described(job: Job, seed: int) -> dict[str, Any]:
    design, draw = job.design, np.random.default_rng(seed)
    tried = frames_to_try(job.made, job.frames, seed)
    broken = draw.random(job.frames) < job.faults
    right = {name: values[~broken] for name, values in tried.items()}
    wanted = expected(job.made.program, right, job.made.initial)
    entering = {bus.name: bus for bus in design.buses if not bus.output}
    described, place = [], 0
    for number in range(job.frames):
        into = {n: _bytes(bus, {port: v[number] for port, v in tried.items()}) for n, bus in entering.items()}
        failed = bool(broken[number])
        values = {port.name: np.zeros(port.format.shape, np.int64) for port in job.made.program.outputs}
        if broken[number]:
            name = sorted(into)[draw.integers(len(into))]
            into[name] = _other_length(into[name], entering[name], draw)
        else:
            if place % 2 == 0:
                into = {name: one[: len(one) - _padding(entering[name])] for name, one in into.items()}
            failed = bool(wanted.undefined[place])
            values, place = {name: made[place] for name, made in wanted.outputs.items()}, place + 1
        values[""] = np.array(failed, np.int64)
        out = {b.name: _bytes(b, values) for b in design.buses if b.output}
        sure = {b.name: b"".join(_mask(s, failed) for s in b.streams) for b in design.buses if b.output}
        masked = {name: bytes(x & m for x, m in zip(out[name], sure[name], strict=True)).hex() for name in out}
        described.append(
            {"number": number, "failed": failed, "in": {name: one.hex() for name, one in into.items()}}
            | {"out": masked, "sure": {name: one.hex() for name, one in sure.items()}}
        )
    clocks = int(design.report["latency_cycles"]) + sum(bus.beats for bus in design.buses)
    status = next(bus.name for bus in design.buses if any(s.name == STATUS for s in bus.streams))
    return {
        "name": design.top,
        "buses": [{"name": bus.name, "output": bus.output} for bus in design.buses],
        "status": status,
        "registers": {"digest": program_digest(job.made.program)[:8]} if design.control else None,
        "frames": described,
        "resets": draw.integers(1, 3 * clocks, job.resets).tolist(),
        "patience": 10 * (20_000 + 400 * clocks * job.frames),
    }


def _bytes(bus: Bus, values: dict[str, np.ndarray]) -> bytes:
    """A frame's bytes: each tensor as an array of whole bytes; on a shared bus each begins with a word of its own."""
    return b"".join(_array(stream, values[stream.port]) for stream in bus.streams)


def _array(stream: Stream, values: np.ndarray) -> bytes:
    made = values.reshape(-1).astype(f"<i{stream.pitch // 8}").tobytes()
    return made + bytes(_size(stream) - len(made))


def _size(stream: Stream) -> int:
    """Bytes of a tensor."""
    return stream.beats * stream.data_bits // 8 if stream.bus else stream.format.size * stream.pitch // 8


def _padding(bus: Bus) -> int:
    """Bytes of a frame's last word, on a shared bus, that hold nothing of an element: a frame may lack them."""
    last = bus.streams[-1]
    return _size(last) - last.format.size * last.pitch // 8


def _mask(stream: Stream, failed: bool) -> bytes:
    """Where a frame's bytes are certain: outputs of a frame that failed mean nothing."""
    return bytes(_size(stream)) if failed and stream.port else b"\xff" * _size(stream)


def _other_length(frame: bytes, bus: Bus, draw: np.random.Generator) -> bytes:
    """The frame cut short by at least a byte of an element, or longer by at least a word."""
    held = len(frame) - _padding(bus)
    if draw.random() < 0.6 and held > 1:
        return frame[: held - 1 if draw.random() < 0.5 else int(draw.integers(1, held))]
    return frame + bytes(int(draw.integers(bus.data_bits // 8, LONGER)))
