"""Makes a notebook of a tutorial: its prose and its blocks as cells, in order, without results."""

from __future__ import annotations

import json
from pathlib import Path

from page_blocks import BLOCK

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
    made = [cell(f"cell-{place}", kind, held.strip("\n")) for place, (kind, held) in enumerate(cells) if held.strip()]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def cell(name: str, kind: str, text: str) -> dict[str, object]:
    common: dict[str, object] = {
        "cell_type": kind,
        "id": name,
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return common if kind == "markdown" else {**common, "execution_count": None, "outputs": []}
