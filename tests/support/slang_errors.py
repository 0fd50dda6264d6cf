"""What slang, the strictest reader of SystemVerilog that is freely had, refuses in a design."""

from __future__ import annotations

import pyslang
from pyslang.ast import Compilation
from pyslang.syntax import SyntaxTree

from circuitize.backends.verilog.design import Design


def errors(made: Design) -> list[str]:
    """What slang refuses in the files of a design, its top included."""
    sources, compilation = pyslang.SourceManager(), Compilation()
    for name, text in made.files.items():
        if name.endswith(".v"):
            compilation.addSyntaxTree(SyntaxTree.fromText(text, sources, name, name))
    found = [diagnostic for diagnostic in compilation.getAllDiagnostics() if diagnostic.isError()]
    tops = [instance.name for instance in compilation.getRoot().topInstances]
    told = pyslang.DiagnosticEngine.reportAll(sources, found).splitlines()
    return told if tops == [made.top] else [*told, f"expected the top {made.top}, found {tops}"]
