"""Modules import in one direction: no circle among them, imports within functions counted; and the picture of it.

What only types need is imported from the same folder.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from import_graph import PLACES, SOURCE, arrows, for_types, graph, modules, picture, tree


def test_no_circle() -> None:
    assert len(graph()) > 300 and sum(map(len, graph().values())) > 1000
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_folders_import_what_is_drawn_below_them() -> None:
    assert len(arrows()) > 10
    assert all(PLACES[above][1] < PLACES[below][1] for above, below in arrows())


@pytest.mark.parametrize("below", ["circuits", "frontends", "backends", "provers", "sims"])
def test_types_alone_are_imported_from_the_same_folder(below: str) -> None:
    """Elsewhere such an import would hide a circle; the API and the command line have them to begin quickly."""
    for name, path in modules(SOURCE / below, below):
        for node in for_types(tree(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert isinstance(node, ast.ImportFrom) and node.level == 1, f"{name}: {ast.unparse(node)}"


def test_the_picture_is_of_the_code() -> None:
    """`make picture` draws it again."""
    drawn = Path(__file__).resolve().parents[1] / "docs" / "packages.svg"
    assert drawn.read_text() == picture()
