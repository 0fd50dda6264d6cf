"""`verify --expect NAME=FILE.npz` took a file out of the proof's own folder: what a prover claims of itself."""

from pathlib import Path

import numpy as np
from cli_programs import copied, keys, proof, refused, run

from circuitize.provers.statement import read_statement


def test_expected_values_are_not_read_from_the_proofs_folder(tmp_path: Path) -> None:
    folder = copied(proof(), tmp_path / "proof")
    stated = np.array(read_statement(folder).publics["input", "x"])
    np.savez(tmp_path / "mine.npz", x=stated)
    np.savez(folder / "theirs.npz", x=stated)
    (tmp_path / "link.npz").symlink_to(folder / "theirs.npz")
    assert run("verify", folder, "--keys", keys(), "--expect", f"x=raw:{tmp_path / 'mine.npz'}").status == 0
    for given in (folder / "theirs.npz", tmp_path / "link.npz", f"raw:{folder / 'theirs.npz'}"):
        assert "found one inside the proof's folder" in refused(
            "verify", folder, "--keys", keys(), "--expect", f"x={given}"
        )
