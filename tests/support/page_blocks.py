"""The code blocks of pages: which there are, and how they are run, one after the other, as a reader would."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tiers
from cli_programs import run as run_command

BLOCK = re.compile(r"^```(\w*)((?: \w+)*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block: its language, `deep` where it runs in that tier alone, its text and the line where it begins."""

    language: str
    deep: bool
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(match[1], match[2] == " deep", match[3], text.count("\n", 0, match.start()) + 2)
        for match in BLOCK.finditer(text)
    ]


def run(page: Path, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Run the blocks in Python, which share names, and in the shell; return the names. We are in the folder.

    But for the deep tier, our own commands are run in this process, and of blocks in Python that are deep the imports.
    """
    names: dict[str, Any] = {"__name__": "page", **given}
    for block in blocks(page):
        if block.deep and tiers.TIER != "deep":
            if block.language == "python":
                require_names(block, names)
            continue
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "sh":
            told = commands(block.text) if tiers.TIER != "deep" else None
            if told is None:
                in_shell(block, page, folder)
            else:
                in_process(told, f"{page.name}:{block.line}")
    return names


def require_names(block: Block, names: dict[str, Any]) -> None:
    """What a block imports is there, and what it reads of `cz`."""
    every = list(ast.walk(ast.parse(block.text)))
    imports: list[ast.stmt] = [node for node in every if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), "imports", "exec"), names)
    for node in every:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cz":
            assert hasattr(names["cz"], node.attr), f"line {block.line}: circuitize has no {node.attr}"


COMMAND = re.compile(r"circuitize (?P<arguments>[^|&;<>$`]*)(?: \|\| test \$\? -eq (?P<status>\d))?")


def commands(text: str) -> list[tuple[list[str], set[int]]] | None:
    """The arguments of each of our commands, and the statuses with which it may end; nothing, if a block has others."""
    found = []
    for line in re.sub(r" *\\\n *", " ", text).splitlines():
        read = COMMAND.fullmatch(line)
        if read is None:
            return None
        found.append((shlex.split(read["arguments"]), {0, int(read["status"] or 0)}))
    return found


def in_process(told: list[tuple[list[str], set[int]]], place: str) -> None:
    """As the shell would, but for a process of each command."""
    for arguments, statuses in told:
        done = run_command(*arguments)
        assert done.status in statuses, f"{place}: {done.out}{done.err}"


def in_shell(block: Block, page: Path, folder: Path) -> None:
    """Run a block as a script that ends at the first command that fails, with our `circuitize`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", "-eu", "-c", block.text]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page.name}:{block.line}: {done.stdout}{done.stderr}"
