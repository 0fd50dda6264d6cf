"""The contract of the tutorial, called as the tutorial says, in an EVM: it accepts that call and no changed one."""

from __future__ import annotations

from pathlib import Path

import pytest
from contracts import FALSE, TRUE, changed, in_evm
from page_blocks import run

from circuitize.backends.field import BN254

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "onnx-to-contract.md"


@pytest.mark.interop
@pytest.mark.deep
def test_the_contract_of_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = run(PAGE, {}, tmp_path)
    call, publics = made["call"], len(made["publics"])
    wrong = [changed(call, place, (call[place] + 1) % BN254.prime) for place in range(8, 8 + publics)]
    answers = in_evm((tmp_path / "Verifier.sol").read_text(), [call, *wrong])["calls"]
    assert [answer["value"] for answer in answers] == [f"0x{TRUE}", *[f"0x{FALSE}"] * publics]
    assert not any(answer["reverted"] for answer in answers)
    assert 230_000 < answers[0]["execution_gas"] < 250_000, "as the page says"
