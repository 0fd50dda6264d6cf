"""Certificates of parallel designs: honest ones are shown, mutants are refused, and a copy of the checker agrees."""

from __future__ import annotations

import ast
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import parallel_networks as networks
import pytest
from certified_designs import certified, compared, project
from integers_cases import cases
from operations.integer import Case
from r1cs_programs import integer_type, single
from tiers import count, of_each
from verilog_mutants import Mutant, mutants

from circuitize.backends.verilog.certificate import Refused, certificate, checker, statement_of
from circuitize.backends.verilog.certificate.checker.check import check
from circuitize.backends.verilog.certificate.checker.claims import digests
from circuitize.backends.verilog.certificate.checker.statement import stated
from circuitize.backends.verilog.certificate.checker.symbols import Symbols
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.project import Project
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.circuits import integers
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw
from circuitize.sims import integer, rtl

CHECKER = Path(checker.__file__).parent
WHOLE = [networks.tabled, networks.head, networks.checked]
MUTATED = [networks.curve, networks.head, networks.small]


@pytest.mark.parametrize("make", WHOLE, ids=lambda make: make.__name__)
def test_a_network_is_shown(make: Callable[[], IntegerProgram]) -> None:
    made, found = certified(make)
    assert found["files"] == digests(made.design.files)
    assert {entry["module"] for entry in found["modules"]} == {
        name.removesuffix(".v") for name in made.design.files if name.endswith(".v")
    }
    assert check(json.loads(json.dumps(found)), made.design.files)["modules"] == found["modules"]
    named = {name.split()[0] for entry in found["modules"] for name in entry["operations"]}
    assert named & {"contract", "add"}


@pytest.mark.parametrize("options", [{"levels_per_stage": 1}, {"levels_per_stage": 100}, {"multiplication": "dsp"}])
@pytest.mark.parametrize("elements", ["bytes", "packed"])
def test_every_pipeline_is_shown(options: Mapping[str, Any], elements: str) -> None:
    assert certificate(project(networks.small(), elements, **options))["elements"] == elements


LARGER = [networks.jet, networks.sparse, networks.convolution, networks.curve]


@pytest.mark.deep
@pytest.mark.parametrize("make", LARGER, ids=lambda make: make.__name__)
def test_a_larger_network_is_shown(make: Callable[[], IntegerProgram]) -> None:
    made, found = certified(make)
    assert check(found, made.design.files)["stages"] == found["stages"]


SMALL = [case for case in cases() if 0 < max((s.size for s in case.sources), default=0) < 128]
WIDE = 1 << 22


def refused(case: Case) -> bool:
    """What is not certified: quotients of two numbers, and roots and clamps of more than 2^22 values."""
    wide = any(source.high - source.low >= WIDE for source in case.sources)
    kinds = integers.ReLU | integers.Clamp | integers.SquareRoot
    return isinstance(case.operation, integers.Divide) or (wide and isinstance(case.operation, kinds))


SHOWN = [c for c in SMALL if not refused(c) and max(s.size for s in c.sources) <= count(12, deep=128)]


@pytest.mark.parametrize("case", of_each(SHOWN), ids=str)
def test_every_operation_is_shown(case: Case) -> None:
    made = project(single(case.operation, *case.sources))
    assert certificate(made)["modules"]


@pytest.mark.parametrize("case", of_each([case for case in SMALL if case.sources]), ids=str)
def test_a_statement_is_the_program(case: Case) -> None:
    """Evaluated on known numbers, it gives the integers of the executor."""
    program = single(case.operation, *case.sources)
    random = np.random.default_rng(3)
    for _ in range(count(2, deep=20)):
        values = {
            p.name: random.integers(p.format.low, p.format.high, p.format.shape, endpoint=True) for p in program.inputs
        }
        try:
            wanted = integer.run(program, raw(values))
        except CircuitizeError:
            continue
        statement = statement_of(program)
        made = stated(statement, Symbols(), [values[port["name"]].reshape(-1).tolist() for port in statement["inputs"]])
        for port in statement["outputs"]:
            found = [form.constant for form in made.wires[port["wire"]].flat]
            assert found == wanted[port["name"]].reshape(-1).tolist()


