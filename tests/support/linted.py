"""What Verilator says of a design's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from circuitize.backends.verilog.design import Design


def warnings(design: Design, folder: Path) -> str:
    """All warnings of Verilator, for the files of a design that are written to a folder."""
    for name, text in design.files.items():
        (folder / name).write_text(text)
    sources = sorted(name for name in design.files if name.endswith(".v"))
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", design.top, *sources]
    return subprocess.run(lint, cwd=folder, capture_output=True, text=True, check=False).stderr
