"""The repository keeps its own rules: links, sizes, names, docstrings, a test for every operation."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import median

import arrays_cases
import integers_cases
from import_graph import tree

from circuitize.backends.r1cs import operations as r1cs_operations
from circuitize.circuits import integers
from circuitize.circuits.operation import Operation

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ("circuits", "frontends", "backends", "provers", "sims", "src")
CI = tuple(f".ci/{name}" for name in os.listdir(ROOT / ".ci"))
BUILT = {"build", "dist", "node_modules", "target", "circuitize-demo", "__pycache__"}


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Every file that people write with one of these suffixes; links are not followed."""
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        hidden = [name for name in folders if name.startswith(".") and name != ".ci"]
        folders[:] = [name for name in folders if name not in BUILT and name not in hidden and "egg-info" not in name]
        found += [Path(folder) / name for name in names if f"{Path(folder).name}/{name}".endswith(suffixes)]
    return tuple(sorted(found))


def lines(path: Path) -> int:
    return path.read_text().count("\n")


def where(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def package_files() -> list[Path]:
    return [path for path in files(".py") if path.relative_to(ROOT).parts[0] in PACKAGE]


@cache
def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    broken = []
    for page in files(".md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            linked = page.parent / name if name else page
            if not linked.exists() or (anchor and anchor not in anchors(linked)):
                broken.append(f"{where(page)}: {target}")
    assert not broken


def test_paths_in_prose_exist() -> None:
    folders = [entry.name for entry in ROOT.iterdir() if entry.is_dir() and entry.name not in BUILT]
    starts = "|".join(re.escape(name) for name in sorted(folders))
    told = re.compile(rf"(?<![\w/.$-])((?:{starts})/[\w./-]*\w)")
    found = [(page, path) for page in files(".md") for path in told.findall(page.read_text())]
    missing = [(page, path) for page, path in found if not (ROOT / path).exists() and not (page.parent / path).exists()]
    assert not [f"{where(page)}: {path}" for page, path in missing if not path.startswith(".venv/")]


def test_the_command_line_is_thin() -> None:
    """It parses, calls one function of the library, and prints: what grows beyond this is a function of the library."""
    modules = [path for path in (ROOT / "src" / "circuitize" / "cli").glob("*.py") if not path.is_symlink()]
    assert len(modules) > 30 and sum(len(path.read_text().splitlines()) for path in modules) <= 3300


def test_values_have_types() -> None:
    """What is foreign is described by a Protocol, what is read from a file is an object until it is checked; `Any` is
    left to what is passed on by name, and to values that are checked at once.
    """
    found = [
        where(path) for path in package_files() for line in path.read_text().splitlines() if re.search(r"\bAny\b", line)
    ]
    assert len(found) <= 120, found


def test_files_are_short() -> None:
    sizes = {where(path): lines(path) for path in files(".py", ".rs") if lines(path)}
    assert not {path: size for path, size in sizes.items() if size > 500}
    long = {path: size for path, size in sizes.items() if size > 300}
    assert len(long) <= len(sizes) // 20, f"too many files over 300 lines: {long}"
    assert median(sizes.values()) <= 150


def test_names_say_what_files_define() -> None:
    empty_words = {"util", "utils", "helper", "helpers", "common", "manager", "misc"}
    assert not [where(path) for path in files(".py", ".rs") if empty_words & set(path.stem.split("_"))]


def test_every_module_says_what_it_is() -> None:
    silent = [where(path) for path in files(".py") if (text := path.read_text()) and not text.startswith('"""')]
    silent += [where(path) for path in files(".rs") if not path.read_text().startswith("//! ")]
    assert not silent


GADGETS = ROOT / "backends" / "r1cs" / "gadgets"
STATEMENT = {ROOT / "backends" / "r1cs" / name for name in ("ports.py", "commitments.py")}
"""Where a program's own inputs, outputs and their commitments get wires, the only ones besides those of gadgets."""


def allocates(nodes: Iterable[ast.AST]) -> bool:
    """Whether wires are created in these nodes: by a call of `wires` on an assembly or a builder."""
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "wires"
        and ast.unparse(call.func.value).split(".")[-1] in {"assembly", "builder"}
        for call in nodes
    )


def test_only_gadgets_create_variables() -> None:
    creating = {path for path in package_files() if ".wires(" in path.read_text() and allocates(ast.walk(tree(path)))}
    assert len(creating) > 5
    assert not {where(path) for path in creating - STATEMENT if path.parent != GADGETS}


def test_every_gadget_argues_soundness() -> None:
    gadgets: dict[str, bool] = {}
    for path in [path for path in files(".py") if path.parent == GADGETS or path in STATEMENT]:
        for owner in tree(path).body:
            if (
                isinstance(owner, ast.FunctionDef | ast.ClassDef)
                and allocates(ast.walk(owner))
                and owner.name[0] != "_"
            ):
                texts = [
                    ast.get_docstring(node) or ""
                    for node in ast.walk(owner)
                    if isinstance(node, ast.FunctionDef | ast.ClassDef)
                ]
                gadgets[f"{where(path)}: {owner.name}"] = "Soundness:" in "".join(texts)
    assert len(gadgets) >= 5
    assert not [name for name, argued in gadgets.items() if not argued]


def test_every_operation_has_a_test() -> None:
    ours = {name for name, kind in Operation.registry.items() if kind.__module__.startswith("circuitize.")}
    tested = {kind.name for described in (arrays_cases.described(), integers_cases.described()) for kind in described}
    assert ours
    assert not ours - tested, "describe it in tests/support/operations/"


def test_every_target_implements_the_core() -> None:
    """An operation without a default expansion must have a rule in each target's table."""
    core = {kind for name, kind in Operation.registry.items() if name.startswith("integer.")}
    core -= {kind for kind in core if issubclass(kind, integers.Expansion)}
    assert not {kind.name for kind in core - set(r1cs_operations.RULES)}


def test_nothing_is_left_for_later() -> None:
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    texts = files(".py", ".rs", ".md", ".toml", ".sh", ".js", ".mjs", ".cfg", "Makefile", *CI)
    assert not [where(path) for path in texts if marks.search(path.read_text())]


def test_nothing_depends_on_one_machine() -> None:
    """No absolute path of somebody's machine, and packages come from the public registries."""
    places = re.compile(r"(?<![\w.])/(work|home|root|Users)/")
    texts = files(".py", ".rs", ".md", ".toml", ".js", ".mjs", ".cfg", ".json", ".lock", ".svg", "Makefile", *CI)
    assert not [where(path) for path in texts if places.search(path.read_text())]
    for lock in files("package-lock.json"):
        hosts = set(re.findall(r'"resolved": "(https?://[^/]+)/', lock.read_text()))
        assert hosts <= {"https://registry.npmjs.org"}
    for lock in files("Cargo.lock"):
        sources = set(re.findall(r'source = "(.+)"', lock.read_text()))
        assert sources == {"registry+https://github.com/rust-lang/crates.io-index"}
