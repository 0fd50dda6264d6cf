"""Designs whose frames write memory, read it, predict and train: equal to the executor in each mode and across them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from modal_designs import BATCH, MODEL, modal, programs
from tiers import TIER, count
from unrefined_plans import unrefined

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.bound import design as bare
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.modes import MODE, Modal, Mode
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.quantize import quantize
from circuitize.frontends import training
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, sequential
from circuitize.sims.rtl import Simulation, compare
from circuitize.sims.rtl.beats import line_length
from circuitize.sims.rtl.beats import packets as beat_lines
from circuitize.sims.rtl.passing import Passing
from circuitize.sims.rtl.session import session, session_frames


@cache
def planned(kind: str, elements: int) -> Design:
    found, initial = modal(kind)
    with unrefined():
        return bare(Bound(found.step, initial, found), "folded", {"lanes": 24, "elements_per_beat": elements})


@cache
def design(kind: str, bus_bits: int | None = None) -> Design:
    """One plan of the step serves all interfaces; that of the others leaves the elements of a beat to the design."""
    one = bus_bits is not None or (kind == "both" and TIER != "deep")
    face = Interface("learns", control=True, bus_bits=bus_bits)
    return enclosed(planned(kind, int(one)), face, program_digest(modal(kind)[0].step))


GUARDS = {
    "the first word of a packet does not wait for its mode": (" & known_mode", ""),
    "a packet takes the mode of the one before": (r" & ~\(told_mode & word_passed\)", ""),
    "a word is given before the last one is taken": (r"~given_valid \| given_passed", "1'b1"),
    "the mode changes before the frame begins": (
        r"given_valid & given_passed & given_tensor\[0\]\) frame_mode <= given_data\[\d+:0\]",
        "word_passed & word_valid) frame_mode <= packet_mode",
    ),
    "new state is written a clock before it is there": (
        r"  reg (\w+_store_valid);\n  always @\(posedge clk\) \1 <= ~rst & (\([^;]*\));",
        r"  wire \1 = \2;",
    ),
}
"""By what goes wrong: what a guard looks like, and what stands there without it."""


def deep(*cases: tuple[object, ...]) -> list[object]:
    return [pytest.param(*case, marks=pytest.mark.deep) for case in cases]


@pytest.mark.parametrize(
    ("kind", "bus_bits"),
    [
        ("both", None),
        *deep(("both", 32), *((kind, None) for kind in ("step", "predict", "momentum"))),
        *deep(*((kind, bits) for kind in ("step", "predict", "momentum") for bits in (32, 64))),
    ],
)
def test_frames_of_every_mode_equal_the_executor(kind: str, bus_bits: int | None) -> None:
    """With a stream for each tensor, and with the mode in the first word of a packet on a shared bus."""
    found, initial = modal(kind)
    vectors = session_frames(found, count(8, deep=60), 1, initial)
    wanted = session(found, vectors, initial)
    with Simulation(design(kind, bus_bits)) as simulation:
        for pace in (None, 1, 2)[: count(2, deep=3)]:
            compared = compare(simulation.run(vectors, pace), wanted)
            assert (compared.mismatches, compared.first_difference) == (0, None)


def test_train_predict_train_on_and_read_back() -> None:
    """Written weights come back as written; what is trained in between is what the executor trains."""
    found, initial = modal("both")
    order = [Mode.WRITE, Mode.READ, Mode.PREDICT, *[Mode.TRAIN] * 3, Mode.READ, Mode.PREDICT, Mode.TRAIN, Mode.READ]
    vectors = session_frames(found, len(order), 3, initial)
    step = found.step.examples[0]
    for name in ("inputs", "targets", "learning_rate"):
        (port,) = [port for port in found.step.inputs if port.name == name]
        vectors[name][:] = np.rint(np.asarray(step[name]) * 2.0**port.format.fraction_bits).astype(np.int64)
    vectors[MODE] = np.array(order, np.int64)
    for port in found.state:
        vectors[port.name][0] = initial[port.name] + 5
    wanted = session(found, vectors, initial)
    assert not wanted.undefined.any()
    with Simulation(design("both")) as simulation:
        frames = simulation.run(vectors, 4)
    assert compare(frames, wanted).first_difference is None
    for port in found.state:
        read = frames.outputs[port.name]
        assert (read[1] == initial[port.name] + 5).all()
        assert (read[6] != read[1]).any() and (read[9] != read[6]).any()
    assert (frames.outputs["outputs"][2] != frames.outputs["outputs"][7]).any()


@pytest.mark.parametrize(
    ("kind", "lacking", "last"),
    [("predict", Mode.TRAIN, Mode.PREDICT), *deep(("step", Mode.PREDICT, Mode.TRAIN))],
)
def test_what_is_wrong_leaves_the_memory(kind: str, lacking: Mode, last: Mode) -> None:
    """Modes that the design lacks, and an element outside its interval in a write, raise the status alone."""
    found, initial = modal(kind)
    vectors = session_frames(found, 6, 0, initial)
    vectors[MODE] = np.array([Mode.WRITE, lacking, Mode.READ, Mode.WRITE, Mode.READ, last], np.int64)
    name = found.state[0].name
    wanted = session(found, vectors, initial)
    vectors[name][3].flat[0] = found.state[0].format.high + 1
    read = {port.name: np.array(wanted.outputs[port.name]) for port in found.state}
    for port in found.state:
        read[port.name][4] = vectors[port.name][0]
    undefined = np.array([False, True, False, True, False, True])
    wanted = replace(wanted, outputs={**wanted.outputs, **read}, undefined=undefined)
    with Simulation(design(kind)) as simulation:
        frames = simulation.run(vectors, 2)
    assert frames.failed[:5].tolist() == undefined[:5].tolist()
    for port in found.state:
        assert (frames.outputs[port.name][[2, 4]] == vectors[port.name][0]).all()


@pytest.mark.parametrize(
    ("kind", "pace"),
    [("both", 5), *deep(("both", None), *((k, pace) for k in ("step", "predict", "momentum") for pace in (None, 5)))],
)
def test_packets_that_are_not_whole_fail_alone(kind: str, pace: int | None) -> None:
    """On a shared bus: too short, too long, of a mode that there is not. Memory stays, and the next one is right."""
    found, initial = modal(kind)
    of, draw, frame_count = design(kind, 32), np.random.default_rng(1), count(24, deep=80)
    vectors = session_frames(found, frame_count, 2, initial)
    (bus,) = [bus for bus in of.buses if not bus.output]
    told, packets, length = vectors[MODE].copy(), [], line_length(bus)
    for n in range(frame_count):
        passing = Passing(of, vectors[MODE][n : n + 1])
        own = {s.port: passing.of(s, vectors[s.port][n : n + 1]) for s in bus.streams}
        text = beat_lines(bus, own, *passing.beats(bus, 1))
        lines = [text[at + 1 : at + length] for at in range(0, len(text), length)]
        how = draw.choice(["whole", "short", "long", "unknown"], p=[0.61, 0.13, 0.13, 0.13])
        if how == "short" and len(lines) > 1:
            lines = lines[: draw.integers(1, len(lines))]
        elif how == "long":
            lines += [bytes(draw.choice(list(b"0123456789abcdef"), length - 2).tolist()) + b"\n"] * draw.integers(1, 40)
        elif how == "unknown":
            lacking = [mode for mode in range(256) if mode not in found.modes]
            lines[0] = lines[0][:-3] + b"%02x\n" % draw.choice([lacking[0], *lacking])
            told[n] = -1
        if how != "whole" and not (how == "short" and told[n] == Mode.READ):
            vectors[MODE][n] = -1
        packets += [b"0" + line for line in lines[:-1]] + [b"1" + lines[-1]]
    wanted = session(found, vectors, initial)
    assert frame_count < 3 * wanted.undefined.sum() < 2 * frame_count
    with Simulation(of) as simulation:
        frames = simulation.run_beats({bus.name: b"".join(packets)}, frame_count, pace, told)
    compared = compare(frames, wanted)
    assert (compared.mismatches, compared.first_difference) == (0, None)


def test_a_write_in_a_mode_that_there_is_not_leaves_the_memory() -> None:
    """Whole but for its first word: one between those of the design's modes, and ones past a byte's lowest bits."""
    found, initial = modal("step")
    of, wrong = design("step", 32), [Mode.PREDICT, 4 | Mode.WRITE, 4 | Mode.TRAIN]
    told = np.array([Mode.TRAIN, Mode.WRITE, *[Mode.WRITE, Mode.READ] * len(wrong)])
    vectors = session_frames(found, len(told), 0, initial)
    draw = np.random.default_rng(2)
    for port in found.state:
        vectors[port.name][:] = initial[port.name] + draw.integers(-9, 10, vectors[port.name].shape)
    vectors[MODE] = told
    (bus,) = [bus for bus in of.buses if not bus.output]
    passing, length = Passing(of, vectors[MODE].copy()), line_length(bus)
    text = beat_lines(
        bus, {s.port: passing.of(s, vectors[s.port]) for s in bus.streams}, *passing.beats(bus, len(told))
    )
    lines = [text[at : at + length] for at in range(0, len(text), length)]
    begins = [0, *(n + 1 for n, line in enumerate(lines[:-1]) if line.startswith(b"1"))]
    for place, mode in zip(begins[2::2], wrong, strict=True):
        lines[place] = lines[place][:-3] + b"%02x\n" % mode
    told[2::2] = vectors[MODE][2::2] = -1
    with Simulation(of) as simulation:
        frames = simulation.run_beats({bus.name: b"".join(lines)}, len(told), 3, told)
    compared = compare(frames, session(found, vectors, initial))
    assert (compared.undefined, compared.mismatches, compared.first_difference) == (len(wrong), 0, None)


def test_a_prediction_that_keeps_is_noticed() -> None:
    """The same design, but every frame swaps the banks."""
    found, initial = modal("both")
    made = design("both")
    name = next(name for name in made.files if name.endswith("folded_status.v"))
    broken = made.files[name].replace("take & keeps", "take")
    assert broken != made.files[name]
    vectors = session_frames(found, count(6, deep=20), 1, initial)
    with Simulation(replace(made, files={**made.files, name: broken})) as simulation:
        assert compare(simulation.run(vectors), session(found, vectors, initial)).mismatches


def test_the_prediction_is_a_part_of_the_step() -> None:
    """No weight is read by a stage of the prediction alone, and memory is read back through ports that are there."""
    step, predict, _ = programs()
    both, alone = fold(step, modal=Modal(step, predict)), fold(step, modal=Modal(step))
    reads = [o.wire for stage in both.stages for o in stage.operands if o.wire in both.held]
    assert len(reads) == len([o.wire for stage in alone.stages for o in stage.operands if o.wire in alone.held])


@pytest.mark.deep
@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_is_missed(guard: str) -> None:
    pattern, without = GUARDS[guard]
    found, initial = modal("both")
    vectors = session_frames(found, 30, 1, initial)
    files = {name: re.sub(pattern, without, text) for name, text in design("both", 32).files.items()}
    assert files != design("both", 32).files
    wrong = 0
    try:
        with Simulation(replace(design("both", 32), files=files)) as simulation:
            for pace in (None, 1):
                wrong += compare(simulation.run(vectors, pace), session(found, vectors, initial)).mismatches
    except CircuitizeError:
        return
    assert wrong


def test_state_is_written_from_registers() -> None:
    """The choice between new and loaded state stands before a register, and no longer before the memories."""
    text = "\n".join(text for name, text in design("both").files.items() if name.endswith("_folded.v"))
    stores = {*re.findall(r"\w+_store\d+", text)}
    assert stores and {*re.findall(r"  reg \[\d+:0\] (\w+_store\d+);", text)} == stores
    assert {*re.findall(r"  reg (\w+_store_valid);", text)} == {*re.findall(r"\w+_store_valid", text)}


def test_readers_share_what_steps_alone_read() -> None:
    """Frames of predictions overlap, and so what they read is kept for each reader; state may be kept for all."""
    found, _ = modal("both")
    folded = fold(found.step, modal=found)
    for joins in (False, True):
        made = plan(sizes(folded, 8, joins=joins))
        readers = [[made.sizes.readers[number] for number in memory.readers] for memory in made.memories]
        shared = [some for some in readers if len({reader.actor for reader in some}) > 1]
        held = [some for some in shared if some[0].wire in folded.states]
        assert shared and bool(held) is joins
        for some in shared:
            assert some in held or all(made.sizes.modes[reader.actor] == {Mode.TRAIN} for reader in some)


def test_lint(tmp_path: Path) -> None:
    for kind in ("predict", "both", "step")[: count(1, deep=3)]:
        of = design(kind)
        folder = tmp_path / kind
        folder.mkdir()
        for name, text in of.files.items():
            (folder / name).write_text(text)
        sources = sorted(name for name in of.files if name.endswith(".v"))
        lint = ["verilator", "--lint-only", "-Wall", "--top-module", of.top, *sources]
        assert subprocess.run(lint, cwd=folder, capture_output=True, text=True, check=False).stderr == ""


def test_formats_that_differ_are_refused() -> None:
    step, predict, _ = programs()
    narrow = sequential(*(dense(*sizes, format=Format.signed(8, fraction_bits=7)) for sizes in ((4, 3), (3, 2))))
    for model, batch, name in ((narrow, BATCH, "dense1.weight"), (MODEL, BATCH + 1, "inputs")):
        draw = np.random.default_rng(0)
        example = {**model.initial(seed=0), "inputs": draw.integers(0, 2, (batch, 4)) / 2}
        other = quantize(training.predict(model, batch, examples=[example]))
        with pytest.raises(CircuitizeError, match=rf"--predict: expected '{name}' as the step has it, .*found") as told:
            Modal(step, other)
        assert "\n" not in str(told.value)
    with pytest.raises(CircuitizeError, match="--predict: expected a training step"):
        Modal(predict, predict)
    with pytest.raises(CircuitizeError, match="found another step"):
        Modal(step, step)
    found, initial = modal("both")
    made = Bound(found.step, initial, found)
    with pytest.raises(CircuitizeError, match="expected --scheduler folded, found parallel"):
        integrated(made, "parallel", {})
