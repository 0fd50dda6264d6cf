"""The tiers leave out what they say and nothing else: files that are there, and further cases of a class."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import tiers
from every_case import every_case
from operations.integer import case, fixed
from together import TOGETHER

from circuitize.circuits.integers import Add, Shift

TESTS = Path(__file__).parent
X = fixed((2,), 0, 9)


@dataclass
class Given:
    params: dict[str, object]


@dataclass
class Item:
    """What the selection reads of a test."""

    nodeid: str
    callspec: Given
    marker: str = ""

    def get_closest_marker(self, name: str) -> bool:
        return name == self.marker


ITEMS = [
    Item("a", Given({"case": case(Add(), X, X)})),
    Item("b", Given({"case": case(Shift(1), X)})),
    Item("c", Given({"case": case(Shift(2), X)})),
    Item("d", Given({"case": case(Shift(2), X)}), "proof"),
    Item("e", Given({"case": case(Shift(3), X)}), "deep"),
]


@every_case([pattern for patterns in tiers.FILES.values() for pattern in patterns])
def test_patterns_name_files(pattern: str) -> None:
    assert list(TESTS.glob(pattern)), f"tests/{pattern} names no file; correct tests/support/tiers.py"


@every_case([pattern for patterns in TOGETHER.values() for pattern in patterns])
def test_files_that_go_together_are_there(pattern: str) -> None:
    assert list(TESTS.parent.glob(pattern)), f"{pattern} names no file; correct tests/support/together.py"


@pytest.mark.parametrize(("tier", "kept"), [("quick", "ab"), ("test", "abcd"), ("deep", "abcde")])
def test_what_a_tier_keeps(tier: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = {"quick": {"proof", "deep"}, "test": {"deep"}, "deep": set()}[tier]
    monkeypatch.setattr(tiers, "TIER", tier)
    monkeypatch.setattr(tiers, "LEFT_OUT", left_out)
    items = [Item(f"test[{item.nodeid}]", item.callspec, item.marker) for item in ITEMS]
    found, left = tiers.select(items)  # type: ignore[arg-type]
    assert "".join(item.nodeid[-2] for item in found) == kept
    assert len(found) + len(left) == len(items)


def test_nothing_is_run_by_no_tier() -> None:
    assert {"rtl", "proof", "slow", "deep", "interop", "browser"} >= tiers.LEFT_OUT
    assert tiers.count(3, deep=9) == (9 if tiers.TIER == "deep" else 3)
