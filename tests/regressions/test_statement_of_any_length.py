"""A proof's statement was read whole, however long: a file of holes took all memory before it was refused."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from circuitize.circuits.errors import FormatError
from circuitize.provers.statement import FILE, MOST_BYTES, read_statement


def test_a_long_statement_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    os.truncate(tmp_path / FILE, 1 << 36)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match=f"at most {MOST_BYTES:,} bytes"):
        read_statement(tmp_path)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < 2 * MOST_BYTES
