"""The command line's verdicts on tensor proofs are those of both verifiers: a fixture for the conftest of a folder."""

from __future__ import annotations

from typing import Any

import pytest
from tensor_proofs import both, judging

from circuitize.provers.tensor import descriptor
from circuitize.provers.tensor.runs import checking


@pytest.fixture(autouse=True)
def judged_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `verify` and `verify-run` ask the native verifier, the independent one is asked too, and must agree."""
    monkeypatch.setattr(descriptor, "refusal", both)
    check = checking.check

    def by_both(run: Any, folder: Any, manifest: Any, progress: Any, judge: Any) -> checking.Checked:
        return check(run, folder, manifest, progress, judging(judge))

    monkeypatch.setattr(checking, "check", by_both)
