"""What a folder or a file from others may hold besides damage, and remedies that fit what was found."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, copied, keys, proof, prove, refused, run

from circuitize.api.user_files import EXTRAS

TENSOR = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge")


@pytest.mark.parametrize("name", ["proof.groth16", "statement.json", "unasked"])
def test_a_pipe_in_a_proofs_folder_does_not_hold_the_verifier(tmp_path: Path, name: str) -> None:
    folder = copied(proof(), tmp_path / "proof", without=[name])
    os.mkfifo(folder / name)
    line = refused("verify", folder, "--keys", keys())
    assert f"{folder / name}: expected a file, found a device or a pipe; ask for the proof again" in line


@pytest.mark.parametrize("name", ["run.json", "steps/000001.proof"])
def test_a_pipe_in_a_runs_folder_does_not_hold_the_verifier(tmp_path: Path, name: str) -> None:
    (tmp_path / "run" / "steps").mkdir(parents=True)
    os.mkfifo(tmp_path / "run" / name)
    assert "found a device or a pipe" in refused("verify-run", tmp_path / "run", "--program", STEP)


def test_inputs_may_come_through_a_pipe(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.array([0.5, -1.25]), w=np.array([1.5, 2.0]))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes((tmp_path / "in.npz").read_bytes()))
    writer.start()
    assert run(*TENSOR, "-o", tmp_path / "proof", "--inputs", pipe).status == 0
    writer.join()
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"no archive"))
    writer.start()
    assert "expected an .npz" in refused(*TENSOR, "-o", tmp_path / "other", "--inputs", pipe)
    writer.join()


def test_errors_of_keys_and_proofs_name_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\n")
    for folder in ("absent", "text", "."):
        outcome = prove(tmp_path / "p", "step", "--keys", tmp_path / folder)
        line = outcome.err.splitlines()[-1]
        assert (outcome.status == 2 and "make keys: circuitize setup" in line) or line.endswith("or make keys again")
        assert refused("verify", proof(), "--keys", tmp_path / folder).endswith("or make keys again")
    assert not (tmp_path / "p").exists()
    emptied = copied(proof(), tmp_path / "proof")
    (emptied / "proof.groth16").write_bytes(b"")
    assert refused("verify", emptied, "--keys", keys()).endswith("found 0; ask for the proof again")


@pytest.mark.parametrize("text", ["1,2,3\n", "main.x\n", "a,b,c,d\n"])
def test_names_that_are_no_names_are_refused(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "circuit"
    assert run("compile", STEP, "--target", "r1cs", "-o", folder).status == 0
    (folder / "circuit.sym").write_text(text)
    assert "circuit.sym: expected label,wire,component,name in line 1" in refused("audit", folder)
    (folder / "circuit.sym").write_bytes(b"\xff\xfe")
    assert "circuit.sym: expected" in refused("audit", folder)


@pytest.mark.parametrize("text", ["class Own(BaseException): ...\nraise Own\n", "raise GeneratorExit\n"])
def test_whatever_a_users_file_raises_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    assert f"{path}:{len(text.splitlines())}: " in refused("estimate", f"{path}:step")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b"\x00\xff")
    assert f"{path}: expected Python, found" in refused("estimate", f"{path}:step")


def test_a_function_that_must_be_awaited_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("async def step(): ...\n")
    assert "expected a Program, found coroutine" in refused("estimate", f"{path}:step")


def test_a_missing_module_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.py"
    monkeypatch.setitem(EXTRAS, "nothing_of_that_name", "demo")
    path.write_text("import nothing_of_that_name.inside\n")
    assert "pip install 'circuitize[demo]'" in refused("estimate", f"{path}:step")
    path.write_text("import neither_of_that_name\n")
    assert "pip install neither_of_that_name" in refused("estimate", f"{path}:step")


def test_what_is_wrong_with_a_program_names_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import replace\nfrom cli_programs import step\nbare = replace(step(), examples=())\n"
    )
    line = refused("estimate", f"{path}:bare")
    assert line.startswith(f"circuitize: {path}:bare: expected example inputs to calibrate the program with")
    assert "with_examples(program, *batches)" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", STEP, "--seed", "-1"], "expected a whole number of at least 0, found '-1'"),
        (["simulate", "design", "--seed", "1.5"], "expected a whole number of at least 0, found '1.5'"),
        (["check", STEP, "--vectors", "\N{ARABIC-INDIC DIGIT THREE}"], "expected a whole number of at least 1"),
        (["compile", STEP, "--target", "plonkish", "-o", "c", "--k", "9", "--memory", "9"], "found both"),
        (["compile", STEP, "--target", "verilog", "-o", "c", "--witness"], "it is one of r1cs and plonkish"),
        (["accuracy", STEP, "--target-error", "=1"], "or NAME=NUMBER, found '=1'"),
        (["verify", "PROOF", "--keys", "KEYS", "--expect", "input:w=-1"], "32 bytes such as 0x2f..., found '-1'"),
        (["verify", "PROOF", "--keys", "KEYS", "--expect", f"input:w=0x1{'0' * 64}"], "32 bytes such as 0x2f..."),
    ],
)
def test_options_that_mean_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"PROOF": str(proof()), "KEYS": str(keys())}
    assert said in refused(*(places.get(argument, argument) for argument in arguments))
    assert not list(tmp_path.iterdir())


def test_a_tensor_proof_says_what_it_is_wherever_it_is_sized_or_made(tmp_path: Path) -> None:
    outcome = run("estimate", STEP, "--json")
    tensor = json.loads(outcome.out)["targets"]["tensor"]
    kinds = (tensor, tensor["not_zero_knowledge"], tensor["step_of_a_run"])
    assert [own["zero_knowledge"] for own in kinds] == [True, False, True]
    shown = run("estimate", STEP).out
    assert "tensor proof\n" in shown and "tensor proof, NOT zero-knowledge\n" in shown
    assert "tensor proof of a step of a run\n" in shown
    made = json.loads(run(*TENSOR, "-o", tmp_path / "proof", "--json").out)
    assert made["zero_knowledge"] is False
    assert json.loads(prove(tmp_path / "other", "step", "--json").out)["zero_knowledge"] is True
