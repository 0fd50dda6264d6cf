"""Models: named parameters, and an arrow from parameters and a batch to predictions."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array, Shape, check_shape

from . import functions
from .draws import Draws
from .formats import ONE_HOT, WEIGHTS, Format
from .operands import named
from .provenance import here, part, placed_at, refused
from .tensor import Tensor
from .trace import trace

Initializer = Callable[[np.random.Generator, Shape], NDArray[np.float64]]


def zeros(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Return zeros, as starting values instead of random ones."""
    return np.zeros(shape)


def he_normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Draw normal values with variance 2 / fan-in, where the fan-in is the first extent. `he_normal` is from He et al.,
    arXiv 1502.01852, equation 10.
    """
    return generator.normal(0.0, np.sqrt(2.0 / shape[0]), shape)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An array that is kept from step to step, trained or not: its name, its shape, how it starts, and its exact
    format.

    A `frozen` parameter leaves a step with the value with which it entered; a parameter that is also `apart` does not
    leave the step, and proofs commit to it once. State that is `fresh`, such as the mask of a dropout, is an input of
    every step that is drawn anew, and is no output.
    """

    name: str
    shape: Shape
    initializer: Initializer = he_normal
    format: Format = WEIGHTS
    frozen: bool = False
    fresh: bool = False
    apart: bool = False

    def __post_init__(self) -> None:
        try:
            check_shape(self.shape)
        except TypingError as error:
            raise refused(f"parameter {self.name!r}: {error}") from None
        if not isinstance(self.format, Format):
            raise refused(
                f"parameter {self.name!r}: expected a Format, found {named(self.format)}; "
                "write Format.signed(bits, fraction_bits=...)"
            )

    @property
    def type(self) -> Array:
        """Return the type of a parameter's wire, an array of reals."""
        return Array(self.shape)


