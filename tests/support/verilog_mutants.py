"""Mutants of Verilog: one small change of a design's text each, of kinds that people and tools make by mistake."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A design with one change: its kind, where it is, the line before and after, and all files."""

    kind: str
    place: str
    before: str
    after: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}: {self.before.strip()} -> {self.after.strip()}"


Site = tuple[int, int, str]
"""A place of a text, from and to, and what is put there."""

NAME = re.compile(r"\b[A-Za-z_]\w*\b")
DECLARED = re.compile(r"\b(?:wire|reg) ((?:signed )?\[\d+:0\] )(\w+)\b")


def _literals(text: str, draw: random.Random) -> Iterator[Site]:
    """A known number that is one more or less."""
    for match in re.finditer(r"\b(\d+)'(s?)d(\d+)\b", text):
        value, most = int(match[3]), (1 << int(match[1])) - 1
        yield *match.span(3), str(draw.choice([v for v in (value - 1, value + 1) if 0 <= v <= most]))


def _bits(text: str, draw: random.Random) -> Iterator[Site]:
    """A slice that is a bit higher or lower: a shift that is off by one."""
    for match in re.finditer(r"(?<=[\w\]])\[(\d+):(\d+)\](?=[,;})\s])", text):
        high, low = int(match[1]), int(match[2])
        step = draw.choice([1, -1]) if low else 1
        yield *match.span(), f"[{high + step}:{low + step}]"


def _operators(text: str, draw: random.Random) -> Iterator[Site]:
    """Another operator."""
    others = {"+": "-", "-": "+", "&": "|", "|": "&", "<": ">", ">": "<"}
    for match in re.finditer(r"(?<= )[-+&|<>](?= )", text):
        yield *match.span(), others[match[0]]


def _inversions(text: str, draw: random.Random) -> Iterator[Site]:
    """A `~` that is lost."""
    for match in re.finditer(r"~(?=[\w(])", text):
        yield *match.span(), ""


def _wires(text: str, draw: random.Random) -> Iterator[Site]:
    """Another net of the same type."""
    types: dict[str, list[str]] = {}
    of: dict[str, str] = {}
    for match in DECLARED.finditer(text):
        types.setdefault(match[1], []).append(match[2])
        of[match[2]] = match[1]
    for match in re.finditer(r"(?<=[=?:{(,*&|+-] )\w+|(?<=[({])\w+", text):
        others = [name for name in types.get(of.get(match[0], ""), []) if name != match[0]]
        if others and text[match.end() : match.end() + 1] != "(":
            yield *match.span(), draw.choice(others)


def _widths(text: str, draw: random.Random) -> Iterator[Site]:
    """A net that is a bit wider or narrower."""
    for match in re.finditer(r"(?:wire|reg) (?:signed )?\[(\d+):0\]", text):
        yield *match.span(1), str(int(match[1]) + (draw.choice([1, -1]) if match[1] != "0" else 1))


def _signs(text: str, draw: random.Random) -> Iterator[Site]:
    """A net or an operand that is no longer signed."""
    for match in re.finditer(r"\bsigned (?=\[)|\$signed(?=\()", text):
        yield *match.span(), ""


def _registers(text: str, draw: random.Random) -> Iterator[Site]:
    """A register that is left out: what is behind it reads what is before it."""
    reads = {match[1]: match[2] for match in re.finditer(r"held(\d+) <= \{([^}]*)\};", text)}
    for match in re.finditer(r"= (held(\d+)\[\d+:\d+\]);", text):
        before = [name.strip() for name in reads.get(match[2], "").split(",")]
        late = re.search(r"(\w+) $", text[: match.start()])
        own = [name for name in before if late and re.sub(r"_d\d+$", "", name) == re.sub(r"_d\d+$", "", late[1])]
        if own:
            yield *match.span(1), own[0]


def _order(text: str, draw: random.Random) -> Iterator[Site]:
    """Two neighbours of a list that change places: elements of a register, pins of a module."""
    for match in re.finditer(r"\((\w+)\),\n(\s+\.\w+\()(\w+)\)", text):
        if match[1] != match[3]:
            yield *match.span(), f"({match[3]}),\n{match[2]}{match[1]})"
    for match in re.finditer(r"(?<=\n)(\s+)(\w+),\n\s+(\w+)(?=,?\n)", text):
        if "wire" not in match[0] and match[2] != match[3]:
            yield *match.span(), f"{match[1]}{match[3]},\n{match[1]}{match[2]}"


def _conditions(text: str, draw: random.Random) -> Iterator[Site]:
    """A clocked block that asks for something else, or for the opposite."""
    for match in re.finditer(r"if \((~?\w+)\)", text):
        yield *match.span(1), draw.choice(["1'b1", f"~{match[1]}", "clk"])


def _entries(text: str, draw: random.Random) -> Iterator[Site]:
    """An entry of a memory with one bit changed."""
    for match in re.finditer(r"[0-9a-f](?=\n)", text):
        yield *match.span(), f"{int(match[0], 16) ^ 1:x}"


RULES: dict[str, Callable[[str, random.Random], Iterator[Site]]] = {
    "number": _literals,
    "slice": _bits,
    "operator": _operators,
    "inversion": _inversions,
    "wire": _wires,
    "width": _widths,
    "sign": _signs,
    "register": _registers,
    "order": _order,
    "condition": _conditions,
    "entry": _entries,
}
"""Kinds of changes. Those of memories are of `.hex` files, all others of modules."""


def mutants(files: Mapping[str, str], seed: int) -> Iterator[Mutant]:
    """Mutants without end, each kind as often as any other. What only linters read (`unused`) is left as it is."""
    draw = random.Random(seed)
    while True:
        for kind, rule in RULES.items():
            names = [name for name in sorted(files) if name.endswith(".hex") == (kind == "entry")]
            sites = [(name, site) for name in names for site in rule(files[name], draw) if _counts(files[name], site)]
            if sites:
                name, (start, end, new) = draw.choice(sites)
                text = files[name]
                line = text.count("\n", 0, start) + 1
                made = text[:start] + new + text[end:]
                yield Mutant(
                    kind,
                    f"{name}:{line}",
                    text.splitlines()[line - 1],
                    made.splitlines()[line - 1],
                    {**files, name: made},
                )


def _counts(text: str, site: Site) -> bool:
    """Whether a change is of what the design does: no comment, no wire for linters."""
    start = text.rfind("\n", 0, site[0]) + 1
    line = text[start : text.find("\n", site[0])]
    return not line.lstrip().startswith("//") and "unused" not in line
