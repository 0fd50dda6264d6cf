"""A Plonkish system of more rows than its cells made `check` fill them up: 16 MB took 10 GB and a minute."""

from pathlib import Path

from cli_programs import STEP, refused, run
from dense_contents import columns


def test_cells_of_another_number_of_rows_are_refused(tmp_path: Path) -> None:
    assert run("compile", STEP, "--target", "plonkish", "-o", tmp_path / "made", "--witness").status == 0
    assert run("check", tmp_path / "made").status == 0
    path = tmp_path / "made" / "circuit.plonkish"
    path.write_bytes(b"".join(columns(path.read_bytes(), 1 << 16)))
    assert "expected advice columns of the system's 8192 rows" in refused("check", tmp_path / "made")
