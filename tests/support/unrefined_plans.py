"""Plans of designs with modes as the first search leaves them, for tests that ask for no cheap design."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tiers import TIER

from circuitize.backends.verilog.folded import refinement


@contextmanager
def unrefined() -> Iterator[None]:
    """Plan without refinement, which makes dozens of plans; in the deep tier with it."""
    with pytest.MonkeyPatch.context() as patch:
        if TIER != "deep":
            patch.setattr(refinement, "EFFORT", 0)
        yield
