"""Programs of polygrad and tinygrad, from given tensors, forward passes of models, and whole steps, which are traced
once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MethodType

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.imported import Imported, Reals

from .graph import Graph
from .objects import Tensor, U
from .system import System
from .translate import translated


def taken(
    system: System[U],
    source: object,
    examples: Sequence[object],
    inputs: Mapping[str, object] | None,
    state: object,
    constant: Collection[str] = (),
) -> Imported:
    """Return a program from tensors, or from a function of example tensors; `constant` names the state that is no input
    of the program.
    """
    if isinstance(source, Mapping) or system.is_tensor(source) or isinstance(source, (list, tuple)):
        if examples:
            raise CircuitizeError(
                f"{system.name}: expected tensors and their inputs by name, found examples beside them; "
                "write inputs={'x': x}"
            )
        return _of_tensors(system, _named(system, source), dict(inputs or {}), system.names(state)[0])
    function = _function(system, source)
    if not callable(function):
        raise CircuitizeError(
            f"{system.name}: expected tensors, a function or a model, found {type(source).__name__}; "
            "give what computes the outputs"
        )
    if inputs:
        raise CircuitizeError(
            f"{system.name}: expected a function's inputs as examples in order, found inputs by name; leave out inputs="
        )
    return _of_function(system, function, examples, state, constant)


def _function(system: System[U], source: object) -> object:
    """Return the function inside a compiled function, or a compiled method's function with its object."""
    compiled: object = getattr(getattr(source, "func", None), "__self__", None)
    known = isinstance(compiled, tuple(system.compiled()))
    if isinstance(source, partial) and known and callable(compiled) and len(source.args) == 1:
        return MethodType(system.unwrapped(compiled), source.args[0])
    return system.unwrapped(source)


def _of_tensors(
    system: System[U], outputs: Mapping[str, Tensor[U]], inputs: Mapping[str, object], state: Mapping[str, Tensor[U]]
) -> Imported:
    given: dict[str, Tensor[U]] = {}
    for name, tensor in inputs.items():
        if not system.is_tensor(tensor):
            raise CircuitizeError(f"{name}: expected a tensor, found {type(tensor).__name__}; give the tensor itself")
        given[name] = tensor
    _require_apart(state, given, "a parameter")
    kept = {name: values_of(system, tensor) for name, tensor in state.items()}
    entering = {**state, **given}
    graph = system.graph([tensor.uop for tensor in outputs.values()], system.cuts(entering))
    return imported(system, graph, list(outputs), shapes_of(entering), kept)


def _of_function(
    system: System[U],
    function: Callable[..., object],
    examples: Sequence[object],
    state: object,
    constant: Collection[str],
) -> Imported:
    """Return the program of a function that is applied to fresh tensors, with the state that the function changes.
    After tracing, every tensor gets back the graph and the gradient that it had before.
    """
    names, own = system.names([getattr(function, "__self__", function), state])
    given = dict(zip(_parameters(function, len(examples)), map(system.fresh, examples), strict=True))
    _require_apart(names, given, "a parameter")
    kept = {name: values_of(system, tensor) for name, tensor in names.items()}
    before = {id(tensor): (tensor, tensor.uop, system.saved(tensor)) for tensor in system.live()}
    cuts, shapes = system.cuts({**names, **given}), shapes_of({**names, **given})
    try:
        with system.deferred():
            made = function(*given.values())
            outputs = {} if made is None else _named(system, made)
            changed = {
                name: tensor for name, tensor in names.items() if not system.same(tensor.uop, before[id(tensor)][1])
            }
            _require_named(system, before, names)
            changed = {name: tensor for name, tensor in changed.items() if name not in constant}
            constants = {*constant, *(own - set(changed))}
            roots = [tensor.uop for tensor in (*changed.values(), *outputs.values())]
            graph = system.graph(roots, cuts.without(constants))
    finally:
        for _, _, restore in before.values():
            restore()
    if not changed and not outputs:
        raise CircuitizeError(
            f"{system.name}: expected a function that returns tensors, found None; return the outputs"
        )
    _require_apart(changed, outputs, "an output")
    entering = {name: shape for name, shape in shapes.items() if name not in constants}
    return imported(system, graph, [*changed, *outputs], entering, kept)


