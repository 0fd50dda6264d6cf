"""Which public names of the package have no docstring, read from the text of its files.

Public is a module, class, function, method or property whose dotted name has no part that begins with an underscore.
Documented is one with a docstring of its own, or a method whose nearest documented definition in a base has one, as
`inspect.getdoc` finds it. Overloads, setters and deleters are documented where the first definition is; what is defined
within a function is not public. `python tests/support/docstrings.py [FOLDER]` prints what has none.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from import_graph import SOURCE, modules, tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
AGAIN = {"overload", "setter", "deleter"}
"""Decorators of a further definition of a name."""


@cache
def paths() -> dict[str, Path]:
    """Return the file of each module of the package."""
    return dict(modules(SOURCE, "circuitize"))


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module of the package."""
    return {name: tree(path) for name, path in paths().items()}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, with those under an `if`, a `try` or a `with` of it."""
    for statement in body:
        yield statement
        for field in ("body", "orelse", "finalbody"):
            if isinstance(statement, ast.If | ast.Try | ast.With):
                yield from statements(getattr(statement, field, []))


@cache
def names(module: str) -> dict[str, tuple[str, str] | ast.ClassDef]:
    """Return the classes of a module, and what it imports: the module and the name there, or "" for a whole module."""
    package = module if paths()[module].stem == "__init__" else module.rpartition(".")[0]
    known: dict[str, tuple[str, str] | ast.ClassDef] = {}
    for node in statements(trees()[module].body):
        if isinstance(node, ast.ClassDef):
            known[node.name] = node
        elif isinstance(node, ast.Import):
            known |= {alias.asname: (alias.name, "") for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                known[alias.asname or alias.name] = (whole, "") if whole in trees() else (base, alias.name)
    return known


def found(module: str, dotted: str) -> tuple[str, ast.ClassDef] | None:
    """Return the class of this name, as a module writes it, and the module that defines it; None for one of others."""
    first, _, rest = dotted.partition(".")
    if module not in trees() or (entry := names(module).get(first)) is None:
        return None
    if isinstance(entry, ast.ClassDef):
        return None if rest else (module, entry)
    return found(entry[0], ".".join(word for word in (entry[1], rest) if word))


def bases(module: str, kind: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the bases of a class that the package defines, and theirs, depth first."""
    for base in kind.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        if (entry := found(module, ast.unparse(plain))) is not None:
            yield entry
            yield from bases(*entry)


def documents(kind: ast.ClassDef, name: str) -> bool:
    """Return whether a class has a docstring for a method, or a string below a field, of this name."""
    body = kind.body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, Function) and node.name == name and ast.get_docstring(node):
            return True
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            return isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    return False


def defined_again(node: Function) -> bool:
    """Return whether a definition only adds to another of the same name."""
    return any(ast.unparse(decorator).split(".")[-1] in AGAIN for decorator in node.decorator_list)


def public(
    module: str, body: list[ast.stmt], within: str, owner: ast.ClassDef | None = None
) -> Iterator[tuple[str, int, bool]]:
    """Yield the public names of a body with their lines, and whether they are documented."""
    for node in statements(body):
        if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_"):
            continue
        if isinstance(node, Function) and defined_again(node):
            continue
        name, documented = f"{within}.{node.name}", ast.get_docstring(node) is not None
        if owner is not None and isinstance(node, Function):
            documented = documented or any(documents(kind, node.name) for _, kind in bases(module, owner))
        yield name, node.lineno, documented
        if isinstance(node, ast.ClassDef):
            yield from public(module, node.body, name, node)


def package(module: str) -> str:
    """Return the folder of a module that is counted by itself: two words below `circuitize`, as in provers.tensor."""
    words = module.split(".")[1:]
    return ".".join((words if paths()[module].stem == "__init__" else words[:-1])[:2]) or "circuitize"


@cache
def all_public() -> tuple[tuple[str, str, int, bool], ...]:
    """Return for each public name its module, its dotted name, its line and whether it is documented."""
    entries: list[tuple[str, str, int, bool]] = []
    for module, read in trees().items():
        if not any(word.startswith("_") for word in module.split(".")):
            documented = ast.get_docstring(read) is not None or not read.body
            entries.append((module, module, 1, documented))
            entries += [(module, *entry) for entry in public(module, read.body, module)]
    return tuple(entries)


def report(under: str) -> str:
    """Return the lines FILE:LINE NAME of what has no docstring in a package, and a table of all packages."""
    silent = [(module, name, line) for module, name, line, documented in all_public() if not documented]
    shown = [
        f"{paths()[module].relative_to(SOURCE)}:{line} {name.removeprefix(module + '.')}"
        for module, name, line in silent
        if under and str(paths()[module].relative_to(SOURCE)).startswith(under)
    ]
    of_all = Counter(package(module) for module, *_ in all_public())
    without = Counter(package(module) for module, *_ in silent)
    table = [f"{folder:28} {without[folder]:5} of {of_all[folder]:5}" for folder in sorted(of_all)]
    return "\n".join([*shown, *table, f"{'all':28} {without.total():5} of {of_all.total():5}"])


if __name__ == "__main__":
    print(report(sys.argv[1] if len(sys.argv) > 1 else ""))
