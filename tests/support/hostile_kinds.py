"""Every kind of file that a verifier is handed, made small: proofs and keys, runs, programs, arrays, circuits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from cli_programs import EXAMPLES, STEP, copied, keys, proof, run, step
from hostile_files import TEXT, Judge, Kind, checked, rewritten, signed

from circuitize import Program, quantize, save
from circuitize.api.expectations import read_expectation
from circuitize.api.targets.plonkish import plonkish
from circuitize.api.values import program_inputs
from circuitize.cli import audit, check, verify, verify_run
from circuitize.cli.arguments import parser
from circuitize.provers.openings import read_openings


def options(*arguments: str | Path) -> Namespace:
    return parser().parse_args([str(argument) for argument in arguments])


def command(run: Callable[[Namespace], int], given: Namespace) -> Judge:
    """A judge that runs a command of the command line, without what it prints."""

    def judge(_: Path) -> bool:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            return run(given) == 0

    return judge


def kinds(root: Path) -> Iterator[Kind]:
    root = root.resolve()
    yield from _with_keys(root)
    yield from _tensor(root)
    yield from _runs(root)
    yield from _arrays(root)
    yield from _circuits(root)


def _with_keys(root: Path) -> Iterator[Kind]:
    for prover in ("groth16", "mirage", "halo2"):
        shown = copied(proof("step", prover), root / f"proof-{prover}")
        own = copied(keys("step", prover), root / f"keys-{prover}", without=["proving.key"])
        judge = command(verify.run, options("verify", shown, "--keys", own))
        yield Kind(f"proof.{prover}", root, shown / f"proof.{prover}", judge, exact=True)
        yield Kind(f"verifying.key, {prover}", root, own / "verifying.key", judge, mend=checked)
        if prover == "groth16":
            yield Kind("statement.json", root, shown / "statement.json", judge, TEXT, rewritten, exact=True)
            yield Kind("program.arrow, keys", root, own / "program.arrow", judge, TEXT, signed)


def _tensor(root: Path) -> Iterator[Kind]:
    program, shown = root / "step.arrow", root / "tensor"
    save(quantize(step()), program, examples=True)
    assert run("prove", program, "--prover", "tensor", "--not-zero-knowledge", "-o", shown).status == 0
    judge = command(verify.run, options("verify", shown, "--program", program))
    yield Kind("proof.tensor", root, shown / "proof.tensor", judge, exact=True)
    yield Kind("statement.json, tensor", root, shown / "statement.json", judge, TEXT, rewritten, exact=True)
    yield Kind("program.arrow, tensor", root, program, judge, TEXT, signed)
    yield Kind("PROOF.openings.json", root, root / "tensor.openings.json", lambda path: bool(read_openings(path)), TEXT)


def _runs(root: Path) -> Iterator[Kind]:
    program, folder = root / "trained.arrow", root / "run"
    save(training(), program, examples=True)
    given = ("--not-zero-knowledge", "--seed", "5eed", "--steps", "2", "--per-proof", "1", "-o", folder)
    assert run("prove-run", program, *given).status == 0
    judge = command(verify_run.run, options("verify-run", folder, "--program", program))
    yield Kind("run.json", root, folder / "run.json", judge, TEXT, rewritten, exact=True)
    yield Kind("steps/*.proof", root, folder / "steps" / "000002.proof", judge, TEXT, exact=True)
    yield Kind("formats.proof", root, folder / "formats.proof", judge, exact=True)
    yield Kind("program.arrow, run", root, program, judge, TEXT, signed)


def training() -> Program:
    """A weight that learns from batches of two numbers."""
    from circuitize import Format, Port, Role, Visibility, trace

    numbers = Format.signed(8, fraction_bits=4).of((2,))
    arrow = trace(lambda x, w: (w - 0.25 * x, 0.5 * x), (2,), (2,))
    inputs = (
        Port("x", Visibility.COMMITTED, numbers, Role.DATA),
        Port("w", Visibility.COMMITTED, numbers, Role.PARAMETER),
    )
    program = Program(arrow, inputs, (inputs[1], Port("half", Visibility.PUBLIC)), EXAMPLES)
    return quantize(program)


def _arrays(root: Path) -> Iterator[Kind]:
    program, path = quantize(step()), root / "in.npz"
    given: dict[str, Any] = dict(EXAMPLES[0])
    np.savez(path, **given)
    yield Kind("--inputs", root, path, lambda path: bool(program_inputs(program, [path], lambda _: None)), TEXT)
    packed = root / "packed.npz"
    np.savez_compressed(packed, **given)
    yield Kind("--inputs, compressed", root, packed, lambda path: bool(program_inputs(program, [path], lambda _: None)))
    path = root / "x.npz"
    np.savez(path, x=np.array(EXAMPLES[0]["x"]))
    yield Kind("--expect", root, path, lambda path: bool(read_expectation(f"x={path}", program)), TEXT)


def _circuits(root: Path) -> Iterator[Kind]:
    folder = root / "r1cs"
    assert run("compile", STEP, "--target", "r1cs", "-o", folder, "--witness").status == 0
    satisfied = command(check.run, options("check", folder))
    audited = command(audit.run, options("audit", folder))
    yield Kind("circuit.r1cs", root, folder / "circuit.r1cs", satisfied)
    yield Kind("witness.wtns", root, folder / "witness.wtns", satisfied)
    yield Kind("circuit.sym", root, folder / "circuit.sym", audited)
    folder = root / "plonkish"
    assert run("compile", STEP, "--target", "plonkish", "-o", folder, "--witness").status == 0
    judge: Judge = lambda path: plonkish.check_files(path.parent).failed is None  # noqa: E731
    yield Kind("circuit.plonkish", root, folder / "circuit.plonkish", judge, TEXT)
    yield Kind("witness.cells", root, folder / "witness.cells", judge)
