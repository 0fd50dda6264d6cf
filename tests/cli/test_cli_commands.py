"""The commands that size, write and check circuits, and how the command line starts, stops and fails."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, copied, keys, refused, run

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.r1cs_file import read_r1cs
from circuitize.backends.r1cs.wtns_file import read_wtns, write_wtns
from circuitize.cli import main
from circuitize.cli.arguments import COMMANDS

COMMAND = [sys.executable, "-m", "circuitize.cli"]


ESTIMATE = [*COMMAND, "estimate", STEP, "--target", "tensor"]
"""A quick command that prints."""


SIZES = {"constraints", "wires", "public", "nonzeros", "input_range_constraints"}


def as_json(*arguments: str | Path) -> dict[str, object]:
    outcome = run(*arguments, "--json")
    assert outcome.status == 0, outcome
    assert outcome.out.count("\n") == 1
    found: dict[str, object] = json.loads(outcome.out)
    return found


def test_estimate_prints_what_it_counts() -> None:
    report = as_json("estimate", STEP)
    assert set(report) == {"digest", "operations", "targets"}
    sizes = report["targets"]["r1cs"]  # type: ignore[index]
    assert set(sizes) >= SIZES
    shown = run("estimate", STEP).out
    assert "r1cs soundness: exact, no challenge\n" in shown
    for name in SIZES:
        assert f"{name.replace('_', ' ')} " in shown
        assert f" {sizes[name]:,}\n" in shown


LARGE = """
import numpy as np

from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed
from circuitize.frontends.trace import trace

bits = Fixed((512, 512), 4, -8, 7)
ports = [Port(name, Visibility.COMMITTED, bits) for name in "xy"]
made = trace(lambda x, y: x @ y, (512, 512), (512, 512))
example = {name: np.full((512, 512), 0.25) for name in "xy"}
product = Program(made, ports, [Port("z", Visibility.COMMITTED)], [example])
"""


def test_estimate_does_not_count_the_constraints_of_large_programs(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_text(LARGE)
    report = as_json("estimate", f"{path}:product")
    assert "tensor" in report["targets"] and "r1cs" not in report["targets"]  # type: ignore[operator]
    said = "r1cs and plonkish: not counted, 134,217,728 products are more than 67,108,864; compile"
    assert said in run("estimate", f"{path}:product").out


def test_compile_writes_what_estimate_counts(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    report = as_json("compile", STEP, "--target", "r1cs", "-o", folder, "--witness", "--json-circuit")
    names = {"circuit.r1cs", "circuit.sym", "circuit.json", "program.arrow", "witness.wtns"}
    assert {path.name for path in folder.iterdir()} == names == set(report["bytes"])  # type: ignore[call-overload]
    estimated = as_json("estimate", STEP)
    system, _ = read_r1cs(folder / "circuit.r1cs")
    counted = estimated["targets"]["r1cs"]  # type: ignore[index]
    for name in ("constraints", "wires", "public", "nonzeros"):
        assert getattr(system, name) == counted[name] == report[name]
    assert len(failing_rows(system, read_wtns(folder / "witness.wtns"))) == 0
    symbols = (folder / "circuit.sym").read_text().splitlines()
    assert len(symbols) == system.wires - 1
    assert "output y[0]" in symbols[0]
    assert estimated["digest"] == report["digest"] == as_json("estimate", folder / "program.arrow")["digest"]


def test_a_compiled_program_keeps_no_examples(tmp_path: Path) -> None:
    assert run("compile", STEP, "--target", "r1cs", "-o", tmp_path / "c").status == 0
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"circuit.r1cs", "circuit.sym", "program.arrow"}
    saved = tmp_path / "c" / "program.arrow"
    assert "a program without examples; give --inputs" in refused(
        "compile", saved, "--target", "r1cs", "-o", tmp_path / "d", "--witness"
    )


def test_witness_of_given_inputs(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.array([1.0, -0.5]), w=np.array([0.5, 0.25]))
    made = tmp_path / "made"
    assert run("compile", STEP, "--target", "r1cs", "-o", made, "--inputs", tmp_path / "in.npz").status == 0
    system, _ = read_r1cs(made / "circuit.r1cs")
    values, _ = system.field.to_int64(read_wtns(made / "witness.wtns"))
    # y = x * w with four fraction bits each; public wires are y, the roots of w out and w in, and x.
    assert (values[1:3] / 2.0**8).tolist() == [0.5, -0.125]
    assert values[5:7].tolist() == [16, -8]


def test_check_compares_and_measures() -> None:
    report = as_json("check", STEP, "--vectors", "7")
    assert {"vectors", "mismatches", "targets", "first_difference"} <= set(report)
    assert (report["vectors"], report["mismatches"], report["targets"][0]) == (7, 0, "r1cs")  # type: ignore[index]
    assert report["first_difference"] is None
    assert set(report["float_error"]) == {"y", "w"}  # type: ignore[call-overload]
    assert all(error < 0.1 for error in report["float_error"].values())  # type: ignore[attr-defined]


INVERSE = ("check", STEP.replace(":step", ":inverse"), "--seed", "6", "--vectors", "6")


@pytest.fixture(scope="module")
def inverse() -> dict[str, object]:
    return as_json(*INVERSE)


def test_check_is_reproducible_by_its_seed(inverse: dict[str, object]) -> None:
    assert as_json(*INVERSE) == inverse


def test_check_counts_undefined_inputs_apart(inverse: dict[str, object]) -> None:
    assert 0 < inverse["undefined"] < inverse["vectors"]  # type: ignore[operator]
    assert inverse["mismatches"] == 0
    assert "input" in str(inverse["first_undefined"])


def test_check_finds_a_circuit_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong witness is reported as a mismatch: the row, its operation and its line, and exit status 1."""
    from circuitize.backends.r1cs.witness import witness as right
    from circuitize.sims import agree

    def wrong(emission, values, salts):  # type: ignore[no-untyped-def]
        made = right(emission, values, salts)
        made[-1, 0] ^= np.uint64(1)
        return made

    monkeypatch.setattr(agree, "witness", wrong)
    outcome = run("check", STEP, "--vectors", "3", "--json")
    report = json.loads(outcome.out)
    assert outcome.status == 1
    assert report["mismatches"] == 3
    assert "constraint" in report["first_difference"]


