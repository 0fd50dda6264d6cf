"""A walk that translates the nodes of an ONNX graph in order; functions, and branches whose condition is known, are
expanded in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.frontends.formats import Format
from circuitize.frontends.provenance import part, placed_at

from . import ml
from .bodies import FunctionBody, body_of, own_functions
from .elements import Value
from .folding import folded
from .foreign import domains_of
from .loops import rounds
from .model import CONVERT, attribute, shown
from .node import OPERATORS, Attributes, Node
from .protos import AttributeProto, ModelProto, NodeProto
from .schema import OLDEST, Misfit, Signature, signature
from .scope import Leave, Scope, Step, Turn, called, entered
from .translate import translated

TRAINING = ("Adagrad", "Adam", "Momentum")
HOMES = dict.fromkeys(TRAINING, "ai.onnx.preview.training") | dict.fromkeys(ml.NAMES, ml.DOMAIN)
"""The domain of each operator that does not belong to ONNX's own domain."""
DOMAINS = {"", "ai.onnx.preview", *HOMES.values()}
MOST_NODES = 1 << 18
"""The most nodes of a graph, counted with its functions written out."""


def walk(
    onnx: ModuleType,
    model: ModelProto,
    versions: Mapping[str, int],
    values: dict[str, Value],
    builder: Builder,
    formats: dict[str, Format],
) -> Scope:
    """Translate every node of an ONNX model's graph, starting from the given values; return the scope with all values
    of the graph.

    The argument `formats` states formats for tensors that the nodes of an ONNX graph write under the given names; each
    format is removed once it is used.

    Raise the errors that `arrow` raises.
    """
    graph, own = model.graph, own_functions(onnx, model)
    later = frozenset(name for proto in graph.node for name in proto.output)
    top = Scope(values, versions, later=later, formats=formats)
    nodes = list(enumerate(ml.without_maps(graph.node), 1))
    pending: list[Step | Leave | Turn] = [
        Step(proto, top, place, called(proto, place, "")) for place, proto in reversed(nodes)
    ]
    named, walked = shown(graph.name) or "graph", 0
    while pending:
        step = pending.pop()
        if isinstance(step, Leave):
            for inner, outer in step.results:
                step.outer.write(outer, step.inner.result(inner, step.where), step.where)
            continue
        if isinstance(step, Turn):
            with placed_at((named, step.place)):
                pending += reversed(step.steps())
            continue
        walked += 1
        if walked > MOST_NODES:
            raise FormatError(f"expected at most {MOST_NODES} nodes, functions written out, found more; shorten them")
        with placed_at((named, step.place)), part(shown(step.proto.name) or shown(step.proto.op_type)):
            pending += reversed(_taken(onnx, step, own, builder))
    return top


def _taken(
    onnx: ModuleType, step: Step, own: Mapping[tuple[str, str], FunctionBody], builder: Builder
) -> list[Step | Leave | Turn]:
    """Execute a step: write an ONNX node's results, or return the steps that replace the node."""
    proto, scope, where = step.proto, step.scope, step.where
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    key = (domain, proto.op_type)
    inputs = [scope.read(name, where) for name in proto.input]
    while inputs and inputs[-1] is None:
        inputs.pop()
    if key in own:
        return _opened(onnx, step, own[key], key, inputs)
    if key == ("", "If"):
        return _branch(onnx, step, inputs, builder)
    if key in (("", "Scan"), ("", "Loop")):
        return rounds(onnx, step, inputs, builder, [_attribute(entry, scope) for entry in proto.attribute])
    ours = proto.op_type in OPERATORS and _is_in(domain, proto.op_type)
    chosen = _signature(proto, domain, scope, where) if ours or domain in DOMAINS else None
    given = [_attribute(entry, scope) for entry in proto.attribute]
    if chosen is not None:
        node = _node(onnx, step, [entry for entry in given if entry is not None], chosen, inputs, builder)
        made = translated(node, OPERATORS[proto.op_type], chosen) if ours else folded(node)
        if made is not None:
            for name, result in zip(proto.output, made, strict=True):
                scope.write(name, result, where)
            return []
        body = body_of(onnx, proto, given, chosen.version, scope.versions[domain], inputs)
        if body is not None:
            return _opened(onnx, step, body, key, inputs)
    found = f"{proto.domain}.{proto.op_type}" if proto.domain else proto.op_type
    raise CircuitizeError(f"expected an operator that is understood, found {shown(found)}; see docs/onnx.md")


def _is_in(domain: str, operator: str) -> bool:
    """Return whether the operator of the given name belongs to a domain."""
    return domain == HOMES[operator] if operator in HOMES else domain in domains_of(operator)


def _attribute(entry: AttributeProto, scope: Scope) -> AttributeProto | None:
    """Return an attribute; a function's reference to an attribute is resolved and renamed, and gives None if the
    function was called without that attribute.
    """
    if not entry.ref_attr_name:
        return entry
    if entry.ref_attr_name not in scope.attributes:
        return None if scope.within else entry
    found = type(entry)()
    found.CopyFrom(scope.attributes[entry.ref_attr_name])
    found.name = entry.name
    return found


