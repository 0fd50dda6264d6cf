"""Designs that predict at full speed and learn in few tables: equal to the executor, and within the clocks of a
step.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from linted import warnings
from modal_designs import modal, programs
from tiers import count

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices.family import ECP5
from circuitize.backends.verilog.folded import blocks, model, refinement, schedule
from circuitize.backends.verilog.folded.cost import Cost
from circuitize.backends.verilog.folded.estimate import estimate
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.layout import layout
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.pool import works
from circuitize.backends.verilog.folded.reads import Reads
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.modes import MODE, Modal, Mode
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl import Simulation, compare
from circuitize.sims.rtl.session import session, session_frames

LANES = 8
PACE = 400
"""Clocks of a step: more than the slowest step takes."""
TRIED = count(3, deep=60)
"""Plans that refinement makes at most."""
DEEP = pytest.mark.deep


@pytest.fixture(autouse=True)
def few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "EFFORT", TRIED * sum(works(folded()).values()))


@cache
def folded(kind: str = "both") -> Fold:
    found, _ = modal(kind)
    return fold(found.step, 1, found)


@cache
def design(kind: str = "both") -> Design:
    found, initial = modal(kind)
    options = {"lanes": LANES, "elements_per_beat": 1} | ({"train_interval": PACE} if kind != "predict" else {})
    return integrated(Bound(found.step, initial, found), "folded", options, Interface("slow"))


@cache
def sliced(kind: str = "both") -> Design:
    """A design with memories that all stand alone, in slices of five bits, as those of many words are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_WORDS", 2)
        patch.setattr(blocks, "FILLED", 0)
        patch.setattr(blocks, "DEEPEST", 1)
        patch.setattr(blocks, "_slice", lambda words, width: 5 if width > 5 else 0)
        patch.setattr(blocks, "in_block", lambda words, width: True)
        return design.__wrapped__(kind)


@cache
def chosen(most: int | None) -> Sizes:
    return plan(choose_sizes(folded(), LANES, None, None, most)).sizes


def intervals(made: Sizes) -> list[int]:
    return [model.interval(*program) for program in made.programs]


@pytest.mark.parametrize("kind", ["both", pytest.param("momentum", marks=DEEP)])
def test_frames_of_every_mode_equal_the_executor(kind: str) -> None:
    """With pauses and back-pressure; weights come back as they were written."""
    found, initial = modal(kind)
    vectors = session_frames(found, count(10, deep=80), 1, initial)
    order = [Mode.WRITE, Mode.READ, Mode.PREDICT, Mode.PREDICT, Mode.TRAIN, Mode.READ, Mode.TRAIN, Mode.PREDICT]
    vectors[MODE][: len(order)] = order
    for port in found.state:
        vectors[port.name][0] = initial[port.name] + 5
    wanted = session(found, vectors, initial)
    with Simulation(design(kind)) as simulation:
        for pace in range(1, count(2, deep=6)):
            frames = simulation.run(vectors, pace)
            assert compare(frames, wanted).first_difference is None
            for port in found.state:
                assert (frames.outputs[port.name][1] == initial[port.name] + 5).all()


@pytest.mark.parametrize("kind", [pytest.param("both", marks=DEEP), "predict"])
def test_memories_in_slices_hold_what_whole_ones_hold(kind: str) -> None:
    """From their first contents on."""
    found, initial = modal(kind)
    vectors = session_frames(found, count(5, deep=60), 2, initial)
    vectors[MODE][:3] = Mode.READ, Mode.TRAIN if found.trains else Mode.PREDICT, Mode.READ
    made = sliced(kind)
    assert sum("_from5" in name for name in made.files) > 5
    with Simulation(made) as simulation:
        assert compare(simulation.run(vectors, 1), session(found, vectors, initial)).first_difference is None


def test_no_word_is_read_in_the_clock_in_which_it_is_written() -> None:
    """Where it were, the memory below gives wrong bits, as a chip may: no comparison of addresses is synthesized."""
    found, initial = modal("both")
    vectors = session_frames(found, count(6, deep=60), 3, initial)
    vectors[MODE][:5] = Mode.TRAIN, Mode.PREDICT, Mode.WRITE, Mode.TRAIN, Mode.READ
    read, made = "read_data <= words[read_address]", sliced()
    wrong = f"{read} ^ {{(COUNT*WIDTH){{|write & (write_address == read_address)}}}}"
    files = {
        name: text.replace(read, wrong) if "no_rw_check" in text and "words" in text else text
        for name, text in made.files.items()
    }
    assert sum(files[name] != text for name, text in made.files.items()) == 2
    assert sum("_from5" in name for name in made.files) > 5
    with Simulation(replace(made, files=files)) as simulation:
        assert compare(simulation.run(vectors, 1), session(found, vectors, initial)).first_difference is None


