"""The translation of an ONNX node: its kinds of elements are checked, known inputs are folded, and each result gets its
element type and interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.tensor import Tensor

from .channels import ALIKE, turn_of, turned
from .elements import Element, Known, Value
from .folding import DRAWN, FOLDED, folded, is_known
from .node import Made, Node, Result, Translation, UnknownValue
from .schema import Signature
from .sizes import Bounded
from .whole import exact

MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


def translated(node: Node, translation: Translation, chosen: Signature) -> list[Value]:
    """Return the results of an ONNX node, one for each output that it names; they are computed when the graph is read
    if everything that the node reads is known.
    """
    first = chosen.formal(0).variable if chosen.inputs else ""
    for index, value in enumerate(node.inputs):
        if value is not None and chosen.formal(index).variable == first and value.element.kind not in translation.kinds:
            wanted = " or ".join(sorted(NAMES[kind] for kind in translation.kinds))
            raise node.fault(f"expected {wanted}, found {value.element.name}; cast the input")
    try:
        made = _folded(node, translation, chosen)
        results = list(_finished(node, translation, chosen, made))
    except UnknownValue:
        raise
    except CircuitizeError as error:
        text = str(error)
        raise (error if text.startswith(str(node)) else node.fault(text)) from None
    except MISFITS as error:
        found = (str(error).splitlines() or [""])[0]
        raise node.fault(
            f"expected inputs and attributes that fit, found {type(error).__name__}: {found}; correct the node"
        ) from None
    unread = sorted(node.attributes.given - node.attributes.read - translation.ignores)
    if unread:
        raise node.fault(
            f"expected attributes that are understood, found {unread}; leave them out, or see docs/onnx.md"
        )
    return results


NAMES = {"float": "floats", "int": "whole numbers", "bool": "truth values"}


def _folded(node: Node, translation: Translation, chosen: Signature) -> list[Result]:
    """Return the results of an ONNX node's translation, or known arrays if all inputs are known and nothing is too
    large.

    Known arrays come from ONNX's evaluator, which rounds as the element type does, if its results have the shapes of
    the translation's, or if the translation refuses the node, as it may for wires alone.
    """
    large = any(math.prod(value.shape) > FOLDED for value in node.inputs if value)
    if large or not translation.folds or not is_known(node) or node.operator in DRAWN:
        return _turned(node, translation)
    scratch = Bounded()
    own = replace(node, builder=scratch)
    try:
        made = _several(translation.function(own))
    except CircuitizeError:
        # An attribute that ours does not take may be one that no runtime takes.
        theirs = None if node.attributes.given - {"to"} else folded(node)
        if theirs is None:
            raise
        return [Made(value.content, value.element) for value in theirs]
    if scratch.largest > FOLDED:
        return _several(translation.function(node))
    theirs = folded(node)
    if theirs is not None and [value.shape for value in theirs] == [_content(r).shape for r in made[: node.outputs]]:
        return [Made(value.content, value.element) for value in theirs]
    wires = [tensor.wire for tensor in map(_content, made) if isinstance(tensor, Tensor)]
    with np.errstate(all="ignore"):
        computed = iter(evaluate(scratch.build(wires), []))
    return [_with(result, next(computed)) if isinstance(_content(result), Tensor) else result for result in made]


def _turned(node: Node, translation: Translation) -> list[Result]:
    """Return the results of an ONNX node's translation; an elementwise operator on permuted tensors is applied before
    the permutation.
    """
    values = [value for value in node.inputs if value is not None]
    turns = [turn_of(v.content) if isinstance(v.content, Tensor) else None for v in values if math.prod(v.shape) != 1]
    orders = {turn[1] for turn in turns if turn is not None}
    if node.operator not in ALIKE or len(orders) != 1 or None in turns:
        return _several(translation.function(node))
    (order,) = orders
    inputs = []
    for value in node.inputs:
        content = None if value is None else value.content
        turn = turn_of(content) if isinstance(content, Tensor) else None
        if value is not None and turn is not None:
            value = replace(value, content=turn[0])
        inputs.append(value)
    made = _several(translation.function(replace(node, inputs=inputs)))
    contents = [_content(result) for result in made]
    if any(not isinstance(content, Tensor) or content.ndim != len(order) for content in contents):
        return _several(translation.function(node))
    return [
        _with(result, turned(content, order)) if isinstance(content, Tensor) else result
        for result, content in zip(made, contents, strict=True)
    ]


def _several(made: Result | Sequence[Result]) -> list[Result]:
    return [made] if isinstance(made, (Tensor, np.ndarray, Made)) else list(made)


def _content(result: Result) -> Tensor | Known:
    return result.content if isinstance(result, Made) else result


def _with(result: Result, content: Tensor | Known) -> Made:
    return result._replace(content=content) if isinstance(result, Made) else Made(content)


def _finished(node: Node, translation: Translation, chosen: Signature, made: Sequence[Result]) -> Iterator[Value]:
    if len(made) < node.outputs:
        raise node.fault(f"expected at most {len(made)} outputs, found {node.outputs}; leave out the others")
    for index in range(node.outputs):
        result = made[index] if isinstance(made[index], Made) else Made(_content(made[index]))
        assert isinstance(result, Made)
        element = result.element or node.results[index]
        if element is None or element.tensor not in chosen.result(index).types:
            found = "nothing that says it" if element is None else element.name
            raise node.fault(
                f"expected output {index} of a type that the operator has, found {found}; correct the node"
            )
        yield _value(node, translation, chosen, index, result, element)


def _value(node: Node, translation: Translation, chosen: Signature, index: int, made: Made, element: Element) -> Value:
    content = made.content
    if not isinstance(content, Tensor):
        if element.kind != "float" and content.dtype.kind == "f":
            whole = np.rint(content)
            if whole.size and not exact(int(whole.min()), int(whole.max())):
                raise node.fault(
                    "expected whole numbers of at most 2^52 in magnitude, found greater ones; use smaller ones"
                )
            content = whole.astype(element.dtype)
        return Value.of(content, element)
    if element.kind == "float":
        return Value(content, element)
    interval = (0, 1) if element.kind == "bool" else made.interval
    if interval is None and translation.moves:
        variable = chosen.result(index).variable
        alike = [v for i, v in enumerate(node.inputs) if v is not None and chosen.formal(i).variable == variable]
        interval = min([0, *(v.low for v in alike)]), max([0, *(v.high for v in alike)])
    if interval is None:
        raise node.fault(f"expected floats, found {element.name}; cast the inputs")
    return Value(content, element, *interval)
