"""The repository keeps its own rules: links, sizes, names, import direction, docstrings, a test for every operation."""

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
from every_case import every_case
from import_graph import statements, tree

from circuitize.backends.r1cs import operations as r1cs_operations
from circuitize.circuits import integers
from circuitize.circuits.operation import Operation

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "circuits": set(),
    "frontends": {"circuits"},
    "backends": {"circuits"},
    "provers": {"circuits", "backends"},
    "sims": {"circuits", "backends"},
}
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
    return [path for path in files(".py") if path.relative_to(ROOT).parts[0] in {*MAY_IMPORT, "src"}]


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@every_case(files(".md"))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            broken.append(target)
    assert not broken


@every_case(files(".md"))
def test_paths_in_prose_exist(page: Path) -> None:
    folders = [entry.name for entry in ROOT.iterdir() if entry.is_dir() and entry.name not in BUILT]
    starts = "|".join(re.escape(name) for name in sorted(folders))
    paths = re.findall(rf"(?<![\w/.$-])((?:{starts})/[\w./-]*\w)", page.read_text())
    missing = [path for path in paths if not (ROOT / path).exists() and not (page.parent / path).exists()]
    built = [path for path in missing if path.startswith(".venv/")]
    assert sorted(missing) == sorted(built)


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


def imported_folders(path: Path) -> set[str]:
    """The top-level folders that a package file imports from, its own included; `..` out of a folder is an error."""
    own = path.relative_to(ROOT).parts
    found = set()
    for node in statements(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level < len(own), f"{where(path)}:{node.lineno} leaves its folder by a relative import"
        names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module if isinstance(node, ast.ImportFrom) and not node.level else None
        for name in [f"{module}.{name}" for name in names] if module else names if isinstance(node, ast.Import) else []:
            parts = name.split(".")
            if parts[0] == "circuitize" and len(parts) > 1:
                found.add(parts[1])
    return found


def test_imports_go_one_way() -> None:
    wrong = {}
    for path in package_files():
        folder = path.relative_to(ROOT).parts[0]
        if folder in MAY_IMPORT:
            allowed = MAY_IMPORT[folder] | {folder} | ({"_native"} if folder == "provers" else set())
            if extra := imported_folders(path) - allowed:
                wrong[where(path)] = extra
    assert not wrong


def test_imports_are_found() -> None:
    """The check above sees what is there: absolute, relative and bare imports."""
    assert "circuits" in imported_folders(ROOT / "sims" / "integer.py")
    assert "circuits" not in imported_folders(ROOT / "circuits" / "types.py")


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
