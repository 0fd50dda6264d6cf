"""What leaves for a terminal: one printable line for each message, whatever it holds."""

from __future__ import annotations

import io
import re
from pathlib import Path

from circuitize import cli
from circuitize.circuits.errors import excerpt
from circuitize.cli.screen import MOST, Screen, one_line, visible


def test_what_is_visible() -> None:
    assert visible("x\x1b\x9b\u202e\n\r\t") == r"x\x1b\x9b\u202e\n\r\t"
    assert visible("/layer/Add:0 äöü Σ 数 \\x1b") == "/layer/Add:0 äöü Σ 数 \\x1b"
    assert one_line(f"a{' ' * 80}valid") == "a valid"
    assert one_line("begin" + "x" * 9999 + "end").startswith("beginxxx")
    assert len(one_line("x" * 9999)) < MOST + 10
    assert excerpt("\x1b") == r"'\x1b'" and len(excerpt("x" * 9999)) < 120


def test_a_screen_shows_what_its_encoding_lacks() -> None:
    taken = io.BytesIO()
    screen = Screen(io.TextIOWrapper(taken, encoding="ascii", newline="\n"))
    assert screen.write("a\nä\x9b\n") == 5
    screen.flush()
    assert taken.getvalue() == b"a\n\\xe4\\x9b\n"


def test_nothing_of_the_command_line_prints_elsewhere() -> None:
    """`say`, `remark`, `show` and `print_json` alone know print."""
    folder = Path(cli.__file__).parent
    printing = {path.name for path in folder.glob("*.py") if re.search(r"(?<![\w.])print\(", path.read_text())}
    assert printing == {"output.py"}
