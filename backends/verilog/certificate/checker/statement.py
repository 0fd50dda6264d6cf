"""The program as plain operations on integers, evaluated on forms: what the hardware must compute.

A statement is JSON with the fields `inputs`, `edges` and `outputs`. Wires are numbered: the inputs come first, then the
target of each edge; a wire is a shape and its elements in row-major order. Each operation of a statement is defined in
docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from .edges import Edge, Elements, Json, Stated, filled, require_form, required
from .forms import Form, known, total
from .refusal import Refused
from .symbols import Symbols
from .tables import Numbers

Frame = Sequence[Sequence[int]]


def element_bits(low: int, high: int) -> int:
    """Return the number of bits of an element of an interval, which is unsigned if low >= 0 and in two's complement if
    low < 0.
    """
    if low >= 0:
        return max(1, high.bit_length())
    return max((~low).bit_length(), max(high, 0).bit_length()) + 1


def stated(statement: Json, symbols: Symbols, frame: Frame | None = None, state: Collection[int] = ()) -> Stated:
    """Return the evaluation of a statement on symbols, or on the integers of one frame, which is a list for each input.
    `state` has the numbers of the inputs that are state: their intervals are not checked.

    Raise Refused for an operation that the checker does not know or cannot show.
    """
    require_form(statement)
    made = Stated([], [], [])
    for index, port in enumerate(statement["inputs"]):
        low, high = port["low"], port["high"]
        bits = element_bits(low, high)
        ends = (-1 << (bits - 1), (1 << (bits - 1)) - 1) if low < 0 else (0, (1 << bits) - 1)
        if index in state:
            ends = low, high
        entering = [symbols.free(*ends, "input", index, place) for place in range(math.prod(port["shape"]))]
        if frame is not None:
            entering = list(map(known, frame[index]))
        made.entering.append(entering)
        made.wires.append(filled(port["shape"], (required(made, symbols, form, low, high) for form in entering)))
    for number, edge in enumerate(statement["edges"]):
        rule = RULES.get(edge["operation"])
        if rule is None:
            raise Refused(f"edge {number}: operation {edge['operation']} is none that is certified")
        if not all(0 <= wire < len(made.wires) for wire in edge["sources"]):
            raise Refused(f"edge {number}: expected sources before it, found {edge['sources']}")
        try:
            elements = rule(Edge(made, symbols, edge), *(made.wires[wire] for wire in edge["sources"]))
        except Refused as refusal:
            raise Refused(f"edge {number}, {edge['operation']} of {edge['part']}: {refusal}") from None
        if list(elements.shape) != edge["shape"]:
            raise Refused(f"edge {number}: expected shape {edge['shape']}, found {list(elements.shape)}")
        made.wires.append(elements)
    return made


def _constant(edge: Edge) -> Elements:
    amounts, size = edge.given["amounts"], math.prod(edge.given["shape"])
    if len(amounts) > max(1, size):
        raise Refused("more amounts than elements")
    return filled(edge.given["shape"], (known(amounts[place % len(amounts)]) for place in range(size)))


def _reindex(edge: Edge, x: Elements) -> Elements:
    flat, places = x.reshape(-1), edge.given["places"]
    return filled(edge.given["shape"], (flat[place] if place >= 0 else known(0) for place in places))


def _sum(edge: Edge, x: Elements) -> Elements:
    terms: list[list[tuple[int, Form]]] = [[] for _ in range(math.prod(edge.given["shape"]))]
    for form, place in zip(x.flat, edge.given["places"], strict=True):
        if place >= 0:
            terms[place].append((1, form))
    return filled(edge.given["shape"], map(total, terms))


def _contract(edge: Edge, x: Elements, y: Elements) -> Elements:
    """Return the sums of products over the letters that the target lacks; letters of only one source are summed
    first.
    """
    of_x, of_y, target = edge.given["letters"]
    x, of_x = _summed(x, of_x, of_y + target)
    y, of_y = _summed(y, of_y, of_x + target)
    extents = dict(zip(of_x + of_y, x.shape + y.shape, strict=True))
    if x.shape != tuple(extents[n] for n in of_x) or len(set(of_x)) < len(of_x) or len(set(of_y)) < len(of_y):
        raise Refused("a letter of two extents, or twice in one source")
    inner = [letter for letter in dict.fromkeys(of_x + of_y) if letter not in target]
    sizes = [extents[letter] for letter in [*target, *inner]]
    grid = np.indices(sizes).reshape(len(sizes), math.prod(sizes))
    place = dict(zip([*target, *inner], grid, strict=True))
    left, right = (value[tuple(place[letter] for letter in letters)] for value, letters in ((x, of_x), (y, of_y)))
    terms = math.prod(extents[letter] for letter in inner)
    left, right = (
        np.broadcast_to(np.asarray(value, object), grid.shape[1]).reshape(-1, terms) for value in (left, right)
    )
    return filled(
        [extents[letter] for letter in target], (_sum_of_products(edge, a, b) for a, b in zip(left, right, strict=True))
    )


def _summed(x: Elements, letters: str, kept: str) -> tuple[Elements, str]:
    """Return the sums over the axes whose letters are not in `kept`, and the letters of the remaining axes."""
    rest = [letter for letter in letters if letter in kept]
    shape = [x.shape[letters.index(letter)] for letter in rest]
    own = [axis for axis, letter in enumerate(letters) if letter not in kept]
    rows = np.moveaxis(x, own, range(-len(own), 0)).reshape(math.prod(shape), -1)
    return filled(shape, (total((1, form) for form in row) for row in rows)), "".join(rest)


def _sum_of_products(edge: Edge, left: Elements, right: Elements) -> Form:
    """Return the sum of the products of corresponding forms."""
    terms: list[tuple[int, Form]] = []
    for a, b in zip(left, right, strict=True):
        if not b.terms:
            terms.append((b.constant, a))
        elif not a.terms:
            terms.append((a.constant, b))
        else:
            terms.append((1, edge.symbols.product(a, b)))
    return total(terms)


def _wrap(edge: Edge, x: Elements) -> Elements:
    bits, signed, symbols = edge.given["bits"], edge.given["signed"], edge.symbols
    wrapped = symbols.signed if signed else symbols.unsigned
    return edge.each(lambda form: symbols.settled(wrapped(form, bits)), x)


def _lookup(edge: Edge, x: Elements) -> Elements:
    table, low = np.array(edge.given["table"], np.int64), edge.given["first"]
    return edge.each(lambda form: edge.symbols.lookup(form, table, low), x)


def _concatenate(edge: Edge, *values: Elements) -> Elements:
    made: Elements = np.concatenate(values, edge.given["axis"])
    return made


def _maximum(symbols: Symbols, x: Form, y: Form) -> Form:
    return symbols.select(symbols.less(x - y, 0), y, x)


def _winner(edge: Edge, x: Elements) -> Elements:
    """Return the index of the greatest element along the last axis, the lowest index of equals, by a tournament of
    neighbours.
    """
    symbols = edge.symbols
    index = np.broadcast_to(filled([x.shape[-1]], map(known, range(x.shape[-1]))), x.shape)
    while x.shape[-1] > 1:
        even = x.shape[-1] - x.shape[-1] % 2
        left, right = x[..., 0:even:2], x[..., 1:even:2]
        later = edge.each(lambda a, b: symbols.less(a - b, 0), left, right)
        best = edge.each(symbols.select, later, right, left)
        place = edge.each(symbols.select, later, index[..., 1:even:2], index[..., 0:even:2])
        x = np.concatenate([best, x[..., even:]], -1)
        index = np.concatenate([place, index[..., even:]], -1)
    return index[..., 0]


def _arg_max(edge: Edge, x: Elements) -> Elements:
    return _winner(edge, np.moveaxis(x, edge.given["axis"], -1))


def _one_hot(edge: Edge, x: Elements) -> Elements:
    index = _winner(edge, np.moveaxis(x, edge.given["axis"], -1))
    hot = [edge.each(lambda form, n=n: edge.symbols.equal(form, n), index) for n in range(x.shape[edge.given["axis"]])]
    return np.stack(hot, edge.given["axis"])


def _gather(edge: Edge, x: Elements, index: Elements) -> Elements:
    """Return the elements at given indices along an axis, by a tree of choices with one level for each bit of the
    index.
    """
    axis, symbols = edge.given["axis"], edge.symbols
    places = edge.require(index.reshape(-1), 0, x.shape[axis] - 1)
    rows, made = np.moveaxis(x, axis, -1), []
    for place in places:
        left, bit = rows, 0
        while left.shape[-1] > 1:
            even = left.shape[-1] - left.shape[-1] % 2
            chosen = symbols.settled(symbols.unsigned(symbols.floor(place, bit), 1))
            picked = edge.each(lambda a, b, c=chosen: symbols.select(c, a, b), left[..., 1:even:2], left[..., 0:even:2])
            left, bit = np.concatenate([picked, left[..., even:]], -1), bit + 1
        made.append(left[..., 0])
    return np.moveaxis(np.stack(made, -1), -1, axis).reshape(edge.given["shape"])


def _scatter_add(edge: Edge, updates: Elements, index: Elements) -> Elements:
    """Return for each index the sum of the elements whose index along an axis is this one."""
    axis, size, symbols = edge.given["axis"], edge.given["size"], edge.symbols
    places = edge.require(index.reshape(-1), 0, size - 1)
    terms = np.moveaxis(updates.reshape(*updates.shape[:axis], len(places), *edge.given["shape"][axis + 1 :]), axis, -1)
    made = []
    for number in range(size):
        hot = [symbols.equal(place, number) for place in places]
        sums = (
            total((1, symbols.select(c, form, known(0))) for c, form in zip(hot, row, strict=True))
            for row in terms.reshape(-1, len(hot))
        )
        made.append(filled(terms.shape[:-1], sums))
    return np.stack(made, axis)


def _divide(x: Numbers, y: Numbers) -> Numbers:
    if y.min() < 1:
        raise Refused("a divisor that may be below 1")
    return x // y


def _square_root(x: Numbers) -> Numbers:
    if x.min() < 0:
        raise Refused("a root of what may be negative")
    return np.array([math.isqrt(value) for value in x.tolist()], np.int64)


RULES: dict[str, Callable[..., Elements]] = {
    "constant": _constant,
    "reindex": _reindex,
    "sum": _sum,
    "add": lambda edge, x, y: edge.each(lambda a, b: a + b, x, y),
    "subtract": lambda edge, x, y: edge.each(lambda a, b: a - b, x, y),
    "scale": lambda edge, x: edge.each(lambda a: a * edge.given["factor"], x),
    "multiply": lambda edge, x, y: edge.each(edge.symbols.product, x, y),
    "relu": lambda edge, x: edge.each(lambda a: edge.symbols.clamp(a, 0, max(0, edge.symbols.interval(a)[1])), x),
    "clamp": lambda edge, x: edge.each(lambda a: edge.symbols.clamp(a, edge.given["least"], edge.given["most"]), x),
    "wrap": _wrap,
    "shift": lambda edge, x: edge.each(lambda a: edge.symbols.floor(a, edge.given["bits"]), x),
    "is_negative": lambda edge, x: edge.each(lambda a: edge.symbols.less(a, 0), x),
    "lookup": _lookup,
    "check": lambda edge, x: edge.require(x, edge.given["least"], edge.given["most"]),
    "contract": _contract,
    "concatenate": _concatenate,
    "select": lambda edge, c, x, y: edge.each(edge.symbols.select, c, x, y),
    "maximum": lambda edge, x, y: edge.each(lambda a, b: _maximum(edge.symbols, a, b), x, y),
    "arg_max": _arg_max,
    "arg_max_one_hot": _one_hot,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "divide": lambda edge, x, y: edge.each(lambda a, b: edge.symbols.tabulated(_divide, a, b), x, y),
    "square_root": lambda edge, x: edge.each(lambda a: edge.symbols.tabulated(_square_root, a), x),
}
"""The function that each operation of a statement stands for."""
