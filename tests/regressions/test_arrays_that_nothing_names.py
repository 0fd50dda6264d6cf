"""A saved program with an array that nothing in it named was read as the same program."""

from pathlib import Path

import pytest
from cli_programs import step
from dense_programs import unused

from circuitize import load, quantize, save
from circuitize.circuits.errors import FormatError


def test_every_array_of_a_saved_program_has_a_use(tmp_path: Path) -> None:
    path = tmp_path / "program.arrow"
    save(quantize(step()), path, examples=True)
    load(path)
    path.write_bytes(b"".join(unused(path.read_bytes(), 1 << 14)))
    with pytest.raises(FormatError, match="arrays that nothing names"):
        load(path)
