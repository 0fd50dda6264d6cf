"""The page of laws names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(tests/\S+\.py)::(\w+)`", (ROOT / "docs" / "arrows.md").read_text())


def test_every_law_names_a_test_that_is_there() -> None:
    assert len(NAMED) > 25
    for path, name in NAMED:
        tree = ast.parse((ROOT / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (path, name)


def test_every_test_of_the_category_is_on_the_page() -> None:
    """Laws that are held and not stated would be forgotten; those of speed and of messages are none."""
    tree = ast.parse((ROOT / "tests/laws/test_reverse_derivative.py").read_text())
    held = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    assert held - {name for _, name in NAMED} == {"test_the_arrow_means_the_program", "test_every_word_equals_jax"}
