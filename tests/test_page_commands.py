"""Every command line that a page shows is one: the parser of `circuitize` takes it. What pip installs is an extra."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from page_blocks import blocks

from circuitize.circuits.errors import CircuitizeError
from circuitize.cli.arguments import COMMANDS, parser

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SYNOPSIS = re.compile(r"[\[|]|\.\.\.")
"""What a synopsis has and no command: brackets, bars, an ellipsis. Its words are checked in tests/cli."""


def joined(text: str) -> list[str]:
    """Return the lines of a block, those that a backslash goes on with as one."""
    return re.sub(r"\\\n\s*", "", text).splitlines()


def shown(page: Path) -> Iterator[str]:
    """Yield the command lines of a page's blocks that are not in Python, without the prompt."""
    for block in blocks(page):
        if block.language in ("", "sh"):
            for line in joined(block.text):
                if match := re.match(r"(?:\$ )?(circuitize \S.*)", line):
                    yield match[1]


def readings(line: str) -> Iterator[list[str]]:
    """Yield the words of a line, without a comment, then without what stands apart at its end: a remark in columns."""
    line = re.split(r"\s#|\s\|\||>|;", line)[0].rstrip()
    while line:
        yield re.sub(r"(?<= )N$", "1", re.sub(r"\$\w+", "PROGRAM", line)).split()[1:]
        line = line.rpartition("  ")[0].rstrip()


parser_of = cache(parser)


def is_command(line: str) -> bool:
    for words in readings(line):
        try:
            if len(words) > 1 or words == ["demo"] or words == ["doctor"]:
                parser_of(words[0]).parse_args(words)
                return True
        except CircuitizeError:
            pass
    return False


COMMAND_LINES = [
    (page, line) for page in PAGES for line in dict.fromkeys(shown(page)) if not SYNOPSIS.search(line.split(" #")[0])
]


def test_there_are_many() -> None:
    assert len(COMMAND_LINES) > 60
    assert {line.split()[1] for _, line in COMMAND_LINES} >= set(COMMANDS) - {"doctor", "demo"}


def test_commands_are_understood() -> None:
    assert not [f"{page.name}: {line}" for page, line in COMMAND_LINES if not is_command(line)]


def test_a_wrong_command_is_seen() -> None:
    assert is_command("circuitize estimate examples/iris.py:step   # sizes")
    assert not is_command("circuitize estimate examples/iris.py:step --no-such-option 3")
    assert not is_command("circuitize evaluate examples/iris.py:step")


def test_extras_exist() -> None:
    named = [(page.name, found) for page in PAGES for found in re.findall(r"circuitize\[([\w,]+)\]", page.read_text())]
    assert not [(page, extra) for page, found in named for extra in found.split(",") if extra not in EXTRAS]
