"""The command line with weights that are committed to once: what is written, accepted and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_programs import refused, run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
APART, LOGITS = (f"{EXAMPLES / 'gpt2_folder.py'}:{name}" for name in ("apart", "logits"))


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apart") / "weights"
    outcome = run("commit-weights", APART, "-o", folder, "--json")
    (own,) = json.loads(outcome.out)["groups"].values()
    assert outcome.status == 0 and own["left"] >= 3 and own["security_bits"] >= 98
    assert {path.name for path in folder.iterdir()} == {"frozen"}
    assert {path.name for path in (folder / "frozen").iterdir()} == {"proof.tensor", "statement.json"}
    return folder


def test_a_proof_of_weights_apart_is_verified_with_them(weights: Path, tmp_path: Path) -> None:
    proof, known = tmp_path / "proof", ("--weights", weights)
    outcome = run("prove", APART, "--prover", "tensor", *known, "-o", proof)
    assert outcome.status == 0 and "times more" in outcome.err
    outcome = run("verify", proof, "--program", APART, *known)
    assert outcome.status == 0 and "frozen is in format" in outcome.err
    assert run("verify", proof, "--program", APART).status == 1
    (weights / "frozen" / "proof.tensor").rename(tmp_path / "kept")
    content = bytearray((tmp_path / "kept").read_bytes())
    content[-9] ^= 1
    (weights / "frozen" / "proof.tensor").write_bytes(content)
    outcome = run("verify", proof, "--program", APART, *known)
    assert outcome.status == 1 and "NOT valid" in outcome.out and "frozen" in outcome.out
    (tmp_path / "kept").rename(weights / "frozen" / "proof.tensor")


def test_what_does_not_fit_is_refused_in_one_line(weights: Path, tmp_path: Path) -> None:
    tensor = ("--prover", "tensor", "-o", tmp_path / "proof")
    assert "secrets" in refused("commit-weights", APART, "-o", weights) or "openings" in refused(
        "commit-weights", APART, "-o", weights
    )
    assert "freeze" in refused("commit-weights", LOGITS, "-o", tmp_path / "none")
    assert "freeze" in refused("prove", LOGITS, *tensor, "--weights", weights)
    assert "statement" in refused("prove", APART, *tensor, "--weights", tmp_path / "nowhere")
    assert "--weights" in refused("prove", APART, "--prover", "halo2", "-o", tmp_path / "p", "--weights", weights)
    kept = weights.with_name("weights.openings.json")
    content = kept.read_text()
    spent = json.loads(content)
    spent["openings"]["input:frozen"]["left"] = 0
    kept.write_text(json.dumps(spent))
    assert "as often as" in refused("prove", APART, *tensor, "--weights", weights)
    kept.write_text(content)
    own = ("verify", weights / "frozen", "--program", APART, "--weights", weights)
    assert "found --renew" in refused(*own, "--renew", "frozen")
    assert not (tmp_path / "proof").exists()


def test_what_memory_does_not_hold_is_refused_with_what_fits(weights: Path, tmp_path: Path) -> None:
    """Before there is work; the range checks of its weights are what a proof by itself takes more."""
    own = tmp_path / "proof"
    step = f"{EXAMPLES / 'mlp_1m.py'}:step"
    outcome = run("prove", step, "--prover", "tensor", "--memory", "400MB", "-o", own)
    assert outcome.status == 2 and "found 400.0 MB by --memory" in outcome.err and "look-ups fit" in outcome.err
    line = refused("prove", LOGITS, "--prover", "tensor", "--memory", "10MB", "-o", own)
    assert "freeze(apart=True)" in line and "prove it in more memory" in line
    for known in ((), ("--weights", weights)):
        line = refused("prove", APART, "--prover", "tensor", *known, "--memory", "10MB", "-o", own)
        assert ("commit-weights" in line) == (not known)
    assert "by --memory" in refused("commit-weights", APART, "--memory", "10MB", "-o", tmp_path / "w")
    assert "--memory" in refused("prove", APART, "--prover", "halo2", "--memory", "1GB", "-o", own)
    assert not list(tmp_path.iterdir())
