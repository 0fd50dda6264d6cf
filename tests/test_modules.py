"""Modules import in one direction: no circle among them, imports within functions counted; and the picture of it.

What only types need is imported from the same folder. Every public name of the package has a docstring: its own, or for
a method that of the base that it overrides.
"""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from docstrings import all_public, documents, found, public, report
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


def test_every_public_name_has_a_docstring() -> None:
    assert len(all_public()) > 4000
    assert not [name for _, name, _, documented in all_public() if not documented], report("/")


THIRD_PERSON = re.compile(r'(?:"""|[.:;] |^\s*)(Raises|Returns)(?=\s)', re.MULTILINE)


def test_sentences_say_return_and_raise() -> None:
    """One mood: "Return ...", "Raise ..."."""
    folders = ("circuits", "frontends", "backends", "provers", "sims", "src", "tests", "benchmarks", "examples")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
    found = [str(path.relative_to(ROOT)) for path in files if THIRD_PERSON.search(path.read_text())]
    assert len(files) > 1200 and not found
    assert THIRD_PERSON.search('"""A sum. ' + "Raises" + ' Unproved."""')


EXAMPLE = '''
class Base(Protocol):
    """A base."""
    stated: int
    """How many."""
    silent: int
    def method(self):
        """Return one."""
    def _private(self): ...

class Kind(Base):
    def method(self): ...
    @property
    def stated(self): ...
    @stated.setter
    def stated(self, value): ...
    @property
    def silent(self): ...
    def other(self):
        def within(): ...

if True:
    @overload
    def function(x: int): ...
    def function(x): ...
class _Hidden:
    def method(self): ...
'''


def test_names_without_one_are_found() -> None:
    """Also in a branch, and where a base has a docstring for one method of two."""
    kinds = ast.parse(EXAMPLE)
    entries = list(public(EXAMPLE, kinds.body, "m"))
    assert [name for name, _, documented in entries if documented] == ["m.Base", "m.Base.method"]
    silent = [name for name, _, documented in entries if not documented]
    assert silent == ["m.Kind", "m.Kind.method", "m.Kind.stated", "m.Kind.silent", "m.Kind.other", "m.function"]


def test_a_base_documents_what_overrides_it() -> None:
    """A method by its docstring, a field by the string below it."""
    base = ast.parse(EXAMPLE).body[0]
    assert isinstance(base, ast.ClassDef)
    assert [name for name in ("stated", "silent", "method", "_private") if documents(base, name)] == [
        "stated",
        "method",
    ]
    module, kind = found("circuitize.circuits.arrays", "Constant") or ("", None)
    assert kind is not None and not documents(kind, "target_types")
    assert (module, f"{module}.Constant.target_types", True) in [(one, name, yes) for one, name, _, yes in all_public()]


def test_bases_are_found_through_imports() -> None:
    """By way of a package's own names, and of an import that leaves the folder."""
    assert (found("circuitize.circuits.arrays", "Composite") or ("",))[0] == "circuitize.circuits.arrays.composite"
    module, kind = found("circuitize.frontends.tensor", "Real") or ("", None)
    assert module == "circuitize.circuits.arrays.term" and kind is not None and kind.name == "Real"
    assert found("circuitize.circuits.operation", "ABC") is None