def test_the_checker_runs_from_a_copy(tmp_path: Path) -> None:
    """It needs Python and numpy, and reads nothing but the certificate and the Verilog."""
    made, found = certified(networks.small)
    (tmp_path / "design" / "rtl").mkdir(parents=True)
    for name, text in made.design.files.items():
        (tmp_path / "design" / "rtl" / name).write_text(text)
    (tmp_path / "certificate.json").write_text(json.dumps(found))
    shutil.copytree(CHECKER, tmp_path / "own")
    command = [sys.executable, "-I", "own", "certificate.json", "design"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"{len(found['modules'])} modules, {found['stages']} stages" in ran.stdout
    changed = next((tmp_path / "design" / "rtl").glob("*_add.v"))
    changed.write_text(changed.read_text() + "\n")
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and f"NOT shown: {changed.name}: expected the file" in ran.stderr


def test_the_checker_imports_python_and_numpy_alone() -> None:
    for path in CHECKER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                names = [] if node.level else [node.module or ""]
            for name in names:
                top = name.partition(".")[0]
                assert top in sys.stdlib_module_names or top == "numpy", f"{path.name} imports {name}"


def test_a_certificate_says_no_more_than_is_shown() -> None:
    made, found = certified(networks.small)
    for name, value in {"stages": found["stages"] + 1, "tabulated": 0, "modules": found["modules"][1:]}.items():
        with pytest.raises(Refused, match=f"expected the {name} that are shown"):
            check({**found, name: value}, made.design.files)
    other, shown = certified(networks.tabled)
    statement = json.loads(json.dumps(shown["statement"]))
    next(edge for edge in statement["edges"] if edge["operation"] == "constant")["amounts"][0] += 1
    with pytest.raises(Refused, match="is not shown to be what the program says"):
        check({**shown, "statement": statement}, other.design.files)
    with pytest.raises(Refused, match="expected a certificate of a parallel or a folded"):
        check({**found, "format": "2"}, made.design.files)
    with pytest.raises(Refused, match="with another"):
        check({**found, "statement": {"inputs": [{}], "edges": [], "outputs": []}}, made.design.files)


@pytest.mark.rtl
def test_a_status_may_not_rely_on_what_it_tells_of() -> None:
    """A check's failure that is masked by the number it lets through is 0 where it fails, and is refused."""
    made, found = certified(networks.small)
    name = "circuitize_parallel_check.v"
    lines = made.design.files[name].splitlines()
    failing = next(line for line in lines if " check__t1 = " in line)
    passed = next(line for line in lines if " check__0 = " in line)
    told, _, above = failing.rstrip(";").partition(" = ")
    masked = f"{told} = {above} & ($signed({{{{1{{check__0[8]}}}}, check__0}}) < 10'sd151);"
    lines[lines.index(passed)], lines[lines.index(failing)] = masked, passed
    files = {**made.design.files, name: "\n".join([*lines, ""])}
    assert not behaves(files, made), "the status is 0 where low bits of a number that is too great are small enough"
    with pytest.raises(Refused, match="status relies on a check to tell that it fails"):
        check({**found, "files": digests(files)}, files)


def survivors(seed: int, wanted: int) -> tuple[int, list[tuple[Mutant, Project]]]:
    """How many mutants were tried, a part of each network; those that are shown to be equal, with their design."""
    left, tried = [], 0
    for make in MUTATED:
        made, found = certified(make)
        for mutant in itertools.islice(mutants(made.design.files, seed), -(-wanted // len(MUTATED))):
            tried += 1
            try:
                check({**found, "files": digests(mutant.files)}, mutant.files)
            except Refused:
                continue
            left.append((mutant, made))
    return tried, left


def behaves(files: Mapping[str, str], made: Project) -> bool:
    """Whether a changed design gives the integers of the executor in a simulator, on frames defined and undefined."""
    design: Design = replace(made.design, files=files)
    frames = networks.vectors(integer_type(made.program.arrow.source[0]), 300)
    return not rtl.check_design(design, made.program, frames).mismatches


@pytest.mark.rtl
def test_mutants_are_refused() -> None:
    """Whatever is shown of a mutant is true: one that is not refused is equal in the simulator, too."""
    tried, left = survivors(1, 12)
    assert tried >= 12 and len(left) <= 2
    for mutant, made in left:
        assert behaves(mutant.files, made), mutant


@pytest.mark.deep
def test_a_thousand_mutants_are_refused(tmp_path: Path) -> None:
    """Or yosys and ABC show that they equal the design."""
    tried, left = survivors(2, 1000)
    assert tried >= 1000
    for number, (mutant, made) in enumerate(left):
        found = compared(made, certificate(made), tmp_path / str(number)).equality(mutant.files)
        print(f"{found}: {mutant}")
        assert found, mutant


def test_a_shared_bus_is_refused_in_one_line() -> None:
    made = project(networks.small())
    shared = enclosed(schedule(networks.small()), Interface(bus_bits=32))
    with pytest.raises(CircuitizeError, match="expected a stream for each tensor"):
        certificate(replace(made, design=shared))
