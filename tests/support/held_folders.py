"""Folders of proofs and of a run with their held files, and changed folders that no verifier may take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import mkdtemp

import numpy as np
from cli_programs import STEP, keys, proof, run
from public_starts import MODEL, START, prove, step

import circuitize as cz
from circuitize.api.runs.training_run import Training
from circuitize.api.user_files import run_file
from circuitize.cli import demo
from circuitize.cli.loading import quantized
from circuitize.frontends.datasets import digits

PROVERS = ("groth16", "mirage", "halo2", "tensor")
KINDS = (*PROVERS, "run")
DEMO = {f"demo's {name}": name for name in (demo.PROOF, demo.WITHOUT_KEYS, demo.RUN)}
"""Kinds of what the demo writes: slow."""


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="circuitize-held-", dir=keys().parent))


@cache
def _demo() -> Path:
    made = _scratch() / "demo"
    assert run("demo", "-o", made, "--json").status == 0
    return made


@cache
def folder(kind: str) -> Path:
    """An honest folder; do not change it."""
    if kind in DEMO:
        return _demo() / DEMO[kind]
    if kind == "run":
        return prove(_scratch() / "run", losses="ends", steps=3, per_proof=2).folder
    if kind != "tensor":
        return proof("step", kind)
    made = _scratch() / "tensor"
    assert run("prove", STEP, "--prover", "tensor", "-o", made).status == 0
    return made


def given(kind: str) -> list[str | Path]:
    """What the verifier of a folder gives to the command line."""
    if kind in DEMO:
        name = DEMO[kind]
        keyed: list[str | Path] = ["--keys", _demo() / demo.KEYS] if name == demo.PROOF else []
        return ["--pin", _pin(kind)] if name == demo.RUN else ["--program", f"{demo.EXAMPLE}:step", *keyed]
    if kind == "run":
        return ["--pin", _pin(kind)]
    return ["--program", STEP, *([] if kind == "tensor" else ["--keys", str(keys("step", kind))])]


@cache
def _pin(kind: str) -> Path:
    path = _scratch() / f"{kind}.pin"
    if kind == "run":
        verdict = cz.verify_run(step(), folder(kind), initial_seed=START, model=MODEL, pin=path)
    else:
        example = run_file(demo.EXAMPLE.resolve())
        own, judge = (quantized(made()).integer for made in (example.step, example.evaluate))
        verdict = Training(own, judge, example.MODEL, example.RECIPE, digits(seed=0)).verify(folder(kind), pin=path)
    assert verdict, verdict.reason
    return path


@cache
def held(kind: str) -> Path:
    """The held file of `folder`."""
    path = _scratch() / f"{kind}.held"
    assert run("hold", folder(kind), *given(kind), "-o", path).status == 0
    return path


def files(path: Path) -> list[str]:
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


def mutants(kind: str, count: int, seed: int, to: Path) -> Iterator[tuple[str, Path]]:
    """So many changed copies of an honest folder, each with what was changed; a copy is of use until the next."""
    random, names = np.random.default_rng(seed), files(folder(kind))
    for number in range(count):
        changed = Path(copytree(folder(kind), to / f"{kind}-{number}"))
        name = str(random.choice(names))
        content = bytearray((changed / name).read_bytes())
        match number % 5:
            case 0:
                (changed / name).write_bytes(content[: random.integers(len(content))])
                yield f"{name} cut short", changed
            case 1:
                (changed / name).write_bytes(content + random.bytes(int(random.integers(1, 40))))
                yield f"{name} with more bytes", changed
            case 2:
                (changed / name).unlink()
                yield f"{name} missing", changed
            case _:
                place = int(random.integers(len(content)))
                content[place] ^= 1 << int(random.integers(8))
                (changed / name).write_bytes(content)
                yield f"{name}, a bit of byte {place}", changed
