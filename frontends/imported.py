"""Programs imported from other systems: an arrow with names for its inputs and outputs, and the starting values of its
parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.hypergraph import Arrow, compose, permute
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Shape, Type

from .formats import DATA, Format
from .layers import Model, Parameter

Reals = NDArray[np.float64]
Batch = Mapping[str, Reals]

WEIGHTS = "weights"
"""The name that stands for all parameters together, wherever names of inputs are expected, unless a parameter has that
name.
"""

FRACTION_BITS = 14
"""The default number of fraction bits of imported parameters."""


@dataclass(frozen=True)
class Imported:
    """An imported arrow with a name for each input and each output, in order.

    The field `parameters` holds, by name, the values that came with an imported program for some of the inputs. If an
    output of an imported program has the name of an input, its value is the input's new value.
    """

    arrow: Arrow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Reals] = field(default_factory=dict, repr=False)

    @property
    def shapes(self) -> dict[str, Shape]:
        """Return the shape of each input of the imported arrow, by name."""
        return {name: shape_of(type) for name, type in zip(self.inputs, self.arrow.source, strict=True)}

    def program(
        self,
        formats: Mapping[str, Format] | None = None,
        *,
        visibility: Mapping[str, Visibility | str] | None = None,
        examples: Sequence[Batch] = (),
        precision: Precision = Precision(),  # noqa: B008 - frozen
    ) -> Program:
        """Return the imported arrow as a program whose inputs have the given formats; a parameter's default is a format
        that holds values up to twice the parameter's.

        The inputs of an imported program that are no parameters have by default the format of sixteenths from 0 to 1.
        Inputs, and outputs that are inputs' new values, are committed, and other outputs are public, unless
        `visibility` says otherwise. Parameters are added to each of the `examples` that lacks them. Raise
        CircuitizeError for a name that no input or output of the imported program has.
        """
        chosen, seen = dict(formats or {}), dict(visibility or {})
        require_names("formats", chosen, self.inputs)
        require_names("visibility", seen, {*self.inputs, *self.outputs})
        ports = {}
        for name, shape in self.shapes.items():
            given = self.parameters.get(name)
            format = chosen.get(name) or (DATA if given is None else format_for(given))
            role = Role.DATA if given is None and name not in self.outputs else Role.PARAMETER
            ports[name] = Port(name, seen.get(name, Visibility.COMMITTED), format.of(shape), role)
        leaving = [
            ports[name] if name in ports else Port(name, seen.get(name, Visibility.PUBLIC)) for name in self.outputs
        ]
        batches = tuple({**self.parameters, **batch} for batch in examples)
        return Program(self.arrow, tuple(ports.values()), tuple(leaving), batches, precision)


def model(
    parameters: Mapping[str, Reals],
    arrow: Callable[[Array], Imported],
    inputs: Shape,
    kind: str,
    formats: Mapping[str, Format] | None = None,
) -> Model:
    """Return a `Model` that starts from the imported parameters, for `training_step` and `predict`.

    The function `arrow` makes, for the type of a batch, a program of the parameters and one other input, with one
    output. A parameter whose format is not given has a format that holds values up to twice the parameter's. Raise
    CircuitizeError for a format whose name is no parameter's.
    """
    chosen = dict(formats or {})
    require_names("formats", chosen, parameters)
    kept = tuple(
        Parameter(name, values.shape, constantly(values), chosen.get(name) or format_for(values))
        for name, values in parameters.items()
    )

    def arranged(batch: Array) -> Arrow:
        made = arrow(batch)
        data = [place for place, name in enumerate(made.inputs) if name not in parameters]
        if len(data) != 1 or len(made.outputs) != 1:
            raise CircuitizeError(
                f"{kind}: expected one input besides parameters and one output, found {len(data)} and "
                f"{len(made.outputs)}; use its program instead, with an output chosen"
            )
        entering: list[Type] = [*(p.type for p in kept), made.arrow.source[data[0]]]
        places = {name: place for place, name in enumerate(parameters)}
        order = [places.get(name, len(kept)) for name in made.inputs]
        return compose(permute(entering, order), made.arrow)

    return Model(kept, arranged, kind, inputs)


def constantly(values: Reals) -> Callable[[np.random.Generator, Shape], Reals]:
    """Return an initializer that gives the stated values, whatever the generator draws."""
    return lambda generator, shape: values


def format_for(values: ArrayLike, fraction_bits: int = FRACTION_BITS) -> Format:
    """Return the signed format that holds values up to twice the given ones, with at least two bits before the binary
    point.
    """
    greatest = float(np.max(np.abs(np.asarray(values, np.float64)), initial=1.0))
    if not math.isfinite(greatest):
        raise CircuitizeError("expected finite parameters, found one that is not; correct the model")
    return Format.signed(2 + math.frexp(greatest)[1] + fraction_bits, fraction_bits)


def require_names(what: str, given: Mapping[str, object], known: Collection[str]) -> None:
    """Raise CircuitizeError for a name that is not among the known names."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise CircuitizeError(f"{what}: expected names among {sorted(known)}, found {unknown[0]!r}; correct it")


def shape_of(type: Type) -> Shape:
    """Return the shape of a wire of reals. Raise TypingError for a wire of integers."""
    if not isinstance(type, Array):
        raise TypingError(f"expected a wire of reals, found {type}; import the program before it is quantized")
    return type.shape
