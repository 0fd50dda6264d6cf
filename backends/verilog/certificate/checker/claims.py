"""The claims that are shown of a design: that its Verilog computes a statement, module by module, and by which method
each module was shown.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from .bits import Bits
from .edges import Json, Stated
from .evaluation import Evaluation
from .forms import Form, Key
from .pipeline import Core, show_core
from .reading import read
from .refusal import Refused
from .shell import show_shell
from .statement import stated
from .streams import require_name
from .symbols import Symbols

T = TypeVar("T")
FORMAT = "circuitize certificate of a parallel design, 1"
CORE = "parallel"
"""The name of the module inside the shell is that of the top module followed by `_parallel`."""

METHODS = {
    "floor": "floors of linear forms",
    "step": "comparisons of linear forms",
    "bit": "comparisons of linear forms",
    "decision": "decision diagrams",
    "table": "every value of a linear form",
    "gate": "choices",
    "product": "products of linear forms",
    "check": "checks",
    "clamp": "clamps of linear forms",
}
"""The methods beside linear forms by which a module is shown, by the kind of symbol that it makes."""


def shown(files: Mapping[str, str], top: str, elements: str, streams: Json, statement: Json) -> Json:
    """Return the claims that are shown of the texts of a design: the certificate's `stages`, `tabulated` and `modules`.

    `files` are all files of the folder `rtl`, by name. Raise Refused if any part of a design is not shown.
    """
    for name in (*streams["inputs"], *streams["outputs"]):
        require_name(name)
    modules = {}
    for name in sorted(files):
        if name.endswith(".v"):
            module = read(files[name], name)
            if module.name in modules or f"{module.name}.v" != name:
                raise Refused(f"{name}: expected one module of the file's name, found {module.name}")
            modules[module.name] = module
    for name in files:
        if not name.endswith((".v", ".hex")):
            raise Refused(f"{name}: expected modules and memories, found another file")
    memories = {name: text for name, text in files.items() if name.endswith(".hex")}
    symbols, core = Symbols(), f"{top}_{CORE}"
    made = stated(statement, symbols)
    outside = show_shell(modules, top, core, statement, streams, elements)
    inside = show_core(modules, core, memories, statement, streams, made, symbols)
    placed = {*outside.circuit.placed.values(), *inside.evaluation.circuit.placed.values()}
    loaded = {*inside.evaluation.circuit.memories.values()}
    for name in [*modules.keys() - placed, *memories.keys() - loaded]:
        raise Refused(f"{name}: expected a part of the design, found one that is placed nowhere")
    shells = {name: "decision diagrams" for name in outside.circuit.placed.values() if name != core}
    entries = [
        {"module": name, "method": method, "nets": 0, "operations": []} for name, method in sorted(shells.items())
    ]
    return {
        "stages": inside.stages,
        "tabulated": symbols.widest,
        "modules": entries + _inside(inside, made, statement, core),
    }


def _inside(core: Core, made: Stated, statement: Json, top: str) -> list[Json]:
    """Return for each module of the design by which method it was shown, and which edges of the statement its nets
    compute.
    """
    evaluation = core.evaluation
    edges: dict[Key, int] = {}
    for number, wire in enumerate(made.wires[len(statement["inputs"]) :]):
        for form in wire.flat:
            if form.terms:
                edges.setdefault(_scaled(form), number)
    found: dict[str, list[tuple[str, Bits]]] = {name: [] for name in evaluation.circuit.placed.values()}
    for name, bits in evaluation.found.items():
        found[evaluation.circuit.nets[name].scope.module.name].append((name, bits))
    entries = []
    for module in sorted(found):
        methods = {METHODS[kind] for kind in _kinds(evaluation, found[module])}
        method = "; ".join(["linear forms", *sorted(methods)])
        method = "the stated handshake by decision diagrams; every element of every output" if module == top else method
        numbers = (
            {edges[key] for key in _elements(evaluation, found[module]) & edges.keys()} if module != top else set()
        )
        named = [
            f"{statement['edges'][n]['operation']} {statement['edges'][n]['part']}".strip() for n in sorted(numbers)
        ]
        operations = list(dict.fromkeys(named))
        entries.append({"module": module, "method": method, "nets": len(found[module]), "operations": operations})
    return entries


def _kinds(evaluation: Evaluation, nets: list[tuple[str, Bits]]) -> set[str]:
    """Return the kinds of symbols that occur in a module's nets but in none of its inputs."""
    read: set[int] = set()
    written: set[int] = set()
    for name, bits in nets:
        net = evaluation.circuit.nets[name]
        given = bool(net.drivers) and net.drivers[0].scope is not net.scope
        for form, _, _ in bits.parts:
            (read if given else written).update(form.terms)
    return {evaluation.symbols.all[number].what[0] for number in written - read} - {"free"}


def _elements(evaluation: Evaluation, nets: list[tuple[str, Bits]]) -> set[Key]:
    """Return the forms of the nets that a module makes, without the sign and the power of two by which readers of an
    element may differ.
    """
    made = set()
    for name, bits in nets:
        net = evaluation.circuit.nets[name]
        if len(bits.parts) == 1 and bits.parts[0][0].terms and net.drivers and net.drivers[0].scope is net.scope:
            made.add(_scaled(bits.parts[0][0]))
    return made


def _scaled(form: Form) -> Key:
    """Return the key of a linear form, divided by its sign and by the power of two that it contains."""
    numbers = [*form.terms.values(), form.constant]
    zeros = min((number & -number).bit_length() - 1 for number in numbers if number)
    sign = 1 if form.terms[min(form.terms)] > 0 else -1
    return Form({n: sign * value >> zeros for n, value in form.terms.items()}, sign * form.constant >> zeros).key


def digests(files: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of each text by file name."""
    return {name: hashlib.sha256(files[name].encode()).hexdigest() for name in sorted(files)}


def deeply(function: Callable[[], T]) -> T:
    """Return the result of a function whose recursion is as deep as the design, which runs with a larger stack."""
    result: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            result.append(function())
        except BaseException as error:  # handed on to the caller
            errors.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(1 << 29)
    sys.setrecursionlimit(1 << 20)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if errors:
        raise errors[0]
    return result[0]