def test_predictions_and_steps_take_the_clocks_of_the_report() -> None:
    """By how much longer frames take together of which two more predict, or train."""
    found, initial = modal("both")
    with Simulation(design()) as simulation:

        def clocks(predictions: int, steps: int) -> float:
            order = [Mode.READ, *[Mode.PREDICT] * predictions, *[Mode.TRAIN] * steps]
            vectors = session_frames(found, len(order), 2, initial)
            vectors[MODE] = np.array(order, np.int64)
            frames = simulation.run(vectors)
            assert compare(frames, session(found, vectors, initial)).first_difference is None
            return frames.interval_cycles * (len(order) - 1)

        least = clocks(2, 1)
        assert clocks(4, 1) - least == pytest.approx(2 * int(design().report["predict_interval_cycles"]))
        assert clocks(2, 3) - least == pytest.approx(2 * int(design().report["interval_cycles"]))


def test_a_slow_step_takes_fewer_tables_and_predictions_keep_their_clocks() -> None:
    quick, slow = chosen(None), chosen(PACE)
    (step, prediction), (slow_step, slow_prediction) = intervals(quick), intervals(slow)
    assert step < slow_step <= PACE and slow_prediction <= prediction
    assert estimate(plan(slow), ECP5)["lut"] < 0.85 * estimate(plan(quick), ECP5)["lut"]


@DEEP
@pytest.mark.parametrize("most", [95, 100, 120, 250])
def test_a_step_keeps_to_its_clocks(most: int) -> None:
    assert intervals(chosen(most))[0] <= most


def test_weights_lie_in_one_memory_each() -> None:
    made, of = plan(chosen(PACE)), folded()
    for wire in of.states:
        kept = [memory for memory in made.memories if made.sizes.readers[memory.readers[0]].wire == wire]
        read = [reader for reader in made.sizes.readers if reader.wire == wire]
        assert len(read) > 1 and len(kept) == 1


def test_what_cannot_be_is_refused() -> None:
    step, predict, initial = programs()
    wanted = {
        r"a training step with its prediction \(--predict\), found none": (Modal(step), {"lanes": LANES}),
        "expected a training step with its prediction": (Modal(predict), {}),
        "found interval_budget; give one of them": (Modal(step, predict), {"interval_budget": 200}),
        r"at least \d+ clocks for a training step within 8 lanes, found train_interval=9; raise it": (
            *(Modal(step, predict), {"lanes": LANES, "train_interval": 9}),
        ),
    }
    for told, (found, options) in wanted.items():
        start = {port.name: initial[port.name] for port in found.state}
        with pytest.raises(CircuitizeError, match=told) as error:
            schedule(found.step, start, modal=found, **{"train_interval": PACE, **options})
        assert "\n" not in str(error.value)
    with pytest.raises(CircuitizeError, match="expected a training step with its prediction"):
        schedule(step, initial, train_interval=PACE)


@DEEP
def test_readers_of_weights_that_never_begin_anew_are_noticed() -> None:
    """The second step then waits for ever."""
    found, initial = modal("both")
    vectors = session_frames(found, 20, 1, initial)
    again = "if (rst | commit | steady)"
    files = {name: text.replace(again, "if (rst)") for name, text in design().files.items()}
    assert files != design().files
    with (
        Simulation(replace(design(), files=files)) as simulation,
        pytest.raises(CircuitizeError, match="the design hangs"),
    ):
        simulation.run(vectors)


def test_verilator_has_no_warning(tmp_path: Path) -> None:
    assert warnings(design(), tmp_path) == ""


@pytest.mark.parametrize(("words", "counts"), [(blocks.DEEPEST // 2, [4]), (blocks.DEEPEST, [1] * 4)])
def test_deep_memories_stand_alone(words: int, counts: list[int]) -> None:
    """Four memories of one address, in two banks: side by side where a block holds all their words."""
    table = np.arange(4 * words).reshape(words, 4)
    made = layout(Reads.of(table), table.reshape(-1, 1), table.size)
    assert [len(row.places) for row in blocks.rows([made], 0, 9, 2, True)] == counts


def test_the_choice_among_blocks_is_counted() -> None:
    """As yosys 0.23 makes it for an ECP5, of 18 bits that are read: tables by words."""
    for words, luts in ((1024, 0), (2048, 0), (4096, 20), (6272, 97), (13312, 371), (100352, 1520), (200704, 3045)):
        cost = Cost(ECP5)
        cost.row(words, 18, 1)
        assert abs(cost.lut - luts) <= 0.2 * luts
