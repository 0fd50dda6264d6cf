"""How messages name what a run is proved or verified with: as Python does, or as the command line does."""

from __future__ import annotations


class Spelling:
    """Parameters as Python has them."""

    dataset = "dataset"
    schedule = "schedule"
    verifier = "circuitize.verifier"

    def option(self, name: str, value: object = None) -> str:
        """A parameter, or that it is given this value."""
        return name if value is None else f"{name}={value}"

    def scalar(self, name: str, value: str | None = None) -> str:
        """One of the scalars, or that it is given this value."""
        return f"scalars[{name!r}]" if value is None else f"scalars={{{name!r}: {value}}}"


PYTHON = Spelling()
