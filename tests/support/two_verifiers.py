"""The command line's verdicts on tensor proofs are those of both verifiers: a fixture for the conftest of a folder."""

from __future__ import annotations

from functools import partial

import pytest
from tensor_proofs import both

from circuitize.provers.tensor import descriptor
from circuitize.provers.tensor.runs import checking


@pytest.fixture(autouse=True)
def judged_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `verify` and `verify-run` ask the native verifier, the independent one is asked too, and must agree."""
    monkeypatch.setattr(descriptor, "refusal", both)
    monkeypatch.setattr(checking, "check", partial(checking.check, judge=both))
