"""Which module of the package imports which, and a picture: `python tests/support/import_graph.py FILE.svg`."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from functools import cache
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


BODIES = ("body", "handlers", "orelse", "finalbody", "cases")


def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return _tree(path.resolve())


@cache
def _tree(path: Path) -> ast.Module:
    """Kept from the collector of garbage, which finds none in a tree and takes as long as the parser."""
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        gc.freeze()
        gc.enable()


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements within a node, those of functions and branches too; expressions, which hold none, are not read."""
    waiting = [node]
    while waiting:
        above = waiting.pop()
        for field in BODIES:
            inside = getattr(above, field, ())
            for child in inside if isinstance(inside, list) else ():
                if isinstance(child, ast.stmt):
                    yield child
                waiting.append(child)


def for_types(tree: ast.Module) -> set[ast.AST]:
    """The statements of a file that only types need."""
    return {
        inner
        for node in statements(tree)
        if isinstance(node, ast.If) and any("TYPE_CHECKING" in vars(inner).values() for inner in ast.walk(node.test))
        for child in node.body
        for inner in (child, *statements(child))
    }


def imported(name: str, path: Path, known: set[str]) -> set[str]:
    """The modules that a file imports wherever it does, but for what only types need."""
    read = tree(path)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    left_out = for_types(read)
    found: set[str] = set()
    for node in statements(read):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {full if (full := f"{base}.{alias.name}") in known else base for alias in node.names}
    return (found & known) - {name}


@cache
def graph() -> dict[str, set[str]]:
    """The modules that each module imports."""
    files = dict(modules(SOURCE, "circuitize"))
    return {name: imported(name, path, set(files)) for name, path in files.items()}


def folder(module: str) -> str:
    return [*module.split("."), ""][1]


def arrows() -> set[tuple[str, str]]:
    """Which folder imports which."""
    pairs = {(folder(name), folder(other)) for name, others in graph().items() for other in others}
    return {(above, below) for above, below in pairs if above != below and {above, below} <= PLACES.keys()}


PLACES = {
    "cli": (240, 40),
    "api": (240, 120),
    "provers": (80, 200),
    "sims": (240, 200),
    "frontends": (400, 200),
    "backends": (160, 280),
    "circuits": (240, 360),
}
"""The middle of each box: what imports stands above what is imported."""

WIDTH, HEIGHT = 130, 40


def drawn() -> list[tuple[str, str]]:
    """The arrows but those that lead where others lead too, by way of a third folder."""
    every = arrows()
    return sorted(pair for pair in every if not any((pair[0], by) in every and (by, pair[1]) in every for by in PLACES))


def picture() -> str:
    """The folders of the package as SVG, with an arrow from each to those that it imports."""
    lines = []
    for above, below in drawn():
        (x, y), (to_x, to_y) = PLACES[above], PLACES[below]
        lines.append(f'<path d="M{x} {y + HEIGHT // 2} L{to_x} {to_y - HEIGHT // 2}"/>')
    boxes = [
        f'<rect x="{x - WIDTH // 2}" y="{y - HEIGHT // 2}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        for x, y in PLACES.values()
    ]
    names = [f'<text x="{x}" y="{y + 5}">{name}</text>' for name, (x, y) in PLACES.items()]
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 400" font-family="Helvetica, Arial, sans-serif" '
            'font-size="14" role="img">',
            "<title>Folders of the package, and which imports which</title>",
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#444"/></marker></defs>',
            '<rect width="480" height="400" rx="8" fill="#ffffff"/>',
            '<g fill="none" stroke="#444" marker-end="url(#head)">',
            *lines,
            "</g>",
            '<g stroke="#2b5d8a" fill="#e8f1f9">',
            *boxes,
            "</g>",
            '<g fill="#111" text-anchor="middle">',
            *names,
            "</g>",
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
