"""Lists for the reference pages: the public names of `circuitize` by folder, and the modules that pages and examples
import.

A page of the reference has a line `<!-- names: FOLDER -->`, which this Sphinx extension replaces by directives for the
names of that folder. The site begins with the README, and the list of the site's sections is added at the README's end.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import circuitize

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/*.md", "docs/tutorials/*.md", "examples/**/*.py")
SECTIONS = ("tutorials", "how-to", "reference", "explanations", "decisions")
CONTRACTS = ("circuitize.circuits.operation", "circuitize.provers.contract", "circuitize.api.verdict")
"""What the reader implements or is handed, and no example imports."""


def names(folder: str) -> list[str]:
    """Return the public names of `circuitize` that are defined in a folder of the package."""
    return [name for name in circuitize.__all__ if name[0] != "_" and home(name).split(".")[1] == folder]


def home(name: str) -> str:
    return f"circuitize{vars(circuitize)['_HOME'][name]}"


def imported() -> list[str]:
    """Return the modules that the blocks of pages and the examples import from."""
    texts = [path.read_text() for pattern in PAGES for path in ROOT.glob(pattern)]
    found = {match for text in texts for match in re.findall(r"^\s*from (circuitize\.[\w.]+) import", text, re.M)}
    found |= {name for text in texts for name in submodules(text)}
    return sorted(found | set(CONTRACTS))


def submodules(text: str) -> list[str]:
    """Return the modules that a text imports from a package by name, as in `from circuitize.sims import integer`."""
    found = []
    for package, given in re.findall(r"^\s*from (circuitize\.[\w.]+) import ([\w, ]+)$", text, re.M):
        folder = ROOT / "src" / package.replace(".", "/")
        listed = getattr(import_module(package), "__all__", ())
        names = [name for name in given.split(", ") if name not in listed]
        found += [f"{package}.{name}" for name in names if (folder / f"{name}.py").is_file()]
    return found


def directives(folder: str) -> str:
    """Return the Sphinx directives that document a folder: its public names, then its modules, each name once."""
    lines = []
    for name in names(folder):
        value = getattr(circuitize, name)
        kind = "class" if isinstance(value, type) else "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: circuitize.{name}", *([""] if kind != "class" else ["   :members:", ""])]
    for module in imported():
        if module.split(".")[1] == folder:
            above = [name for name in names(folder) if home(name) == module]
            own = ["   :imported-members:"] if hasattr(import_module(module), "__all__") else []
            left = [f"   :exclude-members: {', '.join(above)}"] if above else []
            lines += [module, "-" * len(module), "", f".. automodule:: {module}", "   :members:", *own, *left, ""]
    return "\n".join(lines)


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the directives in the place of a page's names line; Sphinx calls this function as a handler of the event
    `source-read`.
    """
    if page == app.config.root_doc:
        source[0] += "\n".join(
            ["", "```{toctree}", ":hidden:", "", *(f"docs/site/{name}" for name in SECTIONS), "```", ""]
        )
    source[0] = re.sub(
        r"^<!-- names: (\w+) -->$",
        lambda match: f"```{{eval-rst}}\n{directives(match[1])}\n```",
        source[0],
        flags=re.MULTILINE,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the lists of public names with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
