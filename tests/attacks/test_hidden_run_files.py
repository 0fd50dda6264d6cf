"""What provers of runs in zero knowledge leave where others see it, and files that are not what they should be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hidden_runs import (
    STEPS,
    Killed,
    Reader,
    copied,
    follow,
    iris,
    killed_after,
    proved,
    run_of,
)
from tensor_runs import RATE, SEED, Folder, values_of

from circuitize.api.runs.proving import prove_run as prove_by_api
from circuitize.api.runs.verifying import verify_run
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.runs import files
from circuitize.provers.tensor.runs.files import renewal_path
from circuitize.provers.tensor.runs.proving import prove_run

pytestmark = pytest.mark.usefixtures("few_share_a_root")


# What lies where others see it.


def test_the_secret_is_not_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    made = prove_by_api(iris(), ".", steps=1, seed=SEED, scalars={"learning_rate": RATE})
    assert not made.kept.resolve().is_relative_to(tmp_path / "run")


def test_no_run_in_the_folder_of_another(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    with pytest.raises(CircuitizeError):
        prove_by_api(iris(), folder.path / "next", steps=1, seed=SEED, scalars={"learning_rate": RATE})


# What goes wrong.


def test_a_run_that_was_killed_while_it_said_what_it_claims(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run")
    with pytest.raises(Killed), killed_after(1):
        proved(run_of(1), folder)
    folder.path.mkdir()
    (folder.path / f".{files.MANIFEST}.0123456789abcdef.part").write_bytes(b"{")
    proved(run_of(1), folder)


def test_a_run_that_was_killed_before_it_said_what_it_claims(tmp_path: Path) -> None:
    command: dict[str, Any] = {"steps": 1, "seed": SEED, "scalars": {"learning_rate": RATE}}
    with pytest.raises(Killed), killed_after(1):
        prove_by_api(iris(), tmp_path / "run", **command)
    prove_by_api(iris(), tmp_path / "run", **command)


def test_other_inputs_are_not_passed_over(tmp_path: Path) -> None:
    folder, run = Folder(tmp_path / "run"), run_of(2)
    held, data = values_of(run)
    with pytest.raises(Killed), killed_after(5):
        proved(run, folder)
    changed = {name: values + 1 for name, values in held.items()}
    with pytest.raises(CircuitizeError):
        prove_run(run, changed, data, folder.path, folder.kept)


def test_a_committed_loss(tmp_path: Path) -> None:
    """What runs that hide nothing allow. Made again, it must have the same root."""
    outputs = tuple(
        replace(port, visibility=Visibility.COMMITTED) if not port.held else port for port in iris().outputs
    )
    folder, run = Folder(tmp_path / "run"), run_of(1, program=replace(iris(), outputs=outputs))
    reader = Reader()
    # Once as it begins, and once as it goes on, when less is left to write.
    for writes in (4, 1):
        with pytest.raises(Killed), killed_after(writes):
            proved(run, folder)
        reader.look(folder)
    proved(run, folder)
    folder.judged(run)
    assert all(len(contents) == 1 for contents in reader.seen.values())


@pytest.mark.parametrize("names", [["file"], ["allow_pickle"], ["x", "x.npy"]])
def test_ports_of_any_name_are_kept(tmp_path: Path, names: list[str]) -> None:
    held, data = values_of(run_of())
    renamed = dict(zip(held, names, strict=False))

    def of(ports: Any) -> Any:
        return tuple(replace(port, name=renamed.get(port.name, port.name)) for port in ports)

    program = replace(iris(), inputs=of(iris().inputs), outputs=of(iris().outputs), examples=())
    folder, run = Folder(tmp_path / "run"), run_of(2, program=program)
    values = {renamed.get(name, name): value for name, value in held.items()}
    with pytest.raises(Killed), killed_after(5):
        prove_run(run, values, data, folder.path, folder.kept)
    prove_run(run, values, data, folder.path, folder.kept)


@pytest.mark.parametrize(
    "changed",
    [
        {"\tsecret": np.zeros(0, np.uint8)},
        {"\tsecret": np.zeros(65, np.uint8)},
        {"\troot data": np.zeros(3, np.uint8)},
        {"\troot data": None},
        {"0": np.zeros(3, np.int64)},
    ],
)
def test_what_is_kept_is_whole(tmp_path: Path, changed: Mapping[str, Any]) -> None:
    folder = copied(tmp_path)
    with np.load(folder.kept) as found:
        arrays = {**{name: found[name] for name in found.files}, **changed}
    np.savez(folder.kept, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(CircuitizeError):
        proved(run_of(), folder)


def test_a_claim_without_roots(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run")
    with pytest.raises(Killed), killed_after(3):
        proved(run_of(1), folder)
    folder.restate(roots={})
    with pytest.raises(CircuitizeError):
        proved(run_of(1), folder)


def test_a_pipe_in_place_of_a_new_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verifier waits for ever."""
    attacked = copied(tmp_path)
    path = renewal_path(attacked.path, 3)
    path.unlink()
    os.mkfifo(path)

    def waits(*_: Any) -> None:
        raise AssertionError("the pipe is opened")

    monkeypatch.setattr(Proof, "read", waits)
    with pytest.raises(CircuitizeError, match="pipe"):
        verify_run(iris(), attacked.path)


def test_openings_that_no_root_has(tmp_path: Path) -> None:
    before, folder = copied(tmp_path), Folder(tmp_path / "next")
    follow(before, folder, 1)
    folder.restate(openings=1 << 17)
    assert not verify_run(iris(), folder.path, first=STEPS + 1)
