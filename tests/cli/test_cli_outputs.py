"""Where results may go: files replace files only, folders only earlier results, and what cannot be is said first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_programs import STEP, refused, run

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import whole_file

TENSOR = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge")


@pytest.mark.parametrize("option", ["--outputs", "--openings"])
def test_what_is_no_file_is_never_replaced(tmp_path: Path, option: str) -> None:
    """A pipe stands for /dev/null, which a rename would take away from everybody."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for name in ("pipe", "link"):
        assert "found a device or a pipe" in refused(*TENSOR, "-o", tmp_path / "proof", option, tmp_path / name)
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]
    with pytest.raises(CircuitizeError, match="a device or a pipe"):
        write_whole(pipe, [b"content"])
    with pytest.raises(CircuitizeError, match="a device or a pipe"), whole_file(pipe):
        raise AssertionError("the block must not run")


@pytest.mark.parametrize("name", ["", ".", "..", "folder"])
def test_a_file_has_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for arguments in (
        [*TENSOR, "-o", "proof", "--outputs", name],
        ["estimate", STEP, "--plot", name],
        ["accuracy", STEP, "-o", name],
    ):
        line = refused(*arguments)
        assert "found a folder" in line and "choose another" in line
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "-o", "file"],
        ["setup", "absent.arrow", "--prover", "groth16", "-o", "file/keys"],
        ["compile", "absent.arrow", "--target", "r1cs", "-o", "file"],
        ["compile", "absent.arrow", "--target", "plonkish", "-o", "file/c"],
        ["compile", "absent.arrow", "--target", "verilog", "--scheduler", "folded", "-o", "file/c"],
        ["prove", "absent.arrow", "--prover", "tensor", "-o", "file/p"],
        ["prove", "absent.arrow", "--prover", "tensor", "-o", "p", "--outputs", "file/o"],
        ["prove-run", "absent.arrow", "--steps", "9", "--seed", "00", "-o", "run", "--outputs", "file/o"],
        ["prove-run", "absent.arrow", "--steps", "9", "--seed", "00", "-o", "file/run"],
        ["estimate", "absent.arrow", "--plot", "file/plot.svg"],
        ["accuracy", "absent.arrow", "-o", "file/saved.arrow"],
    ],
)
def test_a_place_that_cannot_be_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """Before the program is read, even: it is not there."""
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    line = refused(*arguments)
    assert "file" in line and "absent" not in line
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "mine")]


def test_two_results_do_not_share_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    line = refused(*TENSOR, "-o", tmp_path / "proof", "--outputs", kept, "--openings", kept)
    assert "expected another file than that of the openings" in line
    run_folder = ("prove-run", STEP, "--steps", "1", "--seed", "00", "-o", tmp_path / "run")
    assert "with which an interrupted run goes on" in refused(*run_folder, "--outputs", tmp_path / "run.kept.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["r1cs", "plonkish"])
def test_a_circuit_is_replaced_whole_and_nothing_else_is(tmp_path: Path, target: str) -> None:
    """A witness of an earlier circuit does not stay beside a later one; what others put there is not deleted."""
    folder = tmp_path / "circuit"
    assert run("compile", STEP, "--target", target, "-o", folder, "--witness").status == 0
    assert any(path.name.startswith("witness") for path in folder.iterdir())
    assert run("compile", STEP.replace(":step", ":other"), "--target", target, "-o", folder).status == 0
    assert not any(path.name.startswith("witness") for path in folder.iterdir())
    (folder / "ceremony.zkey").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "found ceremony.zkey; it is left as it is" in refused("compile", STEP, "--target", target, "-o", folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
