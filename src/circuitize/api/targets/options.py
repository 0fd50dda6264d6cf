"""The options of targets: arguments of `compile` and `estimate`, given as flags of the command line or as keywords in
Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from circuitize.circuits.errors import CircuitizeError

Options: TypeAlias = dict[str, Any]
"""The given values of options, by name."""


@dataclass(frozen=True)
class Option:
    """An option of a target, for the command line and for Python. The `kind` of an option says which values it takes: a
    `flag` is True or absent, a `count` is at least 1, a `choice` is one of `choices`, a `file` is a path, and a `name`
    is a word.

    The field `only` of an option names another option, and the value that the other option must then have. If
    `required` is a text, the option must be written on the command line, and the text is the remedy in the error
    message otherwise; in Python, `default` applies.
    """

    name: str
    kind: Literal["flag", "count", "choice", "file", "name"]
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    only: tuple[str, str] | None = None
    default: str | None = None
    required: str = ""
    commands: tuple[str, ...] = ("compile",)

    @property
    def flag(self) -> str:
        """Return the option as it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    def require(self, value: object) -> None:
        """Raise CircuitizeError for a value that the option does not take."""
        fits = {
            "flag": value is True,
            "count": type(value) is int and value >= 1,
            "choice": value in self.choices,
            "file": isinstance(value, str | Path),
            "name": isinstance(value, str) and bool(value),
        }
        if not fits[self.kind]:
            wanted = " or ".join(self.choices) or f"a {self.kind}" + " of at least 1" * (self.kind == "count")
            raise CircuitizeError(f"{self.flag}: expected {wanted}, found {value!r}; correct it")


class Named(Protocol):
    """An object with options, such as a target."""

    options: tuple[Option, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the target, as messages give it."""

    def require(self, command: str, options: Options) -> None:
        """Raise CircuitizeError, before any work, for options of a command that contradict each other."""
        return


def offered(targets: Iterable[Named], command: str) -> dict[str, tuple[Option, list[str]]]:
    """Return the options that targets offer for a command, each with the names of the targets that have it."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for target in targets:
        for option in target.options:
            if command in option.commands:
                found.setdefault(option.name, (option, []))[1].append(target.name)
    return found


def chosen(target: Named, command: str, given: Options, targets: Iterable[Named], spoken: bool = False) -> Options:
    """Return the given options of a command, after checking that the target has each option and takes its value.

    The argument `targets` holds all registered targets. If `spoken` is true, as on the command line, required options
    must be given. Raise CircuitizeError for an option that only other targets have, for a value that an option does not
    take, and for options that contradict each other.
    """
    own = {option.name: option for option in target.options if command in option.commands}
    said = {name: value for name, value in given.items() if value is not None and value is not False}
    known = offered(targets, command)
    for name in said:
        if name not in own:
            flag = "--" + name.replace("_", "-")
            having = " and ".join(known[name][1]) if name in known else "no target"
            raise CircuitizeError(
                f"expected options of {target.name}, found {flag}; it is one of {having}: leave it out"
            )
        own[name].require(said[name])
    for option in own.values():
        if spoken and option.required and option.name not in said:
            choices = " or ".join(option.choices)
            raise CircuitizeError(f"expected {option.flag} {choices} for {target.name}, found none; {option.required}")
    for name in said:
        if (only := own[name].only) is not None:
            value = said.get(only[0], own[only[0]].default)
            if value != only[1]:
                raise CircuitizeError(
                    f"expected options of the {only[0]} {value}, found {own[name].flag}; it is one of {only[1]}: "
                    "leave it out"
                )
    target.require(command, said)
    return said
