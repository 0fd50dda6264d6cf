"""A file of openings with a long name in place of a port's field was quoted in full by the message."""

from pathlib import Path

import pytest
from cli_programs import proof

from circuitize.circuits.errors import FormatError
from circuitize.provers.openings import read_openings


@pytest.mark.parametrize("old", ['"fraction_bits"', '"output:w"'])
def test_what_is_said_is_short(tmp_path: Path, old: str) -> None:
    kept = proof().with_name(f"{proof().name}.openings.json").read_text()
    assert old in kept
    path = tmp_path / "proof.openings.json"
    path.write_text(kept.replace(old, f'"{"9" * 5000}"', 1))
    with pytest.raises(FormatError) as raised:
        read_openings(path)
    assert len(str(raised.value)) < len(str(path)) + 400
