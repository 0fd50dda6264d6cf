"""Extents that a model file leaves open, and the extents that the caller gives for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from circuitize.circuits.errors import CircuitizeError

from .protos import Dimension


def open_or_fixed(extent: Dimension) -> int | None:
    """Return an extent that an ONNX file declares; None for an extent that the file leaves open, which some files write
    as -1.
    """
    return int(extent.dim_value) if extent.HasField("dim_value") and extent.dim_value >= 0 else None


class Extents:
    """The extents that the caller gives: by input and axis (`x:0`), or by the name that the ONNX file gives them
    (`batch`).
    """

    def __init__(self, given: Mapping[str, int]) -> None:
        for name, extent in given.items():
            if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
                raise CircuitizeError(
                    f"dims: expected a whole number of at least 1 for {name!r}, found {extent!r}; correct it"
                )
        self.given = dict(given)
        self.open: dict[str, None] = {}
        self.used: set[str] = set()

    def shape(self, name: str, dims: Sequence[Dimension]) -> tuple[int, ...]:
        """Return the shape of an ONNX model's input. Raise CircuitizeError if an extent that the ONNX file leaves open
        is not given.
        """
        found, left = [], []
        for axis, extent in enumerate(dims):
            place = f"{name}:{axis}"
            if open_or_fixed(extent) is not None:
                if place in self.given and self.given[place] != extent.dim_value:
                    raise CircuitizeError(
                        f"dims: expected an extent that the file leaves open, found {place!r}, which is "
                        f"{extent.dim_value}; leave it out, or export the model with that axis dynamic"
                    )
                self.used.add(place)
                found.append(int(extent.dim_value))
                continue
            names = [place, *([extent.dim_param] if extent.dim_param else [])]
            self.open |= dict.fromkeys(reversed(names))
            said = next((said for said in names if said in self.given), None)
            if said is None:
                left.append(extent.dim_param or "?")
            else:
                self.used.add(said)
                found.append(self.given[said])
        if left:
            raise CircuitizeError(
                f"input {name!r}: expected a concrete shape, found {left}; fix its extents, with "
                f"{' '.join(f'--dim {said}=EXTENT' for said in self._wanted(name, dims))}, or dims= in Python"
            )
        return tuple(found)

    def _wanted(self, name: str, dims: Sequence[Dimension]) -> list[str]:
        """Return the options with which the caller can give each extent that is still open."""
        wanted: dict[str, None] = {}
        for axis, extent in enumerate(dims):
            place = f"{name}:{axis}"
            if open_or_fixed(extent) is None and place not in self.given:
                said = extent.dim_param if extent.dim_param.isidentifier() else place
                if extent.dim_param not in self.given:
                    wanted[said] = None
        return list(wanted)

    def require_used(self) -> None:
        """Raise CircuitizeError if an extent that the caller gives is not an extent of any input."""
        unknown = [name for name in self.given if name not in self.used]
        if unknown:
            raise CircuitizeError(
                f"dims: expected names of open extents, among {list(self.open)}, found {unknown[0]!r}; correct it"
            )
