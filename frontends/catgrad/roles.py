"""The roles of catgrad objects: which is a model, which an optimiser, which a loss; a training step takes the three in
this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TypeGuard

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate

from .diagrams import arrow
from .installed import module
from .objects import OpenHypergraph

ORDER = "(model, optimizer, loss), such as (model, sgd(0.01), mse)"


class Kind(Enum):
    """The kind of a catgrad object: a model, an optimiser or a loss."""

    MODEL = "a model"
    OPTIMIZER = "an optimiser"
    LOSS = "a loss"


def is_diagram(found: object) -> TypeGuard[OpenHypergraph]:
    """Return whether an object is an open hypergraph of catgrad, also if catgrad is not installed."""
    return any(kind.__module__.startswith("open_hypergraphs.") for kind in type(found).__mro__)


def require_three(found: Sequence[object]) -> None:
    """Raise CircuitizeError unless a tuple that has a catgrad diagram in it has three entries, the first of which is a
    diagram.
    """
    if len(found) != 3 or not is_diagram(found[0]):
        places = ", ".join(f"{_described(entry)} at place {place}" for place, entry in enumerate(found, 1))
        raise CircuitizeError(f"expected {ORDER}, found {places}; write them in this order")


def require_roles(optimizer: object, parameters: object, loss: object, predictions: object) -> None:
    """Raise CircuitizeError unless two lenses are an optimiser of the parameters and a loss of the predictions.

    An optimiser and a loss are lenses of the same types, so types do not tell them apart; those of catgrad itself are
    recognised by their operations. Lenses that are not catgrad's own are tried on numbers: an optimiser leaves a
    parameter unchanged if its gradient is zero; a loss does not leave predictions unchanged, but its gradient vanishes
    where predictions equal their targets. A lens that behaves neither like an optimiser nor like a loss, such as an
    optimiser with weight decay, is taken to be what its place in the tuple says.
    """
    chosen = _lens("optimizer", optimizer, parameters), _lens("loss", loss, predictions)
    known = tuple(_known(lens) for lens in chosen)
    exchanged = known[0] is Kind.LOSS or known[1] is Kind.OPTIMIZER
    if not exchanged and None in known:
        tried = tuple(name or _tried(lens) for name, lens in zip(known, chosen, strict=True))
        exchanged, known = tried[1] is Kind.OPTIMIZER and tried[0] is not Kind.OPTIMIZER, tried
    if exchanged:
        names = [
            f"{_operations(lens)}{f', {kind.value},' if kind else ''} as {word}"
            for lens, kind, word in zip(chosen, known, ("optimizer", "loss"), strict=True)
        ]
        raise CircuitizeError(f"expected {ORDER}, found {' and '.join(names)}; exchange them, or give the missing one")


def _lens(word: str, given: object, types: object) -> OpenHypergraph:
    """Return the lens that an optimiser or a loss makes from types; raise CircuitizeError unless the lens is a diagram
    from the given types to the given types.
    """
    place = 2 if word == "optimizer" else 3
    remedy = f"expected {ORDER}, found at place {place}"
    if is_diagram(given) or not callable(given):
        raise CircuitizeError(f"{remedy} {_described(given)}; give a function of types, such as catgrad's own")
    try:
        made = given(types)
    except Exception as error:
        raise CircuitizeError(
            f"{remedy} {_described(given)}, which fails on types ({type(error).__name__}: {error}); "
            "give a function of types, such as catgrad's own"
        ) from None
    if not is_diagram(made):
        raise CircuitizeError(
            f"{remedy} {_described(given)}, which makes {type(made).__name__} of types; does it want its arguments, "
            "as sgd(0.01) does?"
        )
    if made.source != types or made.target != types:
        raise CircuitizeError(f"{remedy} {_described(given)}, which changes the types; it must keep them")
    return made


def _known(lens: OpenHypergraph) -> Kind | None:
    """Return the kind of a lens, as the operations of catgrad in it show it, or None if they show none."""
    own = module("catgrad.bidirectional.operation")
    kinds = {type(operation) for operation in lens.H.x.table}
    return Kind.OPTIMIZER if own.SGD in kinds else Kind.LOSS if own.MSE in kinds else None


def _tried(lens: OpenHypergraph) -> Kind | None:
    """Return the kind of a lens, as its reverse shows it when tried on numbers, or None if it shows none."""
    both = module("catgrad.bidirectional.functor").Bidirectional()
    try:
        reverse = arrow(both.adapt(both(lens), lens.source, lens.target))
    except Exception:
        return None  # What cannot be translated is said where the step is.
    generator = np.random.default_rng(0)
    drawn = [generator.uniform(0.25, 0.75, type.shape) for type in reverse.source[: len(lens.source)]]
    with np.errstate(all="ignore"):
        at_target = evaluate(reverse, [*drawn, *drawn])[len(drawn) :]
        without = evaluate(reverse, [*drawn, *(np.zeros_like(values) for values in drawn)])[len(drawn) :]
    if all(np.allclose(values, 0.0) for values in at_target):
        return Kind.LOSS
    return Kind.OPTIMIZER if all(map(np.allclose, without, drawn)) else None


def _operations(lens: OpenHypergraph) -> str:
    return " and ".join(dict.fromkeys(type(operation).__name__ for operation in lens.H.x.table)) or "an identity"


def _described(found: object) -> str:
    if is_diagram(found):
        return f"{Kind.MODEL.value} (a diagram)"
    return f"the function {found.__name__}" if callable(found) and hasattr(found, "__name__") else type(found).__name__
