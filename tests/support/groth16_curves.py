"""BN254 once more, in Python integers: y^2 = x^3 + 3 over q, and its twist over q[u] / (u^2 + 1), as pairs."""

from collections.abc import Iterator

from circuitize.provers.groth16.config import COORDINATE_PRIME as Q

Pair = tuple[int, int]
Point = tuple[Pair, Pair]
Sum = Point | None  # None is the identity.


def times(a: Pair, b: Pair) -> Pair:
    return (a[0] * b[0] - a[1] * b[1]) % Q, (a[0] * b[1] + a[1] * b[0]) % Q


def minus(a: Pair, b: Pair) -> Pair:
    return (a[0] - b[0]) % Q, (a[1] - b[1]) % Q


def inverse(a: Pair) -> Pair:
    norm = pow(a[0] * a[0] + a[1] * a[1], -1, Q)
    return a[0] * norm % Q, -a[1] * norm % Q


def add(p: Sum, q: Sum) -> Sum:
    """The sum of two points over either field (G1 embeds with second coordinates zero); None is the identity."""
    if p is None or q is None:
        return q if p is None else p
    (x1, y1), (x2, y2) = p, q
    if x1 == x2:
        if y1 != y2:
            return None
        slope = times(times((3, 0), times(x1, x1)), inverse(times((2, 0), y1)))
    else:
        slope = times(minus(y2, y1), inverse(minus(x2, x1)))
    x = minus(minus(times(slope, slope), x1), x2)
    return x, minus(times(slope, minus(x1, x)), y1)


def multiply(point: Sum, scalar: int) -> Sum:
    """The point added to itself, `scalar` times in all: (X / Z^2, Y / Z^3) while it is doubled and added, which needs
    one inverse at the end.
    """
    if point is None:
        return None
    x, y, z = point[0], point[1], (0, 0)  # Z is 0 for the identity.
    for bit in format(scalar, "b"):
        x, y, z = _double(x, y, z)
        if bit == "1":
            x, y, z = _add_affine(x, y, z, point)
    if z == (0, 0):
        return None
    once = inverse(z)
    square = times(once, once)
    return times(x, square), times(y, times(square, once))


def _double(x: Pair, y: Pair, z: Pair) -> tuple[Pair, Pair, Pair]:
    slope, square = times((3, 0), times(x, x)), times(y, y)
    middle = times((4, 0), times(x, square))
    doubled = minus(minus(times(slope, slope), middle), middle)
    return (
        doubled,
        minus(times(slope, minus(middle, doubled)), times((8, 0), times(square, square))),
        times((2, 0), times(y, z)),
    )


def _add_affine(x: Pair, y: Pair, z: Pair, point: Point) -> tuple[Pair, Pair, Pair]:
    if z == (0, 0):
        return (*point, (1, 0))
    square = times(z, z)
    right, up = minus(times(point[0], square), x), minus(times(point[1], times(square, z)), y)
    if right == (0, 0):
        return _double(x, y, z) if up == (0, 0) else (x, y, (0, 0))
    twice = times(right, right)
    middle, cube = times(x, twice), times(twice, right)
    sum_x = minus(minus(minus(times(up, up), cube), middle), middle)
    return sum_x, minus(times(up, minus(middle, sum_x)), times(y, cube)), times(z, right)


def unpack(content: bytes) -> Point:
    """64 bytes of G1 or 128 of G2 -> a point."""
    values = [int.from_bytes(content[at : at + 32], "little") for at in range(0, len(content), 32)]
    if len(values) == 2:
        return (values[0], 0), (values[1], 0)
    return (values[0], values[1]), (values[2], values[3])


def scaled(point: Point, factor: int) -> Point:
    """Each coordinate times a number, as in Montgomery's form and back."""
    (x0, x1), (y0, y1) = point
    return (x0 * factor % Q, x1 * factor % Q), (y0 * factor % Q, y1 * factor % Q)


def pack(point: Sum, size: int) -> bytes:
    assert point is not None
    (x0, x1), (y0, y1) = point
    values = [x0, y0] if size == 64 else [x0, x1, y0, y1]
    return b"".join(value.to_bytes(32, "little") for value in values)


def negative(point: Sum) -> Point:
    assert point is not None
    return point[0], minus((0, 0), point[1])


def square_root(value: Pair) -> Pair | None:
    """A root in q[u] / (u^2 + 1), q = 3 mod 4, or None (Adj and Rodriguez-Henriquez, algorithm 9)."""

    def power(base: Pair, exponent: int) -> Pair:
        result: Pair = (1, 0)
        while exponent:
            if exponent & 1:
                result = times(result, base)
            base, exponent = times(base, base), exponent >> 1
        return result

    a1 = power(value, (Q - 3) // 4)
    x0 = times(a1, value)
    alpha = times(a1, x0)
    last = (0, 1) if alpha == (Q - 1, 0) else power(((1 + alpha[0]) % Q, alpha[1]), (Q - 1) // 2)
    root = times(last, x0)
    return root if times(root, root) == value else None


def twist_points() -> Iterator[Point]:
    """Points of the twist; all but a negligible part lie outside the group of order r."""
    b = times((3, 0), inverse((9, 1)))
    for x in range(1, 50):
        cube = times((x, 1), times((x, 1), (x, 1)))
        y = square_root(((cube[0] + b[0]) % Q, (cube[1] + b[1]) % Q))
        if y is not None:
            yield (x, 1), y
