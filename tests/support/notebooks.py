"""Makes a notebook of a tutorial: its prose and its blocks as cells, in order, without results."""

from __future__ import annotations

from pathlib import Path

from page_blocks import BLOCK

from circuitize.backends.verilog.vivado.notebook import jupyter

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
NAMES = ("own-data", "onnx-to-contract", "jax-step")
"""The tutorials that are notebooks too; each notebook lies beside its page, where the same links hold."""

MAGIC = {"python": "", "sh": "%%sh\n"}


def notebook(page: Path) -> str:
    """Return the notebook of a page, in the format of Jupyter, version 4.5."""
    text, cells, end = page.read_text(), [], 0
    for match in BLOCK.finditer(text):
        if match[1] in MAGIC:
            cells += [("markdown", text[end : match.start()]), ("code", MAGIC[match[1]] + match[3])]
            end = match.end()
    cells.append(("markdown", text[end:]))
    return jupyter(cells)
