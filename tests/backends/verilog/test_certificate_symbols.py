"""Forms of a certificate's checker: products of parts of numbers, evaluated, and checks that never pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest
from tiers import seeds

from circuitize.backends.verilog.certificate.checker.forms import Form, Key, known
from circuitize.backends.verilog.certificate.checker.symbols import Symbols

PART = 17


def value(symbols: Symbols, form: Form, given: Mapping[str, int]) -> int:
    """What a form is where the free symbols are the given numbers."""

    def at(key: Key) -> int:
        terms, constant = key
        return constant + sum(factor * of(number) for number, factor in terms)

    def of(number: int) -> int:
        kind, *what = symbols.all[number].what
        kinds: dict[str, Callable[[], int]] = {
            "free": lambda: given[what[0]],
            "floor": lambda: at(what[0]) >> what[1],
            "product": lambda: at(what[0]) * at(what[1]),
        }
        return kinds[str(kind)]()

    return at(form.key)


@pytest.mark.parametrize("seed", seeds(40, 4_000))
def test_products_of_parts_are_the_product(seed: int) -> None:
    """Added in any order, beside a square and a product by another factor, which stay. The factor may be a part itself,
    whose product with itself is a square.
    """
    draw = random.Random(seed)
    symbols = Symbols(1)
    bits = draw.randint(PART + 2, 3 * PART + 1)
    x = symbols.free(-(1 << bits - 1), (1 << bits - 1) - 1, "x").plus(draw.choice([0, 5]))
    y, z = (symbols.free(-(1 << 17), (1 << 17) - 1, name) for name in "yz")
    lows = range(0, bits - 1, PART)
    *lowest, highest = (symbols.floor(x, low) for low in lows)
    parts = [*(symbols.unsigned(part, PART) for part in lowest), highest]
    factor = draw.choice([y, parts[0]])
    products = [symbols.product(*draw.sample([part, factor], 2)) for part in parts]
    terms = [product * (1 << low) for product, low in zip(products, lows, strict=True)]
    beside = symbols.product(y, y) + symbols.product(parts[0], z)
    for apart in (terms, [*terms, beside]):
        found = known(0)
        for term in draw.sample(apart, len(apart)):
            found = symbols.joined(found + term)
        rest = beside if beside in apart else known(0)
        assert found == symbols.product(x, factor) + rest
        given = {name: draw.randint(symbols.all[k].low, symbols.all[k].high) for k, name in enumerate("xyz")}
        assert value(symbols, found, given) == sum(value(symbols, term, given) for term in apart)


def test_a_check_that_never_passes_is_no_symbol() -> None:
    """A symbol of no values would let the checker show anything of the number that is checked."""
    symbols = Symbols()
    kept, failed, number = symbols.checked(symbols.free(0, 18, "x"), 20, 30)
    assert not kept.terms and failed == known(1) and number == 0
