"""A statement is refused unless it is the one text that its values have: mutations of files did not find that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_programs import proof

from circuitize.circuits.errors import FormatError
from circuitize.provers.statement import FILE, read_statement


def test_a_statement_of_another_text_is_refused(tmp_path: Path) -> None:
    """One statement has one text: no other order, spacing or number, no name twice, nothing that is not read."""
    text = (proof() / FILE).read_text()
    said = json.loads(text)
    others = {
        "in one line": json.dumps(said, sort_keys=True),
        "in another order": json.dumps(dict(reversed(said.items())), indent=1),
        "of a name twice": text.replace("{", '{"prover": "halo2",', 1),
        "of a name more": json.dumps({**said, "more": 1}, indent=1, sort_keys=True),
        "of a number in exponents": text.replace(f'"chunks": {said["chunks"]}', f'"chunks": {float(said["chunks"])}'),
        "of a line more": f"{text}\n",
    }
    for other in others.values():
        assert other != text
        (tmp_path / FILE).write_text(other)
        with pytest.raises(FormatError, match="not written as statements are"):
            read_statement(tmp_path)