def test_doctor_names_every_part() -> None:
    report = as_json("doctor")
    for name, part in report["parts"].items():  # type: ignore[attr-defined]
        assert part["available"] == (part["version"] is not None)
        assert part["remedy"]
        assert name in run("doctor").out
    assert report["parts"]["native prover"]["available"]  # type: ignore[index]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["estimate"],
        ["compile", STEP, "-o", "x"],
        ["compile", STEP, "--target", "abacus", "-o", "x"],
        ["check", STEP, "--vectors", "0"],
        ["check", STEP, "--vectors", "many"],
        ["estimate", STEP, "--tar", "r1cs"],
        ["prove", STEP, "--prover", "groth16", "-o", "x"],
    ],
)
def test_bad_use_is_one_line(arguments: list[str]) -> None:
    line = refused(*arguments)
    assert line.startswith("circuitize: ")
    assert "--help" in line or "circuitize setup" in line


def test_help_is_quick_and_complete() -> None:
    timed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "circuitize.cli", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for command in ("demo", "compile", "estimate", "accuracy", "check", "setup", "prove", "verify", "doctor"):
        assert f"  {command} " in timed.stdout
    loaded = {line.rpartition("|")[2].strip() for line in timed.stderr.splitlines()}
    assert "argparse" in loaded
    assert not loaded & {"numpy", "scipy", "circuitize.circuits.program", "circuitize._native"}


def test_help_before_a_command_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help", "compile"])
    told = capsys.readouterr().out
    listed = {line.split()[0] for line in told.splitlines() if line.startswith("    ") and line[4] != " "}
    assert stopped.value.code == 0 and listed >= COMMANDS.keys()
    assert "invalid choice: 'compiel'" in run("compiel").line and "verify-run" in run("compiel").line


def test_an_interruption_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise KeyboardInterrupt\n")
    outcome = run("estimate", f"{tmp_path / 'mine.py'}:step")
    assert (outcome.status, outcome.line) == (130, "circuitize: interrupted; no file is half-written")


def test_a_closed_pipe_is_silent() -> None:
    process = subprocess.Popen(ESTIMATE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_standard_output_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(ESTIMATE, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [done.stderr.strip()]
    assert "No space left on device" in done.stderr


def test_folders_of_something_else_are_left_alone(tmp_path: Path) -> None:
    kept = copied(keys(), tmp_path / "keys", without=["verifying.key"])
    names = sorted(path.name for path in kept.iterdir())
    line = refused("setup", STEP, "--prover", "groth16", "-o", kept)
    assert "expected a new folder, or an earlier one with verifying.key" in line
    assert sorted(path.name for path in kept.iterdir()) == names


def test_check_of_files_alone(tmp_path: Path) -> None:
    assert run("compile", STEP, "--target", "r1cs", "-o", tmp_path, "--witness").status == 0
    assert "its witness satisfies all" in run("check", tmp_path).out
    witness = read_wtns(tmp_path / "witness.wtns")
    witness[1, 0] ^= np.uint64(1)
    write_wtns(tmp_path / "witness.wtns", BN254, witness)
    outcome = run("check", tmp_path, "--json")
    assert outcome.status == 1
    assert "rows broken, first constraint" in json.loads(outcome.out)["first_difference"]


def test_a_missing_native_prover_is_named(tmp_path: Path) -> None:
    """In a process of its own, in which the extension cannot be imported."""
    lines = "import sys; sys.modules['circuitize._native'] = None; from circuitize.cli import main; sys.exit(main())"
    arguments = ["setup", STEP, "--prover", "groth16", "-o", str(tmp_path / "keys")]
    done = subprocess.run([sys.executable, "-c", lines, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("circuitize: expected the native prover, found none")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_progress_is_shown_on_a_terminal_and_cleared() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run([*ESTIMATE, "--json"], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    with suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert json.loads(done.stdout)["operations"] > 0
    assert b"counting lookups ..." in shown
    assert shown.endswith(b"\r\x1b[K")
    assert b"\n" not in shown
