"""A converter for Sphinx of this project's docstrings, which are plain text with backticks, lists and indented
examples.

Sphinx reads docstrings as reStructuredText, where a star, a bar or an underscore in a formula has a meaning. Each run
of lines in a paragraph is code, a list item or text, and in text no character but a backtick is markup.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

import circuitize

SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
ITEM = re.compile(r"(?:-|\d+\.) ")
CODE = "    "


def inline(text: str) -> str:
    """Return text in which spans of code are literal, public names are links, and no other character has a meaning."""
    parts, end = [], 0
    for span in SPAN.finditer(text):
        code = " ".join(span[2].split())
        known = code in circuitize.__all__
        parts += [escaped(text[end : span.start()]), f":py:obj:`~circuitize.{code}`" if known else f"``{code}``", "\\ "]
        end = span.end()
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    return re.sub(r"([\\*|_`])", r"\\\1", text)


def kinds(paragraph: list[str]) -> list[tuple[str, list[str]]]:
    """Return a paragraph's runs of lines, each with its kind: `code`, `item` or `text`."""
    runs: list[tuple[str, list[str]]] = []
    for line in paragraph:
        last = runs[-1][0] if runs else ""
        if ITEM.match(line):
            runs.append(("item", [line]))
        elif last == "item" and line.startswith(" "):
            runs[-1][1].append(line.strip())
        else:
            kind = "code" if line.startswith((CODE, "|", ">>>")) or (last == "code" and line[:1] == " ") else "text"
            if kind != last:
                runs.append((kind, []))
            runs[-1][1].append(line if kind == "code" else line.strip())
    return runs


def converted(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText."""
    made: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", "\n".join(lines).strip("\n")):
        for kind, run in kinds(paragraph.split("\n")):
            if kind == "code":
                made += ["", "::", "", *(f"{CODE}{line}" for line in run), ""]
            elif kind == "item":
                mark, text = re.split(r"(?<=[-.]) ", "\n".join(run), maxsplit=1)
                indent = " " * (len(mark) + 1)
                made += ["", f"{mark} " + inline(text).replace("\n", f"\n{indent}"), ""]
            else:
                made += ["", inline("\n".join(run)), ""]
    return "\n".join(made).split("\n")


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Put the converted lines of a docstring in the place of its own; Sphinx calls this for each docstring."""
    lines[:] = converted(lines)


def signature(
    app: Sphinx, what: str, name: str, obj: object, options: object, given: str | None, returned: str | None
) -> tuple[str, None] | None:
    """Return how a dataclass is made, by its fields; the signatures of its metaclass and its `__new__` do not name the
    fields.
    """
    if not isinstance(obj, type) or not is_dataclass(obj):
        return None
    return stringify_signature(inspect.signature(obj).replace(return_annotation=inspect.Signature.empty)), None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the converter of docstrings with Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
