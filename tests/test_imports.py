"""Modules import in one direction: no circle among them, imports within functions counted; and the picture of it."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from import_graph import PLACES, arrows, graph, picture


def test_no_circle() -> None:
    assert len(graph()) > 300 and sum(map(len, graph().values())) > 1000
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_folders_import_what_is_drawn_below_them() -> None:
    assert len(arrows()) > 10
    assert all(PLACES[above][1] < PLACES[below][1] for above, below in arrows())


def test_the_picture_is_of_the_code() -> None:
    """`make picture` draws it again."""
    drawn = Path(__file__).resolve().parents[1] / "docs" / "packages.svg"
    assert drawn.read_text() == picture()
