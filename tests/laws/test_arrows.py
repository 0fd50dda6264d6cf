"""Arrows form a symmetric monoidal category with copies and discards, and folding over boxes is a functor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meaningless import TYPES, Box, Terms
from tiers import examples

from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.encode import digest, encode
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow, compose, fold, identity, permute, tensor
from circuitize.circuits.integers import ReLU
from circuitize.circuits.operation import Operation
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Fixed, Type
from circuitize.circuits.validate import validate
from circuitize.sims import integer

terms = st.integers(0, 2**32 - 1).map(Terms)
laws = settings(max_examples=examples(10, deep=2000), deadline=None)


def assert_same(*arrows: Arrow) -> None:
    """Equal up to the numbering of wires and edges, and well formed."""
    for arrow in arrows:
        validate(arrow)
        assert arrow.source == arrows[0].source and arrow.target == arrows[0].target
    assert len({digest(arrow) for arrow in arrows}) == 1


@laws
@given(terms)
def test_composition_is_associative_and_unital(t: Terms) -> None:
    f = t.arrow()
    g = t.arrow(f.target)
    h = t.arrow(g.target)
    assert_same(compose(f, g, h), compose(compose(f, g), h), compose(f, compose(g, h)), f >> g >> h)
    assert_same(f, compose(identity(*f.source), f), compose(f, identity(*f.target)), compose(f))


@laws
@given(terms)
def test_tensor_is_associative_and_unital(t: Terms) -> None:
    f, g, h = t.arrow(), t.arrow(), t.arrow()
    assert_same(tensor(f, g, h), tensor(tensor(f, g), h), tensor(f, tensor(g, h)), f @ g @ h)
    assert_same(f, tensor(identity(), f), tensor(f, identity()), tensor(f))


@laws
@given(terms)
def test_interchange(t: Terms) -> None:
    f, h = t.arrow(), t.arrow()
    g, k = t.arrow(f.target), t.arrow(h.target)
    assert_same(tensor(compose(f, g), compose(h, k)), compose(tensor(f, h), tensor(g, k)))


@laws
@given(terms)
def test_identities_tensor(t: Terms) -> None:
    a, b = t.types(), t.types()
    assert_same(tensor(identity(*a), identity(*b)), identity(*a, *b), permute([*a, *b], range(len(a) + len(b))))


@laws
@given(terms)
def test_wirings_compose_as_functions(t: Terms) -> None:
    types = t.types(1, 5)
    first = t.random.integers(0, len(types), 6).tolist()
    second = t.random.integers(0, 6, 4).tolist()
    middle = [types[i] for i in first]
    assert_same(compose(permute(types, first), permute(middle, second)), permute(types, [first[i] for i in second]))


def swap(left: tuple[Type, ...], right: tuple[Type, ...]) -> Arrow:
    count = len(left) + len(right)
    return permute([*left, *right], [*range(len(left), count), *range(len(left))])


@laws
@given(terms)
def test_symmetry_is_natural_and_its_own_inverse(t: Terms) -> None:
    f, g = t.arrow(), t.arrow()
    assert_same(compose(tensor(f, g), swap(f.target, g.target)), compose(swap(f.source, g.source), tensor(g, f)))
    assert_same(compose(swap(f.source, g.source), swap(g.source, f.source)), identity(*f.source, *g.source))


@laws
@given(terms)
def test_simplified_arrows_are_cartesian(t: Terms) -> None:
    f = t.arrow()
    wires, ends = range(len(f.source)), range(len(f.target))
    copied_after = compose(f, permute(f.target, [*ends, *ends]))
    copied_before = compose(permute(f.source, [*wires, *wires]), tensor(f, f))
    assert_same(simplify(copied_after), simplify(copied_before))
    assert_same(simplify(compose(f, permute(f.target, []))), permute(f.source, []))


def functor(arrow: Arrow) -> Arrow:
    """Sends each box to two boxes around a middle wire, by one fold."""
    builder = Builder()

    def interpret(_: int, operation: Operation, sources: list[int]) -> list[int]:
        assert isinstance(operation, Box)
        before = generator(Box(operation.label + 10, operation.sources, (TYPES[1],)), *operation.sources)
        after = generator(Box(operation.label + 20, (TYPES[1],), operation.targets), TYPES[1])
        return builder.splice(compose(before, after), sources)

    wires = fold(arrow, builder.inputs(arrow.source), interpret)
    return builder.build([wire for wire in (wires[output] for output in arrow.outputs) if wire is not None])


@laws
@given(terms)
def test_a_fold_over_boxes_is_a_functor(t: Terms) -> None:
    f, h = t.arrow(), t.arrow()
    g = t.arrow(f.target)
    assert_same(functor(compose(f, g)), compose(functor(f), functor(g)))
    assert_same(functor(tensor(f, h)), tensor(functor(f), functor(h)))
    assert_same(functor(identity(*f.source)), identity(*f.source))
    assert functor(f).edge_count == 2 * f.edge_count


@laws
@given(terms)
def test_splice_is_the_identity_functor(t: Terms) -> None:
    f = t.arrow()
    builder = Builder()
    assert_same(f, builder.build(builder.splice(f, builder.inputs(f.source))))


@laws
@given(terms)
def test_the_digest_sees_structure_and_nothing_else(t: Terms) -> None:
    f = tensor(t.arrow(), t.box(t.types()))
    other = compose(f, tensor(identity(*f.target[:-1]), generator(Box(7, f.target[-1:], f.target[-1:]), f.target[-1])))
    assert digest(f) != digest(other)
    if len(f.target) > 1 and f.target[0] == f.target[-1] and f.outputs[0] != f.outputs[-1]:
        ends = list(range(len(f.target)))
        assert digest(f) != digest(compose(f, permute(f.target, [ends[-1], *ends[1:-1], ends[0]])))


@laws
@given(terms)
def test_fold_keeps_or_drops_without_changing_outputs(t: Terms) -> None:
    f = t.arrow()
    inputs = [f"input {i}" for i in range(len(f.source))]

    def interpret(index: int, operation: Operation, sources: list[str]) -> list[str]:
        assert isinstance(operation, Box)
        return [f"{operation.label}[{index},{port}]({','.join(sources)})" for port in range(len(operation.targets))]

    kept, dropped = fold(f, inputs, interpret, keep=True), fold(f, inputs, interpret)
    assert [kept[wire] for wire in f.outputs] == [dropped[wire] for wire in f.outputs]
    assert None not in kept


def test_a_mismatch_is_refused() -> None:
    with pytest.raises(TypingError, match=r"arrow 0 to be inputs of arrow 1 \(real\[3\]\), found real\[2\]"):
        compose(identity(TYPES[1]), identity(TYPES[2]))
    with pytest.raises(TypingError, match="2 wires"):
        compose(identity(TYPES[1], TYPES[1]), identity(TYPES[1]))


def test_long_compositions_take_linear_time() -> None:
    """A binary chain of n arrows would copy n^2 / 2 edges: ten thousand boxes in one n-ary composition do not."""
    box = generator(Box(0, (TYPES[0],), (TYPES[0],)), TYPES[0])
    chain = compose(*[box] * 10_000)
    assert chain.edge_count == 10_000 and chain.wire_count == 10_001
    assert len(chain.operations) == 1
    np.testing.assert_array_equal(np.sort(chain.target_wires), np.arange(1, 10_001))


@laws
@given(terms)
def test_equal_arrows_are_those_of_equal_bytes(t: Terms) -> None:
    """Up to renaming, which a random order of edges is; a box, a wire, a copy or an end more makes another arrow."""
    f = t.arrow()
    assert f == f and f == shuffled(f, t.random) and hash(f) == hash(shuffled(f, t.random))
    others = [t.arrow(f.source), tensor(f, t.arrow()), compose(f, permute(f.target, [])), simplify(f)]
    others += [compose(f, permute(f.target, order)) for order in ([0], [*range(len(f.target))[::-1]]) if f.target]
    for g in others:
        assert (f == g) == (encode(f) == encode(g)) == (g == f)


@laws
@given(terms)
def test_one_change_makes_another_arrow(t: Terms) -> None:
    """A label, a source or an output that is another: just where the bytes are others too."""
    f = tensor(t.arrow(), t.arrow())
    for _ in range(6):
        for g in changed(f, t.random):
            assert (f == g) == (encode(f) == encode(g)) == (g == f)


def changed(f: Arrow, random: np.random.Generator) -> list[Arrow]:
    """Arrows that differ from this one in a single place, well formed."""
    found = []
    if f.edge_count:
        edge = int(random.integers(f.edge_count))
        box = f.operations[f.edge_operations[edge]]
        assert isinstance(box, Box)
        labels = f.edge_operations.copy()
        labels[edge] = len(f.operations)
        other = replace(box, label=box.label + 1)
        found.append(replace(f, operations=(*f.operations, other), edge_operations=labels))
    writer = np.full(f.wire_count, -1)
    writer[f.target_wires] = np.repeat(np.arange(f.edge_count), np.diff(f.target_offsets))
    reader = np.repeat(np.arange(f.edge_count), np.diff(f.source_offsets))
    for column, before in (("source_wires", reader), ("outputs", np.full(len(f.outputs), f.edge_count))):
        wires = getattr(f, column).copy()
        if len(wires):
            place = int(random.integers(len(wires)))
            alike = np.flatnonzero((f.wire_types == f.wire_types[wires[place]]) & (writer < before[place]))
            wires[place] = random.choice(alike)
            found.append(replace(f, **{column: wires}))
    for one in found:
        validate(one)
    return found


def test_a_copy_is_not_the_same_box_twice() -> None:
    box, builder, twice = Box(1, (TYPES[0],), (TYPES[0],)), Builder(), Builder()
    (made,) = builder.apply(box, builder.input(TYPES[0]))
    x = twice.input(TYPES[0])
    one, other = twice.add(box, x), twice.add(box, x)
    shared, doubled, unread = builder.build([made, made]), twice.build([one, other]), twice.build([one, one])
    assert doubled != unread and unread != doubled and unread == twice.build([other, other]) != shared
    assert shared != doubled and doubled != shared and shared == simplify(doubled)
    pair, ends = Box(2, (TYPES[0],), (TYPES[0], TYPES[0])), Builder()
    first, second = ends.apply(pair, ends.input(TYPES[0]))
    made_ = [ends.build(outputs) for outputs in ([first], [second], [first, second], [second, first], [first, first])]
    for place, chosen in enumerate(made_):
        assert [chosen == each for each in made_] == [place == each for each in range(len(made_))]
    assert shared != "an arrow"


def shuffled(arrow: Arrow, random: np.random.Generator) -> Arrow:
    """The same arrow, each edge written as soon as chance has it after what it reads; wires numbered anew."""
    builder = Builder()
    wires = dict(zip(arrow.inputs.tolist(), builder.inputs(arrow.source), strict=True))
    read = arrow.readers()
    waiting = list(arrow.edges())
    while waiting:
        ready = [edge for edge in waiting if all(wire in wires for wire in edge.sources)]
        # What nothing reads stays in its order.
        unread = [edge for edge in ready if not any(read[wire] for wire in edge.targets)]
        edge = ready[int(random.integers(len(ready)))]
        edge = unread[0] if edge in unread else edge
        wires.update(zip(edge.targets, builder.apply(edge.operation, *(wires[w] for w in edge.sources)), strict=True))
        waiting.remove(edge)
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def test_equal_programs_are_traced_by_their_own_numbers() -> None:
    """What was prepared for one of two equal arrows was run for the other, whose wires have other numbers."""
    number = Fixed((), 0, -9, 9)
    ports = tuple(Port(name, "public", number) for name in ("x", "y"))
    made = []
    for order in ((0, 1), (1, 0)):
        builder = Builder()
        wires = builder.inputs([number, number])
        both = {k: builder.add(ReLU(), wires[k]) for k in order}
        arrow = builder.build([both[0], both[1]])
        results = tuple(Port(port.name, "public", Fixed((), 0, 0, 9)) for port in ports)
        made.append(IntegerProgram(arrow, ports, results))
    assert made[0].arrow == made[1].arrow
    given = {"x": np.array(3), "y": np.array(-4)}
    assert [[int(v) for v in integer.trace(program, given)] for program in made] == [[3, -4, 3, 0], [3, -4, 0, 3]]
