"""Graphs of torch.export as arrows of the real array language."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, FormatError, TypingError, excerpt, restated
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.reading import Json
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.imported import Imported, Reals
from circuitize.frontends.provenance import here, part, placed_at
from circuitize.frontends.tensor import Tensor

from .archive import Archive, read, sizes
from .node import RULES, Known, Made, Rule, arguments, bind, bounded

PREFIX = "torch.ops.aten."
MOST_KNOWN = 1 << 24
"""The most elements of a constant that follows from the graph alone."""

Value = Tensor | Known


def arrow(source: str | Path | bytes) -> Imported:
    """Return the program in an archive file that torch.export.save wrote, with concrete shapes.

    Parameters and buffers of floats in an archive become inputs with their names in the module and with their values;
    tied parameters become one input. Minus infinity, which masks contain, is replaced by -64. Raise FormatError for a
    file that is no torch archive, and CircuitizeError for an operator that is not read.
    """
    return program(source)[0]


def program(source: str | Path | bytes) -> tuple[Imported, tuple[str, ...]]:
    """Return the program in a torch archive, and which of its inputs are buffers, such as running statistics, which
    are not trained.
    """
    archive = read(source)
    try:
        with placed_at(here()):
            reader = _Reader(archive)
            return reader.imported(), tuple(reader.buffers)
    except CircuitizeError as error:
        told = str(error)
        raise restated(error, told if told.startswith(archive.where) else f"{archive.where}: {told}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        told = " ".join(str(error).split())[:120]
        raise FormatError(
            f"{archive.where}: expected a graph of torch.export, found another ({type(error).__name__}: {told}); "
            "save it again"
        ) from None


class _Reader:
    """A reader that goes through a graph once, node by node."""

    def __init__(self, archive: Archive) -> None:
        rules()
        self.archive, self.builder = archive, Builder()
        self.values: dict[str, Value] = {}
        self.inputs: dict[str, Shape] = {}
        self.parameters: dict[str, Reals] = {}
        self.buffers: list[str] = []
        self.types: Mapping[str, Json] = archive.graph["tensor_values"]

    def imported(self) -> Imported:
        graph, signature = self.archive.graph, self.archive.signature
        shared: dict[tuple[object, ...], str] = {}
        for spec in signature["input_specs"]:
            ((kind, given),) = spec.items()
            self._input(kind, given, shared)
        for node in graph["nodes"]:
            self._node(node)
        outputs = []
        for spec in signature["output_specs"]:
            ((kind, given),) = spec.items()
            if kind != "user_output" or "as_tensor" not in given["arg"]:
                raise CircuitizeError(f"expected outputs that are tensors, found {excerpt(kind)}; return tensors alone")
            outputs.append(given["arg"]["as_tensor"]["name"])
        wires = [self._tensor(name).wire for name in outputs]
        names = outputs if len(set(outputs)) == len(outputs) else [f"{name}.{n}" for n, name in enumerate(outputs, 1)]
        # An output by the name of an input would be what renews it.
        named = tuple(f"{name}.output" if name in self.inputs else name for name in names)
        return Imported(self.builder.build(wires), tuple(self.inputs), named, self.parameters)

    def _input(self, kind: str, given: Json, shared: dict[tuple[object, ...], str]) -> None:
        if kind == "user_input":
            if "as_tensor" not in given["arg"]:
                return  # A number, which the graph holds where it is read.
            name = given["arg"]["as_tensor"]["name"]
            self.values[name] = self._enter(name, self._shape(name))
            return
        field = {"parameter": "parameter_name", "buffer": "buffer_name", "tensor_constant": "tensor_constant_name"}
        if kind not in field:
            raise CircuitizeError(f"expected parameters, buffers and tensors, found {excerpt(kind)}; leave it out")
        name, wire = given[field[kind]], given["arg"]["name"]
        stored = self.archive.tensors.get(name)
        if stored is None:
            raise FormatError(f"expected a tensor for {excerpt(name)}, found none; save it again")
        if stored.values.shape != self._shape(wire):
            raise FormatError(f"tensor {excerpt(name)}: expected the shape of its wire, found another; save it again")
        values = stored.values.astype(np.float64)
        if kind == "tensor_constant" or stored.values.dtype.kind != "f":
            self.values[wire] = np.where(values < -1e30, bounded(-np.inf), values)
        elif stored.place in shared:
            self.values[wire] = self.values[shared[stored.place]]
        else:
            shared[stored.place] = wire
            self.values[wire] = self._enter(name, values.shape)
            self.parameters[name] = values
            if kind == "buffer":
                self.buffers.append(name)

    def _enter(self, name: str, shape: Shape) -> Tensor:
        if name in self.inputs:
            raise FormatError(f"expected one input of name {excerpt(name)}, found two; rename it")
        self.inputs[name] = shape
        return Tensor(self.builder, self.builder.input(Array(shape)))

    def _shape(self, name: str) -> Shape:
        try:
            return sizes(self.types[name]["sizes"])
        except ValueError as error:
            raise CircuitizeError(f"{excerpt(name)}: {error}") from None

    def _value(self, name: str) -> Value:
        if name not in self.values:
            raise CircuitizeError(f"expected a tensor that is read here, found {excerpt(name)}; only its first is made")
        return self.values[name]

    def _tensor(self, name: str) -> Tensor:
        found = self._value(name)
        if isinstance(found, Tensor):
            return found
        if len(self.inputs) == 0:
            raise CircuitizeError("expected an output that depends on an input, found none; export another function")
        return self._constant(found)

    def _constant(self, value: Known) -> Tensor:
        return Tensor(self.builder, 0).constant(value)

    def _lifted(self, value: object) -> object:
        """Return known numbers, and those of a list, as constants of the trace; any other value unchanged."""
        if isinstance(value, list):
            return [self._lifted(one) for one in value]
        return self._constant(value) if isinstance(value, np.ndarray) else value

    def _node(self, node: Json) -> None:
        target = str(node["target"])
        name = target.removeprefix(PREFIX).removesuffix(".default")
        rule = RULES.get(name)
        if rule is None:
            raise CircuitizeError(
                f"expected an operator of the list in docs/torch.md, found {excerpt(target)}; "
                "export with run_decompositions(), or write the module with others"
            )
        outputs = [entry for output in node["outputs"] for entry in _names(output)]
        label = outputs[0] if outputs else name
        try:
            with part(f"{label} ({name})"):
                given = arguments(node["inputs"], self._value)
                bind(rule, given)
                made = self._made(rule, given)
        except CircuitizeError as error:
            raise restated(error, f"node {excerpt(label)} ({name}): {error}") from None
        results = [made] if isinstance(made, (Tensor, np.ndarray)) else list(made)
        for output, result in zip(outputs, results, strict=False):
            shape = self._shape(output)
            if tuple(result.shape) != shape:
                raise TypingError(
                    f"node {excerpt(label)} ({name}): expected shape {list(shape)}, found {list(result.shape)}; "
                    "this form of it is not read"
                )
            self.values[output] = result

    def _made(self, rule: Rule, given: Mapping[str, object]) -> Made:
        """Return the result of a translation rule, which is known if all operands are known."""
        flat = [v for value in given.values() for v in (value if isinstance(value, list) else [value])]
        known = [value for value in flat if isinstance(value, np.ndarray)]
        if any(isinstance(value, Tensor) for value in flat) or not known:
            if getattr(rule, "takes_known", False) or not known:
                return rule(**given)
            return rule(**{name: self._lifted(value) for name, value in given.items()})
        if sum(value.size for value in known) > MOST_KNOWN:
            raise CircuitizeError(f"expected at most {MOST_KNOWN} known numbers, found more; make them an input")
        return _folded(rule, given)


def _folded(rule: Rule, given: Mapping[str, object]) -> Made:
    """Return the value that a translation rule gives on known numbers: the rule is traced on inputs of their shapes,
    and the trace is run.
    """
    builder, inputs = Builder(), list[Known]()

    def entered(value: object) -> object:
        if isinstance(value, list):
            return [entered(entry) for entry in value]
        if not isinstance(value, np.ndarray):
            return value
        inputs.append(value)
        return Tensor(builder, builder.input(Array(value.shape)))

    made = rule(**{name: entered(value) for name, value in given.items()})
    if isinstance(made, np.ndarray):
        return made
    results = [made] if isinstance(made, Tensor) else list(made)
    wires = [(one if isinstance(one, Tensor) else Tensor(builder, 0).constant(one)).wire for one in results]
    with np.errstate(all="ignore"):  # What is not finite is refused where it is read.
        found = evaluate(builder.build(wires), inputs)
    return np.asarray(found[0], np.float64) if isinstance(made, Tensor) else [np.asarray(one) for one in found]


def _names(output: Json) -> list[str]:
    ((kind, given),) = output.items()
    if kind == "as_tensor":
        return [given["name"]]
    return [entry["name"] for entry in given] if kind == "as_tensors" else []


def rules() -> Mapping[str, Rule]:
    """Return the translation rules by ATen's operators, which the modules of this folder define."""
    package = import_module(__package__ or "")
    for module in iter_modules(package.__path__):
        import_module(f".{module.name}", package.__name__)
    return RULES
