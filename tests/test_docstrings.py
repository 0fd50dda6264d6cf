"""Every public name of the package has a docstring: its own, or for a method that of the base that it overrides."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docstrings import all_public, documents, found, public, report


def test_every_public_name_has_a_docstring() -> None:
    assert len(all_public()) > 4000
    assert not [name for _, name, _, documented in all_public() if not documented], report("/")


THIRD_PERSON = re.compile(r'(?:"""|[.:;] |^\s*)(Raises|Returns)(?=\s)', re.MULTILINE)
ROOT = Path(__file__).parents[1]


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
