"""The command line with the tensor prover and proofs that hide nothing: what is written, what a verifier must hold."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from cli_programs import STEP, refused, run
from cli_programs import keys as groth16_keys
from cli_programs import proof as groth16_proof

from circuitize.circuits import memory
from circuitize.provers.openings import read_openings
from circuitize.provers.statement import read_statement

OTHER = STEP.replace(":step", ":other")
PROVE = ("prove", STEP, "--prover", "tensor")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tensor")
    outcome = run(*PROVE, "--not-zero-knowledge", "-o", made / "proof", "--outputs", made / "new.npz")
    assert outcome.status == 0
    assert "NOT zero-knowledge" in outcome.out and "NOT zero-knowledge" in outcome.err
    return made


def no(proof: Path, *more: str | Path) -> str:
    outcome = run("verify", proof, "--json", *more)
    report = json.loads(outcome.out)
    assert (outcome.status, report["valid"], report["publics"], report["roots"]) == (1, False, {}, {})
    assert (report["zero_knowledge"], report["setup"]) == (False, "none")
    return str(report["reason"])


def test_a_machine_that_is_too_small_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "physical_bytes", lambda: 1 << 20)
    monkeypatch.setattr(memory, "swap_bytes", lambda: 1 << 20)
    proving = ("--not-zero-knowledge", "-o", tmp_path / "made")
    for command in (PROVE, ("prove-run", "examples/iris.py:step", "--steps", "1", "--seed", "5eed")):
        outcome = run(*command, *proving)
        assert outcome.status == 2 and "found one with 2.1 MB; prove" in outcome.err.splitlines()[-1]
        assert not list(tmp_path.iterdir())


def test_swap_is_read_from_the_system(tmp_path: Path) -> None:
    table = tmp_path / "meminfo"
    table.write_text("MemTotal:       24000000 kB\nSwapTotal:       2097148 kB\n")
    assert memory.swap_bytes(table) == 2097148 * 1024
    assert memory.swap_bytes(tmp_path / "none") == 0
    table.write_text("SwapTotal:\n")
    assert memory.swap_bytes(table) == 0


def test_what_is_written(folder: Path) -> None:
    names = {path.name for path in (folder / "proof").iterdir()}
    assert names == {"proof.tensor", "statement.json", "NOT-ZERO-KNOWLEDGE.txt"}
    assert (folder / "proof" / "proof.tensor").read_bytes().startswith(b"circuitize-tenpf")
    assert set(read_openings(folder / "proof.openings.json")) == {("input", "parameters"), ("output", "parameters")}


def test_a_verifier_holds_the_program(folder: Path) -> None:
    outcome = run("verify", folder / "proof", "--program", STEP, "--json", "--expect", "x=[0.5, -1.25]")
    report = json.loads(outcome.out)
    assert (outcome.status, report["valid"], report["zero_knowledge"], report["setup"]) == (0, True, False, "none")
    shown = run("verify", folder / "proof", "--program", STEP).out
    assert "NOT in zero knowledge" in shown and f"{report['security_bits']:.1f} bits of soundness" in shown
    assert report["security_bits"] >= 98
    assert "--program" in refused("verify", folder / "proof")
    assert "--program" in refused("verify", folder / "proof", "--digest", report["digest"])
    assert "without a key" in refused("verify", folder / "proof", "--prover", "tensor", "--keys", folder)
    assert "expected" in no(folder / "proof", "--program", OTHER)
    assert "expected" in no(folder / "proof", "--program", STEP, "--digest", "0" * 64)
    assert "expected x" in no(folder / "proof", "--program", STEP, "--expect", "x=[0.5, 1.25]")
    assert "inside the proof" in refused("verify", folder / "proof", "--program", folder / "proof" / "program.arrow")


def test_provers_are_not_confused(folder: Path) -> None:
    theirs = groth16_proof("step")
    assert "expected a proof of tensor" in refused("verify", theirs, "--prover", "tensor", "--program", STEP)
    assert "--keys" in refused("verify", theirs, "--program", STEP)
    assert "tensor" in refused("setup", STEP, "--prover", "tensor", "-o", folder / "keys")
    consent = ("--prover", "groth16", "--not-zero-knowledge", "--keys", folder, "-o", folder / "p")
    assert "expected the prover tensor" in refused("prove", STEP, *consent)
    assert "without --keys" in refused("verify", folder / "proof", "--keys", groth16_keys("step"))
    assert "no setup" in refused(*PROVE, "--not-zero-knowledge", "--keys", folder, "-o", folder / "p")


def test_one_steps_weights_are_the_next_ones(folder: Path) -> None:
    with np.load(folder / "new.npz") as outputs:
        np.savez(folder / "in.npz", w=outputs["w"], x=np.array([0.5, -0.25]))
    more = ("--inputs", folder / "in.npz", "--openings-from", folder / "proof.openings.json")
    assert run(*PROVE, "--not-zero-knowledge", *more, "-o", folder / "next").status == 0
    assert run("verify", folder / "next", "--program", STEP).status == 0
    before, after = read_openings(folder / "proof.openings.json"), read_openings(folder / "next.openings.json")
    assert after["input", "parameters"] == before["output", "parameters"] != after["output", "parameters"]


def test_an_altered_statement_is_a_no(folder: Path, tmp_path: Path) -> None:
    copy = copytree(folder / "proof", tmp_path / "proof")
    content = json.loads((copy / "statement.json").read_text())
    for port, change in (
        ("output:y", {"integers": [1, 1]}),
        ("output:y", {"integers": [10**30, 1]}),
        ("output:y", {"integers": [1]}),
        ("output:parameters", {"root": "0x1"}),
        ("output:parameters", {"root": hex(1 << 256)}),
        ("output:z", {"integers": [1]}),
    ):
        altered = {**content, "ports": {**content["ports"], port: change}}
        (copy / "statement.json").write_text(json.dumps(altered, indent=1, sort_keys=True) + "\n")
        read_statement(copy)
        assert no(copy, "--program", STEP)
