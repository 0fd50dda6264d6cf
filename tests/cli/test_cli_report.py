"""`circuitize report`: verdicts of this command line's own program and key, on a page; bad use in one line."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import page_judge
import pytest
import reported_steps
from cli_programs import STEP, refused, run

from circuitize.api.training import metrics

TRAINED = f"{reported_steps.__file__}:step"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A proof, a training, and the run that proves it."""
    made = tmp_path_factory.mktemp("report")
    assert run("prove", TRAINED, "--prover", "tensor", "-o", made / "proof").status == 0
    asked = ("--steps", "6", "--seed", "5eed", "--scalar", "learning_rate=0.125")
    assert run("train", TRAINED, *asked, "--executor", "both", "-o", made / "trained").status == 0
    assert run("prove-run", TRAINED, *asked, "--losses", "all", "--per-proof", "3", "-o", made / "run").status == 0
    return made


@pytest.mark.proof
def test_a_proof_a_run_and_a_training(folders: Path) -> None:
    page = folders / "report.html"
    demands = ("--steps", "6", "--seed", "5eed", "--scalar", "learning_rate=0.125")
    made = run("report", TRAINED, folders / "run", folders / "trained", *demands, "-o", page)
    assert made.status == 0 and "1 of 1 proofs and runs hold" in made.out, made.err
    html = page.read_text()
    text = page_judge.text(html)
    assert page_judge.faults(html) == []
    verdict = json.loads(run("verify-run", folders / "run", "--program", TRAINED, *demands, "--json").out)
    for root in (*verdict["roots"].values(), *verdict["final"].values()):
        assert root in text
    assert "(0.125), as the verifier required" in text and "valid" in text
    assert "verify-run" in text and "--scalar learning_rate=0.125" in text and "--steps 6" in text
    last = metrics.read_last(folders / "trained")
    assert f"{last['loss']:.4g}" in text and html.count("<polyline") >= len(last) - 1
    assert "no proof is of them" in text


@pytest.mark.proof
def test_what_does_not_hold_is_said(folders: Path) -> None:
    page = folders / "report.html"
    made = run("report", TRAINED, folders / "run", folders / "proof", "--steps", "7", "-o", page, "--json")
    assert made.status == 1 and json.loads(made.out)["valid"] == [False, True]
    text = page_judge.text(page.read_text())
    assert "NOT valid" in text and "0x" not in text.partition("The verdict on a proof")[0]


@pytest.mark.proof
def test_evidence_on_another_program_is_refused(folders: Path, tmp_path: Path) -> None:
    assert "expected a training of program" in refused("report", STEP, folders / "trained", "-o", tmp_path / "r.html")
    assert run("report", STEP, folders / "proof", "-o", tmp_path / "r.html").status in (1, 2)


@pytest.mark.proof
@pytest.mark.parametrize("line", ['{"loss": 1.0}', '{"step": "<b>"}', "[]", '{"step": 1, "<script>": NaN}', "\\x00"])
def test_metrics_that_somebody_changed(folders: Path, tmp_path: Path, line: str) -> None:
    """Refused in one line, or shown as text."""
    changed = tmp_path / "trained"
    copytree(folders / "trained", changed)
    (changed / metrics.LINES).write_text(line + "\n")
    page = tmp_path / "r.html"
    made = run("report", TRAINED, changed, "-o", page)
    if made.status:
        assert (made.status, made.err.count("\n")) == (2, 1) and "internal error" not in made.err and not page.exists()
    else:
        assert page_judge.faults(page.read_text()) == []


def test_bad_use_is_one_line(tmp_path: Path) -> None:
    assert "ends in .html" in refused("report", STEP, "-o", tmp_path / "report.pdf")
    assert "found none; check the path" in refused("report", STEP, tmp_path, "-o", tmp_path / "r.html")
    assert "found none; check the path" in refused("report", STEP, tmp_path / "no", "-o", tmp_path / "r.html")
    assert "-o" in refused("report", STEP)
    assert not (tmp_path / "r.html").exists()
