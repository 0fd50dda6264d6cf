"""A saved program of reals has its digest again: a constant of one number everywhere was read as another text's."""

from pathlib import Path

import numpy as np
import pytest

import circuitize as cz


@pytest.mark.parametrize("number", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_the_digest_is_the_same(number: float, shape: tuple[int, ...], tmp_path: Path) -> None:
    whole, splat = (cz.trace(lambda x, c=constant: x * c, shape) for constant in (np.full(shape, number), number))
    for arrow in (whole, splat):
        port = cz.Port("x", "public", cz.Format.signed(8, 4).of(shape))
        program = cz.Program(arrow, (port,), (cz.Port("y", "public"),))
        cz.save(program, tmp_path / "program.arrow")
        assert cz.digest(cz.load(tmp_path / "program.arrow").arrow) == cz.digest(arrow)
