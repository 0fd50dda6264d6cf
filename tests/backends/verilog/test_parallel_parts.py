"""Large operations of the parallel schedule in several modules."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import parallel_networks as networks
import pytest
from certified_designs import project
from linted import warnings
from r1cs_programs import integer_type

from circuitize.backends.verilog.certificate import certificate
from circuitize.backends.verilog.certificate.checker.claims import digests
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices.family import ECP5
from circuitize.backends.verilog.netlist import Kind
from circuitize.backends.verilog.parallel import parts, schedule
from circuitize.backends.verilog.parallel.modules import Modules
from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.backends.verilog.timing import expected_mhz
from circuitize.circuits.program import IntegerProgram
from circuitize.sims import rtl

MOST = 40


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST", MOST)


def cut(design: Design) -> list[str]:
    """The names of files that hold parts."""
    return [name for name in design.files if re.search(r"_part\d+x*\.v$", name)]


@pytest.mark.parametrize(
    "network",
    [networks.tabled, networks.head, networks.checked, pytest.param(networks.jet, marks=pytest.mark.deep)],
    ids=lambda network: network.__name__,
)
@pytest.mark.parametrize("levels", [1, 4])
def test_parts_compute_the_same(network: Callable[[], IntegerProgram], levels: int) -> None:
    program = network()
    design = schedule(program, levels)
    assert len(cut(design)) > 1
    found = rtl.check_design(design, program, networks.vectors(integer_type(program.arrow.source[0]), 60))
    assert found.mismatches == 0, found.first_difference


def test_parts_hold_no_more_than_their_share() -> None:
    """The signals of a node, one for each stage in which it is read, stay in one part."""
    made = Unrolled(networks.head(), 2)
    modules = Modules(made.net, made.groups, made.pipe, made.wanted)
    signals = [int((1 + made.pipe.delay[members]).sum()) for members in modules.members]
    deepest = int(made.pipe.delay.max()) + 1
    for group, count in zip(modules.groups, signals, strict=True):
        assert group.stream is not None or count < MOST + deepest, (group.name, count)
    live = made.pipe.live & (made.net.kind != Kind.CONSTANT)
    assert sum(signals) == int((1 + made.pipe.delay[live]).sum())
    assert max(signals) > MOST // 2


def test_no_part_reads_a_later_one() -> None:
    made = Unrolled(networks.head(), 2)
    modules = Modules(made.net, made.groups, made.pipe, made.wanted)
    names = [re.sub(r"_part\d+$", "", group.name) for group in modules.groups]
    read = 0
    for index, taken in enumerate(modules.imports):
        for owner in modules.owner[taken[:, 0]].tolist():
            read += names[owner] == names[index]
            assert names[owner] != names[index] or owner < index
    assert read > 0


def test_a_name_that_is_taken_is_not_given_again() -> None:
    made = Unrolled(networks.head(), 2)
    (largest,) = np.bincount(made.net.group[made.pipe.live]).argsort()[-1:].tolist()
    other = parts.Group(f"{made.groups[largest].name}_part2", ())
    found = [group.name for group in parts.parts(made.net, [*made.groups, other], made.pipe)[0]]
    assert len(set(found)) == len(found)
    assert f"{other.name}x" in found


def test_linters_find_nothing(tmp_path: Path) -> None:
    assert warnings(schedule(networks.head(), 2), tmp_path) == ""


def test_a_design_in_parts_is_certified() -> None:
    """The claim of a part names the operations of which it makes elements."""
    made = project(networks.head())
    found = certificate(made)
    assert cut(made.design) and found["files"] == digests(made.design.files)
    operations = {entry["module"]: entry["operations"] for entry in found["modules"]}
    named = {operation for name in cut(made.design) for operation in operations[name.removesuffix(".v")]}
    assert named == {"contract", "arg_max", "arg_max_one_hot"}


@pytest.mark.parametrize("levels", [1, 4])
def test_parts_change_no_size_and_no_clock(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_up = enclosed(schedule(networks.head(), levels), Interface())
    monkeypatch.setattr(parts, "MOST", 1 << 13)
    whole = enclosed(schedule(networks.head(), levels), Interface())
    assert len(cut_up.files) > len(whole.files)
    assert cut_up.report == whole.report
    assert expected_mhz(cut_up, ECP5) == expected_mhz(whole, ECP5)
