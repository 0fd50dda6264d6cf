"""`verify` of a run's folder said "no such file", and so did `verify-run` of one proof's: neither named the other."""

from pathlib import Path

from cli_programs import STEP, keys, proof, refused


def test_each_names_the_other(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    for more in ((), ("--keys", keys()), ("--program", STEP), ("--prover", "tensor", "--program", STEP)):
        line = refused("verify", tmp_path / "run", *more)
        assert line.endswith(
            "expected one proof, found a run of training steps (it has run.json); use circuitize verify-run"
        )
    line = refused("verify-run", proof(), "--program", STEP)
    assert line.endswith(
        "expected a run of training steps, found one proof (it has statement.json); use circuitize verify"
    )


def test_a_folder_of_neither_is_named(tmp_path: Path) -> None:
    assert "statement.json: expected a proof's statement" in refused("verify", tmp_path, "--program", STEP)
    assert "run.json: expected a run, found No such file" in refused("verify-run", tmp_path, "--program", STEP)
