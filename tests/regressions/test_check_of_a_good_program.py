"""check says plainly that inputs outside what a program is defined on are no failure; it has status 0."""

from __future__ import annotations

import pytest
from cli_programs import STEP, run

from circuitize.api.targets.verilog import Verilog


def test_undefined_inputs_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verilog, "check_designs", lambda *_: ())
    outcome = run("check", STEP, "--vectors", "8")
    assert outcome.status == 0
    first = outcome.out.splitlines()[0]
    assert (
        "the integer executor on " in first and "outside what the program is defined on, refused by all alike" in first
    )
    assert "undefined" not in outcome.out
    assert "that is no failure" in outcome.out and "the first of them: input" in outcome.out
