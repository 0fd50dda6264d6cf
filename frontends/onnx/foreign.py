"""The form of operators of other domains, for which ONNX has no schemas: QONNX's and onnxruntime's own operators."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple, TypeAlias

QONNX = frozenset({"qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"})
"""The domains in which exporters write the operators of QONNX."""
MICROSOFT = frozenset({"com.microsoft"})

Default: TypeAlias = "str | float | None"

FLOAT = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
WHOLE = frozenset({"tensor(uint8)", "tensor(int8)", "tensor(uint16)", "tensor(int16)"})
INT32 = frozenset({"tensor(int32)"})


class Form(NamedTuple):
    """The form of an operator: its domains, its inputs (name, type variable, types, whether the input may be left out),
    and its attributes.

    The field `defaults` of a foreign operator's form holds attributes with their defaults, None for an attribute
    without a default; `kinds` says which types the attributes have. The result of a foreign operator has the type of
    `result`: a type variable, or a type that is left open. If `more` is set, the last three inputs of a foreign
    operator may be repeated.
    """

    domains: frozenset[str]
    inputs: tuple[tuple[str, str, frozenset[str], bool], ...]
    defaults: dict[str, Default]
    kinds: dict[str, str] = {}  # noqa: RUF012 - a default that nothing writes to
    result: str = "T"
    more: bool = False


def _quant(*names: str, **defaults: Default) -> Form:
    inputs = tuple((name, "T" if name == "x" else name, FLOAT, False) for name in names)
    return Form(QONNX, inputs, defaults)


SIGNS: dict[str, Default] = {"signed": 1, "narrow": 0}
ROUND, FLOOR = {"rounding_mode": "ROUND"}, {"rounding_mode": "FLOOR"}
QUANT = ("x", "scale", "zeropt", "bitwidth")
TRUNCS = (
    _quant("x", "scale", "zeropt", "in_bitwidth", "out_bitwidth", **FLOOR),
    _quant("x", "scale", "zeropt", "in_bitwidth", "out_scale", "out_bitwidth", **SIGNS, **FLOOR),
)
"""The form of QONNX's operators in version 1, and the form from version 2 on."""


def _triple(name: str, variable: str = "T") -> tuple[tuple[str, str, frozenset[str], bool], ...]:
    """Return a quantized input as three inputs: whole numbers, their scale, their zero point."""
    return (name, variable, WHOLE, False), (f"{name}_scale", "F", FLOAT, False), (f"{name}_zero", variable, WHOLE, True)


RESULT = (("y_scale", "F", FLOAT, False), ("y_zero", "T", WHOLE, True))
POOL: dict[str, Default] = {"ceil_mode": 0, "auto_pad": "NOTSET", "count_include_pad": 0, "channels_last": 0}
LISTS = {"kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}
FACTORS = (*_triple("a", "A"), *_triple("b", "B"), ("c", "C", INT32, True))

FORMS: MappingProxyType[str, Form] = MappingProxyType(
    {
        "Quant": _quant(*QUANT, **SIGNS, **ROUND),
        "IntQuant": _quant(*QUANT, **SIGNS, **ROUND),
        "BipolarQuant": _quant("x", "scale"),
        "Trunc": TRUNCS[0],
        "QGemm": Form(
            MICROSOFT,
            (*FACTORS, ("y_scale", "F", FLOAT, True), ("y_zero", "Y", WHOLE, True)),
            {"alpha": 1.0, "transA": 0, "transB": 0},
            {"alpha": "FLOAT"},
            result="",
        ),
        "QLinearAdd": Form(MICROSOFT, (*_triple("a"), *_triple("b"), *RESULT), {}),
        "QLinearAveragePool": Form(MICROSOFT, (*_triple("x"), *RESULT), POOL | dict.fromkeys(LISTS), LISTS),
        "QLinearConcat": Form(MICROSOFT, (*RESULT, *_triple("x")), {"axis": None}, more=True),
        "QLinearGlobalAveragePool": Form(MICROSOFT, (*_triple("x"), *RESULT), {"channels_last": 0}),
        "QLinearLeakyRelu": Form(MICROSOFT, (*_triple("x"), *RESULT), {"alpha": 0.01}, {"alpha": "FLOAT"}),
        "QLinearMul": Form(MICROSOFT, (*_triple("a"), *_triple("b"), *RESULT), {}),
        "QLinearSigmoid": Form(MICROSOFT, (*_triple("x"), *RESULT), {}),
    }
)


def form(operator: str, version: int, domain: str) -> Form | None:
    """Return the form of an operator in a domain in a given version; None for an operator that is not read."""
    found = TRUNCS[version >= 2] if operator == "Trunc" else FORMS.get(operator)
    return found if found is not None and domain in found.domains else None


def domains_of(operator: str) -> frozenset[str]:
    """Return the domains, other than ONNX's own, that have an operator with the ONNX node's name."""
    if operator in ("QuantizeLinear", "DequantizeLinear"):
        return MICROSOFT | {""}
    return FORMS[operator].domains if operator in FORMS else frozenset({""})
