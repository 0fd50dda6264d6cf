"""The command line with zero-knowledge tensor proofs: the default, what is written, and how often a root is opened."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import pytest
from cli_programs import STEP, refused, run

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers import openings
from circuitize.provers.statement import read_statement
from circuitize.provers.tensor.plan import OPENINGS
from circuitize.provers.tensor.proof import Proof

PROVE = ("prove", STEP, "--prover", "tensor")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hidden")
    outcome = run(*PROVE, "-o", made / "proof")
    assert outcome.status == 0 and "NOT zero-knowledge" not in outcome.out + outcome.err
    return made


def left(path: Path) -> dict[str, int]:
    return {name: one["left"] for name, one in json.loads(path.read_text())["openings"].items()}


def test_proofs_hide_unless_others_are_asked_for(folder: Path, tmp_path: Path) -> None:
    assert {path.name for path in (folder / "proof").iterdir()} == {"proof.tensor", "statement.json"}
    assert read_statement(folder / "proof").zero_knowledge
    report = json.loads(run("verify", folder / "proof", "--program", STEP, "--json").out)
    assert (report["valid"], report["zero_knowledge"]) == (True, True)
    assert "NOT" not in run("verify", folder / "proof", "--program", STEP).out
    assert run(*PROVE, "--not-zero-knowledge", "-o", tmp_path / "plain").status == 0
    report = json.loads(run("verify", tmp_path / "plain", "--program", STEP, "--json").out)
    assert (report["valid"], report["zero_knowledge"]) == (True, False)
    assert read_statement(tmp_path / "plain").publics == read_statement(folder / "proof").publics


def test_a_proof_of_one_kind_is_none_of_the_other(folder: Path, tmp_path: Path) -> None:
    assert run(*PROVE, "--not-zero-knowledge", "-o", tmp_path / "plain").status == 0
    for own, other in ((folder / "proof", tmp_path / "plain"), (tmp_path / "plain", folder / "proof")):
        mixed = copytree(own, tmp_path / own.name / "mixed")
        (mixed / "proof.tensor").write_bytes((other / "proof.tensor").read_bytes())
        outcome = run("verify", mixed, "--program", STEP)
        assert outcome.status in (1, 2) and (
            "expected one that is" in outcome.out or "bytes of messages" in outcome.err
        )
    relabelled = copytree(folder / "proof", tmp_path / "relabelled")
    proof = Proof.read(relabelled / "proof.tensor")
    Proof(proof.digest, proof.messages).write(relabelled / "proof.tensor")
    assert run("verify", relabelled, "--program", STEP).status == 1


def test_a_root_is_opened_as_often_as_it_was_made_for(folder: Path, tmp_path: Path) -> None:
    kept = folder / "proof.openings.json"
    assert set(left(kept).values()) == {OPENINGS - 1}
    joined = ("--openings-from", kept, "--join", "parameters")
    for count in range(1, OPENINGS):
        made = tmp_path / str(count)
        assert run(*PROVE, *joined, "-o", made).status == 0
        own = left(Path(f"{made}.openings.json"))
        assert (own["input:parameters"], own["output:parameters"]) == (0, OPENINGS - 1)
        assert left(kept)["input:parameters"] == OPENINGS - 1 - count
        assert (
            read_statement(made).roots["input", "parameters"]
            == (read_statement(folder / "proof").roots["input", "parameters"])
        )
    told = refused(*PROVE, *joined, "-o", tmp_path / "more")
    assert "opened as often as it was made for" in told and "prove without --openings-from" in told
    assert not (tmp_path / "more").exists() and left(kept)["input:parameters"] == 0
    again = ("--openings-from", tmp_path / "1.openings.json", "--join", "parameters")
    assert "opened as often as it was made for" in refused(*PROVE, *again, "-o", tmp_path / "more")


def test_a_root_is_renewed(tmp_path: Path) -> None:
    """The last opening shows that a new root holds the same values, from which proofs go on."""
    kept, renewed = tmp_path / "first.openings.json", tmp_path / "renewed"
    assert run(*PROVE, "-o", tmp_path / "first").status == 0
    joined = ("--openings-from", kept, "--join", "parameters")
    told = [run(*PROVE, *joined, "-o", tmp_path / str(count)).err for count in (1, 2)]
    assert ["that root may be opened once more: with --renew parameters" in one for one in told] == [False, True]
    outcome = run(*PROVE, "--renew", "parameters", "--openings-from", kept, "-o", renewed)
    assert outcome.status == 0, outcome
    roots = read_statement(renewed).roots
    assert roots["input", "parameters"] == read_statement(tmp_path / "first").roots["input", "parameters"]
    assert left(kept)["input:parameters"] == 0
    assert left(Path(f"{renewed}.openings.json")) == {"input:parameters": 0, "output:parameters": OPENINGS - 1}
    known = ("--expect", f"input:parameters={roots['input', 'parameters']:#066x}")
    assert run("verify", renewed, "--program", STEP, "--renew", "parameters", *known).status == 0
    assert run("verify", renewed, "--program", STEP).status == 1
    again = ("--openings-from", f"{renewed}.openings.json", "--join", "parameters")
    assert run(*PROVE, *again, "-o", tmp_path / "again").status == 0
    own = read_statement(tmp_path / "again").roots["input", "parameters"]
    assert own == roots["output", "parameters"] != roots["input", "parameters"]


def test_bad_use_of_renewals(folder: Path, tmp_path: Path) -> None:
    kept = ("--openings-from", folder / "proof.openings.json", "-o", tmp_path / "made")
    assert "expected --prover tensor and --openings-from" in refused(*PROVE, "--renew", "parameters", *kept[2:])
    assert "expected a group of committed inputs among" in refused(*PROVE, "--renew", "weights", *kept)
    other = ("prove", STEP, "--prover", "mirage", "--keys", tmp_path, "--renew", "parameters")
    assert "found the prover mirage" in refused(*other, *kept)


def test_openings_of_one_kind_join_none_of_the_other(folder: Path, tmp_path: Path) -> None:
    kept = ("--openings-from", folder / "proof.openings.json", "--join", "parameters")
    before = left(folder / "proof.openings.json")
    assert "expected 'tensor'" in refused(*PROVE, "--not-zero-knowledge", *kept, "-o", tmp_path / "plain")
    assert left(folder / "proof.openings.json") == before


@pytest.mark.parametrize("count", [-1, True, "3", None, 1.5])
def test_a_damaged_count_is_told(folder: Path, tmp_path: Path, count: object) -> None:
    content = json.loads((folder / "proof.openings.json").read_text())
    content["openings"]["input:parameters"]["left"] = count
    path = tmp_path / "openings.json"
    path.write_text(json.dumps(content))
    assert "openings left" in refused(*PROVE, "--openings-from", path, "-o", tmp_path / "made")


def test_two_that_count_at_once_take_no_more_than_is_left(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "openings.json"
    content = json.loads((folder / "proof.openings.json").read_text())
    content["openings"]["output:parameters"]["left"] = 20
    path.write_text(json.dumps(content))
    opening = openings._read(path, None)["output", "parameters"]

    def spend(_: int) -> bool:
        try:
            openings._spend(path, {("output", "parameters"): (opening, 1)})
        except CircuitizeError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(32))) == 20
    assert left(path)["output:parameters"] == 0
    assert os.stat(path).st_mode & 0o77 == 0
