"""All assignments to the columns of a small plan, and those of them that satisfy it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.tensor.forms import PRIME, Column, Form, Product, Public
from circuitize.backends.tensor.forms import Fixed as Given
from circuitize.provers.tensor.plan import Plan

Values = NDArray[np.object_]


class Bench:
    """A plan with the values of its inputs, as a predicate on assignments to all other columns."""

    def __init__(self, made: Plan, inputs: Mapping[str, int | list[int]]) -> None:
        self.made = made
        self.fixed = {f"input {name}": np.array(value, object) for name, value in inputs.items()}
        self.given = {
            i: np.array(base.recipe(()).tolist(), object)
            for i, base in enumerate(made.bases)
            if isinstance(base, Given)
        }
        counted = {base for table in made.tables for base, _ in made.forms[table.column].terms}
        self.free = [
            i
            for i, base in enumerate(made.bases)
            if isinstance(base, Column)
            and base.name not in self.fixed
            and i not in {b for b, _ in counted_keys(counted)}
        ]

    def domain(self, base: int) -> list[int]:
        """The numbers that a lookup of the column by itself allows; those of a function's values for its results."""
        for lookup in self.made.lookups:
            if lookup.value is not None and [b for b, _ in self.made.forms[lookup.value].terms] == [base]:
                return sorted(set(self.made.tables[lookup.table].values.tolist()))
            terms = dict(self.made.forms[lookup.key].terms)
            if terms.pop((base, ()), None) == 1 and all(self.is_one(b) for b, _ in terms):
                offset = sum(terms.values())
                return [(key - offset) % PRIME for key in range(self.made.tables[lookup.table].size)]
        # No table of its own: the limbs' sum, or what any number of the right size could be.
        return [number % PRIME for number in range(-40, 41)]

    def is_one(self, base: int) -> bool:
        found = self.made.bases[base]
        return isinstance(found, Given) and found.values.reshape(-1).tolist() == [1]

    def assignments(self) -> Iterator[dict[int, Values]]:
        shapes = [self.made.bases[base].shape for base in self.free]
        domains = [
            self.domain(base) for base, shape in zip(self.free, shapes, strict=True) for _ in range(int(np.prod(shape)))
        ]
        assert np.prod([float(len(domain)) for domain in domains]) < 2e5
        for choice in product(*domains):
            rest, found = list(choice), {}
            for base, shape in zip(self.free, shapes, strict=True):
                size = int(np.prod(shape))
                found[base], rest = np.array(rest[:size], object).reshape(shape), rest[size:]
            yield found

    def solutions(self) -> list[list[int]]:
        """The outputs of every assignment that satisfies the plan; public outputs are what the equations make them."""
        return [made for chosen in self.assignments() if (made := self.outputs(chosen)) is not None]

    def outputs(self, chosen: dict[int, Values]) -> list[int] | None:
        values: dict[int, Values] = {**self.given, **chosen}
        for i, base in enumerate(self.made.bases):
            if isinstance(base, Column) and base.name in self.fixed:
                values[i] = self.fixed[base.name]
            elif isinstance(base, Product):
                x, y = (value_of(self.made.forms[form], values) for form in base.forms)
                values[i] = x * y % PRIME
                assert base.letters[0] == base.letters[1] == base.letters[2]
        for lookup in self.made.lookups:
            table = self.made.tables[lookup.table]
            keys = flat(value_of(self.made.forms[lookup.key], values))
            if max(keys) >= table.size:
                return None
            if lookup.value is not None:
                found = flat(value_of(self.made.forms[lookup.value], values))
                if any(int(table.values[key]) % PRIME != value for key, value in zip(keys, found, strict=True)):
                    return None
        result: list[int] = []
        for zero in self.made.zeros:
            form = self.made.forms[zero]
            public = {key: c for key, c in form.terms.items() if isinstance(self.made.bases[key[0]], Public)}
            rest = Form(form.shape, {key: c for key, c in form.terms.items() if key not in public})
            found = flat(value_of(rest, values))
            if public:
                result += found
            elif any(found):
                return None
        return result


def value_of(form: Form, values: Mapping[int, Values]) -> Values:
    """A form's value, by its definition, of the values of bases."""
    total = np.zeros(form.shape, object)
    for (base, path), coefficient in form.terms.items():
        array = values[base]
        for view, sums in reversed(path):
            array = np.asarray(view.scatter(array) if sums else view.gather(array), object)
        total = total + array * coefficient
    return np.array(total % PRIME, object)


def counted_keys(keys: set[int]) -> list[tuple[int, int]]:
    return [(key, 0) for key in keys]


def flat(values: Values) -> list[int]:
    return [int(value) for value in np.asarray(values, object).reshape(-1)]