@dataclass(frozen=True)
class Model:
    """A network with parameters P, state S and, for each type of batch X, an arrow P x S x X -> Y x S'.

    The parameters of a model are trained; its state, such as running statistics, is an input of a training step whose
    new value is an output, and most models have none. The field `inference` is the arrow P x S x X -> Y of a model that
    has state; without it, predictions outside training are those of `arrow`. The field `kind` names the model inside a
    larger one (`dense` becomes `dense1`, `dense2`); `inputs` is the shape of one example, or None if any shape is
    allowed. The first axis of a batch counts its examples.
    """

    parameters: tuple[Parameter, ...]
    arrow: Callable[[Array], Arrow]
    kind: str
    inputs: Shape | None = None
    state: tuple[Parameter, ...] = ()
    inference: Callable[[Array], Arrow] | None = None

    def batch_type(self, batch: int) -> Array:
        """Return the type of a batch of examples; raise TypingError if the model does not state the shape of an
        example.
        """
        if not isinstance(batch, int) or isinstance(batch, bool) or batch < 1:
            raise refused(
                f"expected a batch of a whole number of examples, at least 1, found {named(batch)}; write batch=16"
            )
        if self.inputs is None:
            raise TypingError(
                f"expected a model that knows the shape of an example, found {self.kind!r} that takes any; "
                "give inputs=(...) to traced, or begin with dense"
            )
        return Array((batch, *self.inputs))

    def initial(self, seed: int | bytes) -> dict[str, NDArray[np.float64]]:
        """Return starting values by name, from one seeded generator in order, parameters first, each the nearest value
        of its format.

        A seed that is given as bytes leads to values that anybody can draw again, whatever the machine and the version
        of numpy.
        """
        return _drawn([p for p in (*self.parameters, *self.state) if not p.fresh], seed)

    def drawn(self, seed: int) -> dict[str, NDArray[np.float64]]:
        """Return the inputs that are fresh in every step, such as masks, by name, from one seeded generator in
        order.
        """
        return _drawn([p for p in self.state if p.fresh], seed)

    def freeze(self, *names: str, apart: bool = False) -> Model:
        """Return the model with the given parameters frozen; raise TypingError for a name that the model does not have.

        With `apart` (for all parameters if no names are given), frozen parameters enter steps and predictions and do
        not leave them, so that proofs commit to them once, whatever the program (docs/tensor.md).
        """
        for name in names:
            self._index(name)
        chosen = {p.name for p in self.parameters} if apart and not names else set(names)
        made = (replace(p, frozen=True, apart=p.apart or apart) if p.name in chosen else p for p in self.parameters)
        return replace(self, parameters=tuple(made))

    def tie(self, name: str, to: str, transposed: bool = False) -> Model:
        """Return the model with one parameter tied to a second one or to its transpose; `name` is then no parameter any
        more.

        The gradient of a tied parameter is added to the gradient of the parameter to which it is tied. Raise
        TypingError if a tied name is no parameter of the model or if shapes differ.
        """
        gone, kept = self._index(name), self._index(to)
        wanted, found = self.parameters[gone].shape, self.parameters[kept].shape
        if gone == kept or wanted != (found[::-1] if transposed else found):
            raise TypingError(
                f"expected another parameter of shape {list(wanted)} for {name!r}, found {to!r} of {list(found)}; "
                "tie parameters of one shape, or transposed"
            )
        rest = tuple(p for p in self.parameters if p.name != name)
        at = [p.name for p in rest].index(to)

        def shared(make: Callable[[Array], Arrow]) -> Callable[[Array], Arrow]:
            def arrow(batch: Array) -> Arrow:
                types = [*(p.type for p in (*rest, *self.state)), batch]
                order = list(range(len(types)))
                order.insert(gone, at)
                wires = [identity(types[i]) for i in order]
                if transposed:
                    wires[gone] = trace(lambda x: x.transpose(), types[at])
                return compose(permute(types, order), tensor(*wires), make(batch))

            return arrow

        other = shared(self.inference) if self.inference is not None else None
        return replace(self, parameters=rest, arrow=shared(self.arrow), inference=other)

    def _index(self, name: str) -> int:
        names = [p.name for p in self.parameters]
        if name not in names:
            raise TypingError(f"expected a parameter among {names}, found {name!r}; name one of these")
        return names.index(name)


def _drawn(parameters: Sequence[Parameter], seed: int | bytes) -> dict[str, NDArray[np.float64]]:
    generator = cast(np.random.Generator, Draws(seed)) if isinstance(seed, bytes) else np.random.default_rng(seed)
    return {p.name: p.format.nearest(p.initializer(generator, p.shape)) for p in parameters}


def traced(
    function: Callable[..., Tensor | Sequence[Tensor]],
    parameters: Sequence[Parameter] = (),
    inputs: Shape | None = None,
    kind: str = "",
    state: Sequence[Parameter] = (),
    inference: Callable[..., Tensor] | None = None,
) -> Model:
    """Return a model written as a Python function of its parameters, in order, its state, and then a batch.

    With state, the Python function of a model returns the prediction and the new state, in order, and `inference`
    returns only the prediction that the model gives outside training. Edges are labelled with the line of the function
    that adds them, or with the caller's line if that function is not the user's.
    """
    ours = (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]
    place = here() if ours else None
    types = [parameter.type for parameter in (*parameters, *state)]

    def arrow_of(chosen: Callable[..., Tensor | Sequence[Tensor]]) -> Callable[[Array], Arrow]:
        def arrow(batch: Array) -> Arrow:
            with placed_at(place):
                return trace(chosen, *types, batch)

        return arrow

    other = arrow_of(inference) if inference is not None else None
    return Model(tuple(parameters), arrow_of(function), kind or function.__name__, inputs, tuple(state), other)


