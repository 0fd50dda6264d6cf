"""How messages spell the settings of a run: as Python parameters, or as options of the command line."""

from __future__ import annotations


class Spelling:
    """The spelling of a run's settings as Python parameters, for messages."""

    dataset = "dataset"
    schedule = "schedule"
    verifier = "circuitize.verifier"

    def option(self, name: str, value: object = None) -> str:
        """Return the spelling of a run's parameter in messages, alone or with the given value."""
        return name if value is None else f"{name}={value}"

    def scalar(self, name: str, value: str | None = None) -> str:
        """Return the spelling of one entry of the parameter `scalars` in messages, alone or with the given value."""
        return f"scalars[{name!r}]" if value is None else f"scalars={{{name!r}: {value}}}"


PYTHON = Spelling()
