"""The code blocks of pages: which there are, and how they are run, one after the other, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tiers

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
    """Run the blocks in Python, which share names, and in the shell; return the names. We are in the folder."""
    names: dict[str, Any] = {"__name__": "page", **given}
    for block in blocks(page):
        if block.deep and tiers.TIER != "deep":
            continue
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "sh":
            in_shell(block, page, folder)
    return names


def in_shell(block: Block, page: Path, folder: Path) -> None:
    """Run a block as a script that ends at the first command that fails, with our `circuitize`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", "-eu", "-c", block.text]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page.name}:{block.line}: {done.stdout}{done.stderr}"
