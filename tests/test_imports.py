"""Modules import in one direction: no circle among them, imports within functions counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import circuitize

SOURCE = Path(circuitize.__file__).parent


def modules(folder: Path, package: str) -> Iterator[tuple[str, Path]]:
    """Files of a package by the name that each is imported by; folders that are links too."""
    for path in sorted(folder.iterdir()):
        name = f"{package}.{path.stem}"
        if path.suffix == ".py":
            yield (package if path.stem == "__init__" else name), path
        elif path.is_dir() and any(path.glob("*.py")):
            yield from modules(path, name)


def imported(name: str, path: Path, known: set[str]) -> set[str]:
    """The modules that a file imports wherever it does, but for what only types need."""
    tree = ast.parse(path.read_text())
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    left_out = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body
        for inner in ast.walk(child)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {full if (full := f"{base}.{alias.name}") in known else base for alias in node.names}
    return (found & known) - {name}


def test_no_circle() -> None:
    files = dict(modules(SOURCE, "circuitize"))
    assert len(files) > 300
    graph = {name: imported(name, path, set(files)) for name, path in files.items()}
    assert sum(map(len, graph.values())) > 1000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None
