"""Modules import in one direction: no circle among them, imports within functions counted; and the picture of it.

What only types need is imported from the same folder.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from import_graph import PLACES, SOURCE, arrows, for_types, graph, modules, picture, statements, tree


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


ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "circuits": set(),
    "frontends": {"circuits"},
    "backends": {"circuits"},
    "provers": {"circuits", "backends"},
    "sims": {"circuits", "backends"},
}


def imported_folders(path: Path) -> set[str]:
    """The top-level folders that a package file imports from, its own included; `..` out of a folder is an error."""
    own = path.relative_to(ROOT).parts
    found = set()
    for node in statements(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level < len(own), (
                f"{path.relative_to(ROOT)}:{node.lineno} leaves its folder by a relative import"
            )
        names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module if isinstance(node, ast.ImportFrom) and not node.level else None
        for name in [f"{module}.{name}" for name in names] if module else names if isinstance(node, ast.Import) else []:
            parts = name.split(".")
            if parts[0] == "circuitize" and len(parts) > 1:
                found.add(parts[1])
    return found


def test_imports_go_one_way() -> None:
    wrong = {}
    for folder, below in MAY_IMPORT.items():
        allowed = below | {folder} | ({"_native"} if folder == "provers" else set())
        for path in (ROOT / folder).rglob("*.py"):
            if extra := imported_folders(path) - allowed:
                wrong[str(path.relative_to(ROOT))] = extra
    assert not wrong


def test_imports_are_found() -> None:
    """The check above sees what is there: absolute, relative and bare imports."""
    assert "circuits" in imported_folders(ROOT / "sims" / "integer.py")
    assert "circuits" not in imported_folders(ROOT / "circuits" / "types.py")