def dense(
    inputs: int, outputs: int, bias: bool = True, format: Format = WEIGHTS, initializer: Initializer = he_normal
) -> Model:
    """Return a dense layer x @ weight + bias, with weight [inputs, outputs] and a bias [outputs] that starts at
    zero.
    """
    parameters = [Parameter("weight", (inputs, outputs), initializer, format)]
    if bias:
        parameters.append(Parameter("bias", (outputs,), zeros, format))

    def affine(weight: Tensor, *rest: Tensor) -> Tensor:
        *offset, x = rest
        product = x @ weight
        return product + offset[0] if offset else product

    return traced(affine, parameters, (inputs,), "dense")


def embedding(count: int, width: int, inputs: Shape = (), format: Format = WEIGHTS) -> Model:
    """Return an embedding layer, which gives a row of a table for each index: whole numbers of shape [B, *inputs] ->
    [B, *inputs, width].

    The parameter of an embedding is table [count, width], whose elements start as standard normal numbers over the
    square root of width. The embedding of an index outside [0, count) is undefined.
    """

    def normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        return generator.normal(0.0, width**-0.5, shape)

    return traced(functions.gather, [Parameter("table", (count, width), normal, format)], inputs, "embedding")


def relu(*given: Tensor) -> Model:
    """Return a layer without parameters: the rectifier max(x, 0), element by element."""
    if given:
        raise refused(
            f"expected relu() without arguments, which is a layer, found {named(given[0])}; "
            "the function of a tensor is relu of circuitize.frontends.functions"
        )
    return traced(functions.relu)


def activation(function: Callable[[Tensor], Tensor], kind: str = "") -> Model:
    """Return a function of one tensor, such as those of `activations` and `functions`, as a model without parameters.

    A circuitize operation is accepted as a function of one tensor, too. Raise TypingError for the class of an
    operation, which is no function of tensors.
    """
    if isinstance(function, type):
        raise TypingError(
            f"expected a function of a tensor, found the class {function.__name__}; write {function.__name__}() for an "
            "operation"
        )
    return traced(function, kind=kind or getattr(function, "__name__", type(function).__name__))