def _signature(proto: NodeProto, domain: str, scope: Scope, where: str) -> Signature | None:
    """Return the signature of an operator in its opset; None for an operator that is neither translated nor known to
    this opset.
    """
    if domain not in scope.versions:
        raise FormatError(f"{where}: expected an opset of domain {domain!r}, found none; import one")
    version = scope.versions[domain]
    chosen = signature(proto.op_type, version, domain)
    if proto.op_type not in OPERATORS:
        return chosen
    if chosen is None:
        raise FormatError(f"{where}: expected an operator of opset {version}, found none, or one withdrawn; correct it")
    if domain == "" and version < OLDEST and chosen != signature(proto.op_type, OLDEST, domain):
        raise CircuitizeError(f"{where}: expected an opset from {OLDEST} on, found {version}; {CONVERT}")
    return chosen


def _node(
    onnx: ModuleType,
    step: Step,
    attributes: Iterable[AttributeProto],
    chosen: Signature,
    inputs: list[Value | None],
    builder: Builder,
) -> Node:
    proto, scope, where = step.proto, step.scope, step.where
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    version, entries = scope.versions[domain], list(attributes)
    try:
        kinds = onnx.AttributeProto.AttributeType
        chosen.check([(a.name, kinds.Name(a.type) if a.type in kinds.values() else "?") for a in entries])
        results = chosen.bind(inputs, len(proto.output))
    except Misfit as error:
        raise FormatError(f"{where} (opset {version}): {error}") from None
    given = {entry.name: attribute(onnx, entry, where) for entry in entries}
    held = Attributes({**chosen.defaults, **given}, frozenset(given))
    names = [scope.origin(name) for name in proto.input]
    return Node(proto.op_type, proto.name, version, held, names, inputs, results, builder, domain, proto, entries)


def _opened(
    onnx: ModuleType, step: Step, body: FunctionBody, key: tuple[str, str], inputs: list[Value | None]
) -> list[Step | Leave | Turn]:
    """Return the ONNX nodes of a function that is called, followed by the step that ends the function."""
    proto, scope, where = step.proto, step.scope, step.where
    if key in scope.within:
        raise FormatError(f"{where}: expected functions that do not call themselves, found one; unroll it")
    if len(inputs) > len(body.inputs) or len(proto.output) > len(body.outputs):
        raise FormatError(
            f"{where}: expected at most {len(body.inputs)} inputs and {len(body.outputs)} outputs, found "
            f"{len(proto.input)} and {len(proto.output)}; correct the node"
        )
    formal = list(zip(body.inputs, inputs, strict=False))
    missing = list(body.inputs[len(formal) :]) + [name for name, found in formal if found is None]
    values = {name: found for name, found in formal if found is not None}
    attributes = {entry.name: entry for entry in body.defaults}
    for entry in proto.attribute:
        found = _attribute(entry, scope)
        if found is not None:
            attributes[entry.name] = found
    origins = {name: scope.origin(actual) for name, actual in zip(body.inputs, proto.input, strict=False) if actual}
    versions = {**scope.versions, **body.versions}
    inner = Scope(values, versions, None, frozenset(), origins, attributes, scope.within | {key})
    gone = frozenset(missing)
    steps: list[Step | Leave | Turn] = [
        Step(_without(entry, gone), inner, step.place, called(entry, place, f"{where}: "))
        for place, entry in enumerate(body.nodes, 1)
    ]
    results = [(name, outer) for name, outer in zip(body.outputs, proto.output, strict=False) if outer]
    return [*steps, Leave(inner, tuple(results), scope, where)]


def _without(proto: NodeProto, gone: frozenset[str]) -> NodeProto:
    """Return an ONNX node of a function without the inputs that the function's call leaves out."""
    if not gone.intersection(proto.input):
        return proto
    kept = type(proto)()
    kept.CopyFrom(proto)
    for place, name in enumerate(kept.input):
        if name in gone:
            kept.input[place] = ""
    return kept


def _branch(onnx: ModuleType, step: Step, inputs: list[Value | None], builder: Builder) -> list[Step | Leave | Turn]:
    """Return the ONNX nodes of the branch that a known condition takes, followed by the step that ends the branch."""
    proto, scope, where = step.proto, step.scope, step.where
    graphs = {entry.name: entry.g for entry in proto.attribute if entry.type == onnx.AttributeProto.GRAPH}
    if len(inputs) != 1 or inputs[0] is None or set(graphs) != {"then_branch", "else_branch"}:
        raise FormatError(f"{where}: expected a condition and two branches, found others; correct the node")
    condition = Node(
        "If", proto.name, 0, Attributes({}, frozenset()), [scope.origin(proto.input[0])], inputs, [], builder
    )
    graph = graphs["then_branch" if condition.scalar(0, "the condition") else "else_branch"]
    if len(graph.input) or len(graph.output) != len(proto.output):
        raise FormatError(
            f"{where}: expected branches of {len(proto.output)} outputs and no inputs, found others; correct the node"
        )
    inner, steps = entered(onnx, graph, scope, step.place, where, {})
    pairs = [(entry.name, outer) for entry, outer in zip(graph.output, proto.output, strict=True) if outer]
    return [*steps, Leave(inner, tuple(pairs), scope, where)]