def imported(
    system: System[U],
    graph: Graph[U],
    outputs: Sequence[str],
    entering: Mapping[str, Shape],
    kept: Mapping[str, Reals],
    leaving: Sequence[Shape] | None = None,
) -> Imported:
    """Return the program of a graph of UOps, without the parameters that the graph does not read. The argument
    `leaving` gives the shapes of a program's outputs, if they differ from the graph's.
    """
    read = {port.name for port in graph.ports.values()}
    shapes = {name: shape for name, shape in entering.items() if name in read or name not in kept}
    arrow = translated(graph, shapes, lambda place: system.elements(graph.keys[place]), system.name, leaving)
    return Imported(arrow, tuple(shapes), tuple(outputs), {name: kept[name] for name in shapes if name in kept})


def _parameters(function: Callable[..., object], count: int) -> list[str]:
    """Return the names of a function's first parameters."""
    try:
        found = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
        ]
    except (TypeError, ValueError):
        found = []
    names = [p.name for p in found if p.kind is not p.VAR_POSITIONAL]
    more = [f"x{place + 1}" for place in range(len(names), count)] if len(names) < len(found) or not found else []
    needed = [p.name for p in found if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    if not len(needed) <= count <= len(names) + len(more):
        raise CircuitizeError(
            f"function: expected an example for each of {needed or names}, found {count}; give from_ all its arguments"
        )
    return [*names, *more][:count]


def _named(system: System[U], made: object) -> dict[str, Tensor[U]]:
    """Return the output tensors of a traced function by name."""
    named: dict[str, object]
    if isinstance(made, Mapping):
        named = {str(name): tensor for name, tensor in made.items()}
    elif isinstance(made, (list, tuple)):
        named = {f"output{place + 1}": tensor for place, tensor in enumerate(made)}
    else:
        named = {"output": made}
    tensors = {}
    for name, tensor in named.items():
        if not system.is_tensor(tensor):
            raise CircuitizeError(
                f"{name}: expected a tensor, found {type(tensor).__name__}; return tensors, read them later"
            )
        tensors[name] = tensor
    return tensors


def _require_named(
    system: System[U], before: Mapping[int, tuple[Tensor[U], U, object]], names: Mapping[str, Tensor[U]]
) -> None:
    """Raise CircuitizeError if the traced function assigned to a tensor without a name."""
    # Other variables may hold the same tensor, and others again, as gradients, read it; only one assigned to counts.
    known = {before[id(tensor)][1] for tensor in names.values()}
    for tensor, uop, _ in before.values():
        if uop in known or system.same(tensor.uop, uop) or system.operation(tensor.uop) != "AFTER":
            continue
        if system.same(system.sources(tensor.uop)[0], uop):
            raise CircuitizeError(
                f"step: expected changes of named tensors, found one of shape {list(tensor.shape)} without a name; "
                "give what holds it, as state=[model, optimizer]"
            )


def _require_apart(names: Collection[str], others: Collection[str], what: str) -> None:
    both = sorted(set(names) & set(others))
    if both:
        raise CircuitizeError(f"{both[0]}: expected a name once, found {what} of this name too; rename one")


def shapes_of(tensors: Mapping[str, Tensor[U]]) -> dict[str, Shape]:
    """Return the shapes of tensors by name."""
    return {name: tuple(map(int, tensor.shape)) for name, tensor in tensors.items()}


def values_of(system: System[U], tensor: Tensor[U]) -> Reals:
    """Return the elements of a tensor in float64, after tinygrad or polygrad has computed them."""
    return np.asarray(tensor.numpy(), np.float64).reshape(tuple(map(int, tensor.shape)))
