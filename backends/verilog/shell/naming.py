"""Prefixing the names of a design's modules, files and memories, so that several designs fit into one project."""

from __future__ import annotations

import re
from collections.abc import Mapping


def prefixed(files: Mapping[str, str], top: str, name: str) -> dict[str, str]:
    """Return the files with every module and memory renamed to `name`, `_` and its old name, except that the module
    `top` becomes `name`.

    The name of a module is changed only where the module is defined and where it is instantiated, since a signal may
    have the same name.
    """
    modules = {file.removesuffix(".v") for file in files if file.endswith(".v")}
    renamed = {module: name if module == top else f"{name}_{module}" for module in modules}
    defined = re.compile(r"^(module )(\w+)\b", re.MULTILINE)
    placed = re.compile(r"^(\s+)(\w+)(?= #\(| \w+ \()", re.MULTILINE)
    loaded = re.compile(r'"(\w+\.hex)"')
    memories = {file for file in files if not file.endswith(".v")}

    def module(match: re.Match[str]) -> str:
        return match[1] + renamed.get(match[2], match[2])

    def memory(match: re.Match[str]) -> str:
        return f'"{name}_{match[1]}"' if match[1] in memories else match[0]

    made: dict[str, str] = {}
    for file, text in files.items():
        if file.endswith(".v"):
            text = loaded.sub(memory, placed.sub(module, defined.sub(module, text)))
            made[f"{renamed[file.removesuffix('.v')]}.v"] = text
        else:
            made[f"{name}_{file}"] = text
    return made
