"""Designs beside each other in one simulation, under benches of cocotbext-axi: frames, faults and resets for each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from example_programs import example
from tiers import count

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import STATUS, Bus, Design, Stream
from circuitize.backends.verilog.project.testbench import PORTS_ALONE, VERILATOR
from circuitize.backends.verilog.shell import Interface
from circuitize.backends.verilog.shell.registers import BUS, PORTS
from circuitize.circuits.encode import program_digest
from circuitize.sims.rtl.compare import expected
from circuitize.sims.rtl.frames import bound_somehow, frames_to_try

FOLDED = ["iris.py:predict", "iris.py:step", "digits.py:predict", "digits.py:step", "digits.py:momentum"]
FOLDED += ["digits_xent.py:step", "jet.py:scores", "jet.py:classify", "dense.py:small", "cnn.py:predict", "cnn.py:step"]
FOLDED += [
    "transformer.py:step",
    "jax_iris.py:step",
    "onnx_digits.py:step",
    "quantized.py:step",
    "quantized.py:predict",
]
FOLDED += ["trees.py:predict", "matmul.py:product", "lenet.py:predict", "mnist_mlp.py:predict"]
"""The examples that run in Icarus; Verilator compiles all others."""

ROOT = Path(__file__).resolve().parents[2]
LONGER = count(40, deep=400)
"""A frame that is too long is longer by fewer bytes than these, or by a word that has as many."""


@dataclass(frozen=True)
class Job:
    """A design and the program that it is of; so many frames, of which some break the framing, and so many resets,
    each before the clocks of `latest` frames have passed.

    Of those that do not, every other one lacks the padding of its last word, and is as good as with it.
    """

    design: Design
    made: Bound
    frames: int = 8
    faults: float = 0.3
    resets: int = 2
    latest: float = 3.0


def job(name: str, scheduler: str, interface: Interface, frames: int = 5, **options: Any) -> Job:
    """The design of an example, and the frames that it gets."""
    made = bound_somehow(example(name).integer)
    return Job(integrated(made, scheduler, options, interface), made, frames)


def simulate(jobs: Sequence[Job], folder: Path, seed: int = 0, simulator: str = "icarus") -> None:
    """Run the jobs in one simulation; fails where a design differs from its program.

    Icarus starts at once; Verilator first compiles, small designs for seconds and large ones for minutes, and is then
    tens of times as fast.
    """
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
    runner = get_runner(simulator)
    sources = sorted(path for path in folder.iterdir() if path.suffix == ".v")
    options: dict[str, Any] = {}
    if simulator == "verilator":
        sources.insert(0, folder / "ports.vlt")
        sources[0].write_text(PORTS_ALONE.format("many"))
        options["build_args"] = VERILATOR
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("PYTEST", "COV", "MAKE"))}
    kept["PATH"] = os.environ["PATH"]
    try:
        if simulator == "verilator":
            os.environ["PATH"] = f"{newer_verilator()}{os.pathsep}{kept['PATH']}"
        runner.build(
            sources=sources, hdl_toplevel="many", build_dir=folder, always=True, timescale=("1ns", "1ns"), **options
        )
        results = runner.test(hdl_toplevel="many", test_module="axi_bench", build_dir=folder, test_dir=folder)
    finally:
        os.environ |= kept
    assert get_results(results) == (1, 0)


def newer_verilator() -> str:
    """The folder of a Verilator that cocotb accepts, which Debian's is too old for."""
    done = subprocess.run([ROOT / ".ci" / "verilator"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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
        "resets": draw.integers(1, int(job.latest * clocks), job.resets).tolist(),
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
    word = bus.data_bits // 8
    return frame + bytes(int(draw.integers(word, max(LONGER, word + 1))))