def dropout(rate: float, shape: Shape) -> Model:
    """Return a dropout layer: x / (1 - rate) where the mask is 1, else 0, and x itself outside training. `dropout` is
    from Srivastava et al., JMLR 15, 2014.

    The mask of dropout, 0 and 1 of the given shape for each example, is an input `mask` of every step, after the
    model's state, so that whoever checks the step chooses the mask, or commits to it. `Model.drawn` draws the masks of
    dropout.
    """
    if not 0 <= rate < 1:
        raise TypingError(f"expected a rate of at least 0 and below 1, found {rate}; it is the part that is dropped")

    def mask(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        return (generator.random(shape) >= rate).astype(np.float64)

    def training(mask: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return functions.where(mask, x * (1.0 / (1.0 - rate)), 0.0), mask

    given = Parameter("mask", shape, mask, ONE_HOT, fresh=True)
    return traced(training, (), None, "dropout", [given], lambda mask, x: x)


def gelu(approximate: bool = False) -> Model:
    """Return a layer without parameters: GELU, which is x times the normal distribution function at x, or with
    `approximate` its form with a hyperbolic tangent.
    """
    if not isinstance(approximate, bool):
        raise refused(
            f"expected gelu() or gelu(approximate=True), which is a layer, found {named(approximate)}; "
            "the function of a tensor is gelu of circuitize.frontends.functions"
        )
    return traced(lambda x: functions.gelu(x, approximate), kind="gelu")


def require_model(found: object, where: str) -> None:
    """Raise TypingError, with the user's line, for an object that is no model: most often the function of a layer that
    was not called.
    """
    if not isinstance(found, Model):
        remedy = "give a layer, such as dense(64, 32)"
        if isinstance(found, (list, tuple)):
            remedy = "write sequential(*layers)"
        elif callable(found):
            name = getattr(found, "__name__", "layer")
            own = getattr(found, "__annotations__", {}).get("return") in ("Model", Model)
            arguments = "..." if any(p.default is p.empty and p.kind < 2 for p in _parameters(found)) else ""
            remedy = (
                f"write {name}({arguments})"
                if own
                else (f"write activation({name}), or traced({name}, [Parameter(...), ...]) with parameters")
            )
        raise refused(f"{where}: expected a model, found {named(found)}; {remedy}")


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def sequential(*models: Model) -> Model:
    """Return models composed in sequence: each takes the prediction of the model before it. The parameters of models in
    sequence are named `dense1.weight`: kind, number among the models of that kind, and the parameter's own name.

    Raise TypingError for an object in a sequence of models that is no model.
    """
    if not models:
        raise refused("sequential: expected at least one layer, found none; write sequential(dense(64, 32), relu())")
    for place, model in enumerate(models, 1):
        require_model(model, f"sequential: layer {place}")
    counts = Counter(model.kind for model in models)
    seen: Counter[str] = Counter()
    names = []
    for model in models:
        seen[model.kind] += 1
        numbered = bool(model.parameters or model.state) or counts[model.kind] > 1
        names.append(f"{model.kind}{seen[model.kind]}" if numbered else model.kind)

    def named(groups: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
        pairs = zip(names, groups, strict=True)
        return tuple(replace(p, name=f"{name}.{p.name}") for name, group in pairs for p in group)

    parameters = named([model.parameters for model in models])
    state = named([model.state for model in models])
    inference = None
    if state:

        def inference(batch: Array) -> Arrow:
            return _chain(models, names, batch, [model.inference or model.arrow for model in models], False)

    def arrow(batch: Array) -> Arrow:
        return _chain(models, names, batch, [model.arrow for model in models], True)

    return Model(parameters, arrow, "sequential", models[0].inputs, state, inference)


def _chain(
    models: Sequence[Model], names: list[str], batch: Array, arrows: Sequence[Callable[[Array], Arrow]], renews: bool
) -> Arrow:
    """Return the arrow (P1, .., Pn, S1, .., Sn, X) -> Yn of models in sequence; with `renews` (Yn, S1', .., Sn')."""
    weights = [[p.type for p in model.parameters] for model in models]
    states = [[p.type for p in model.state] for model in models]
    # Each model takes its parameters, its state and what the last one made; what is renewed waits at the end:
    # Pn Sn ... P1 S1 X  ->  Pn Sn ... P2 S2 Y1 S1'  ->  ...  ->  Yn Sn' ... S1'.
    pending = [type for w, s in zip(reversed(weights), reversed(states), strict=True) for type in (*w, *s)]
    stages, passed, done = [_interleave(weights, states, batch)], batch, list[Array]()
    for name, make, w, s in zip(names, arrows, weights, states, strict=True):
        with part(name):
            stage = make(passed)
        del pending[len(pending) - len(w) - len(s) :]
        stages.append(tensor(identity(*pending), stage, identity(*done)))
        target = stage.target[0]
        assert isinstance(target, Array)
        passed, done = target, [*(s if renews else []), *done]
    if done:
        ends = np.cumsum([1, *(len(s) for s in reversed(states))]).tolist()
        order = [at for first, last in zip(ends[-2::-1], ends[:0:-1], strict=True) for at in range(first, last)]
        stages.append(permute([passed, *done], [0, *order]))
    return compose(*stages)


def _interleave(weights: Sequence[Sequence[Array]], states: Sequence[Sequence[Array]], last: Array) -> Arrow:
    """Return the wiring (P1, ..., Pn, S1, ..., Sn, X) -> (Pn, Sn, ..., P1, S1, X)."""
    types = [type for groups in (weights, states) for group in groups for type in group]
    numbered = iter(range(len(types)))
    own, kept = ([[next(numbered) for _ in group] for group in groups] for groups in (weights, states))
    order = [at for w, s in zip(reversed(own), reversed(kept), strict=True) for at in (*w, *s)]
    return permute([*types, last], [*order, len(types)])
