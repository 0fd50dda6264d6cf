"""ONNX's own schemas of operators in each opset: inputs, element types, attributes, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .elements import NAMED, Element, Value
from .foreign import MICROSOFT, QONNX, form
from .protos import FormalParameter

CONTRIBUTED = 21
"""The opset of ONNX by which onnxruntime's own QuantizeLinear and DequantizeLinear are read."""
OLDEST = 7
"""The first opset all of whose operators are read: of older opsets only operators that are unchanged in this one are
read.
"""


KEPT = ("GroupNormalization",)
"""Operators that are read in opsets that have withdrawn them, because files hold them all the same."""


class Misfit(Exception):
    """The error for an ONNX node that does not fit its operator's schema."""


@dataclass(frozen=True)
class Formal:
    """A formal input or output of an operator: its name, its type variable, the types allowed, and how often it may
    occur.
    """

    name: str
    variable: str
    types: frozenset[str]
    option: str
    homogeneous: bool


@dataclass(frozen=True)
class Signature:
    """An ONNX operator as one opset defines it."""

    version: int
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    least: int
    most: int
    least_outputs: int
    most_outputs: int
    attributes: dict[str, tuple[str, bool]]
    defaults: dict[str, object]

    def formal(self, index: int) -> Formal:
        """Return what an operator's schema says of an input; the schema's last input may stand for any number of
        further inputs.
        """
        return self.inputs[min(index, len(self.inputs) - 1)]

    def result(self, index: int) -> Formal:
        """Return what an operator's schema says of an output; the schema's last output may stand for any number of
        further outputs.
        """
        return self.outputs[min(index, len(self.outputs) - 1)]

    def bind(self, values: Sequence[Value | None], outputs: int) -> list[Element | None]:
        """Return the element types of an operator's results, None if attributes decide. Raise Misfit if the values do
        not fit the schema of an ONNX operator.
        """
        if not self.least <= len(values) <= self.most:
            raise Misfit(f"expected {_range(self.least, self.most)} inputs, found {len(values)}; correct the node")
        if not self.least_outputs <= outputs <= self.most_outputs:
            wanted = _range(self.least_outputs, self.most_outputs)
            raise Misfit(f"expected {wanted} outputs, found {outputs}; correct the node")
        bound: dict[str, Element] = {}
        for index, value in enumerate(values):
            formal = self.formal(index)
            if value is None:
                if formal.option != "Optional":
                    raise Misfit(f"expected an input {formal.name!r}, found none; name it")
                continue
            if value.element.tensor not in formal.types:
                raise Misfit(f"expected input {formal.name!r} {_of(formal)}, found {value.element.name}; cast it")
            first = bound.setdefault(formal.variable, value.element)
            if first != value.element and formal.homogeneous:
                raise Misfit(f"expected inputs of one type, found {first.name} and {value.element.name}; cast one")
        return [self._result(self.result(index), bound) for index in range(outputs)]

    def _result(self, formal: Formal, bound: dict[str, Element]) -> Element | None:
        found = bound.get(formal.variable)
        if found is None and len(formal.types) == 1:
            found = NAMED.get(next(iter(formal.types)))
        return found

    def check(self, kinds: Sequence[tuple[str, str]]) -> None:
        """Raise Misfit if an attribute of an ONNX node is unknown, of the wrong kind, given twice, or missing."""
        names = [name for name, _ in kinds]
        for name, kind in kinds:
            if name not in self.attributes:
                raise Misfit(f"expected attributes {sorted(self.attributes)}, found {name!r}; correct the node")
            if kind != self.attributes[name][0] or names.count(name) > 1:
                wanted = self.attributes[name][0]
                raise Misfit(f"expected one attribute {name!r}, of kind {wanted}, found {kind}; correct the node")
        for name, (_, required) in self.attributes.items():
            if required and name not in names:
                raise Misfit(f"expected an attribute {name!r}, found none; give it")


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}" if most < 1 << 30 else f"at least {least}"


def _of(formal: Formal) -> str:
    return "of " + ", ".join(sorted(name.removeprefix("tensor(").removesuffix(")") for name in formal.types))


@lru_cache(maxsize=4096)
def signature(operator: str, opset: int, domain: str) -> Signature | None:
    """Return the signature of an ONNX operator in an opset; None if the opset never had the operator, or has withdrawn
    it.
    """
    if domain in MICROSOFT and operator in ("QuantizeLinear", "DequantizeLinear"):
        return signature(operator, CONTRIBUTED, "")
    if domain in QONNX | MICROSOFT:
        return foreign(operator, opset, domain)
    import onnx

    try:
        schema = onnx.defs.get_schema(operator, opset, domain)
    except onnx.defs.SchemaError:
        return None
    if schema.deprecated and operator not in KEPT:
        return None
    defaults = {
        name: _plain(onnx.helper.get_attribute_value(attribute.default_value))
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
    return Signature(
        schema.since_version,
        tuple(map(_formal, schema.inputs)),
        tuple(map(_formal, schema.outputs)),
        schema.min_input,
        schema.max_input,
        schema.min_output,
        schema.max_output,
        {
            name: (str(attribute.type).rpartition(".")[2], attribute.required)
            for name, attribute in schema.attributes.items()
        },
        defaults,
    )


def _plain(given: object) -> object:
    return given.decode() if isinstance(given, bytes) else given


def _formal(given: FormalParameter) -> Formal:
    option = str(given.option).rpartition(".")[2]
    return Formal(given.name, given.type_str, frozenset(given.types), option, given.is_homogeneous)


def foreign(operator: str, opset: int, domain: str) -> Signature | None:
    """Return the signature of an operator of another domain than ONNX's; None for an operator that is not read."""
    found = form(operator, opset, domain)
    if found is None:
        return None
    inputs = tuple(
        Formal(name, variable, types, "Optional" if may_lack else "Single", True)
        for name, variable, types, may_lack in found.inputs
    )
    least = max((place for place, formal in enumerate(inputs, 1) if formal.option == "Single"), default=0)
    most = len(inputs)
    if found.more:
        # The last inputs come again, in turn: no variable says what they are.
        types = frozenset().union(*(formal.types for formal in inputs[-3:]))
        inputs, most = (*inputs[:-3], Formal("inputs", "more", types, "Single", False)), 1 << 30
    every = frozenset().union(*(types for _, _, types, _ in found.inputs))
    made = (Formal("y", found.result, every, "Single", True),)
    kinds = {name: (found.kinds.get(name) or _kind(value), False) for name, value in found.defaults.items()}
    stated: dict[str, object] = {name: value for name, value in found.defaults.items() if value is not None}
    return Signature(opset, inputs, made, least, most, 1, 1, kinds, stated)


def _kind(default: object) -> str:
    return "STRING" if isinstance(default, str) else "INT"
