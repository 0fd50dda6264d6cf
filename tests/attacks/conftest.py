"""What several files attack: keys and proofs of Mirage, a run of training steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from groth16_cases import DIGEST
from hidden_runs import SHARED
from mirage_cases import random_case
from mirage_keys import CASE, SEED, Proved
from mirage_prover import Prover
from tensor_runs import Folder, copied

from circuitize.provers.mirage.keys import setup
from circuitize.provers.mirage.prover import prove, public_values
from circuitize.provers.tensor.runs import budget


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def forger(folder: Path) -> Prover:
    key = setup(CASE.system, DIGEST, folder, seed=SEED)
    return Prover((folder / "proving.key").read_bytes(), key.verifying_key, CASE.system)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    """(system, witness function, proving key, proof, publics)"""
    system, witness = random_case(1)
    key = setup(system, DIGEST, tmp_path_factory.mktemp("random"))
    publics = public_values(system, witness(lambda first: 0))
    return system, witness, key, prove(system, witness, key, DIGEST), publics


@pytest.fixture
def attacked(tmp_path: Path) -> Folder:
    """A copy of an honest run."""
    return copied(tmp_path)


@pytest.fixture
def few_share_a_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """In runs in zero knowledge."""
    monkeypatch.setattr(budget, "SHARING", SHARED)
