"""Writes the table of docs/jax.md from the rules: which primitives of JAX there are, and what each becomes."""

from __future__ import annotations

from circuitize.frontends.jax import walk
from circuitize.frontends.jax.equation import CALLS, RULES

BEGIN, END = "<!-- primitives: written by the tests, from the rules -->\n", "<!-- end of the primitives -->\n"


def table() -> str:
    """A row for each meaning in each file of rules, in the order of the files."""
    rows = ["| file | primitives | here |", "|---|---|---|"]
    meanings: dict[tuple[str, str], list[str]] = {}
    for name, rule in RULES.items():
        meanings.setdefault((rule.function.__module__, rule.meaning), []).append(name)
    for name, (function, meaning) in CALLS.items():
        meanings.setdefault((function.__module__, meaning), []).append(name)
    order = [module.__name__ for module in walk.MODULES]
    for (module, meaning), names in sorted(meanings.items(), key=lambda row: order.index(row[0][0])):
        rows.append(f"| {module.rpartition('.')[2]} | {', '.join(f'`{name}`' for name in names)} | {meaning} |")
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table as the rules have it."""
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    assert found and ended, "docs/jax.md has no place for the table"
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"
