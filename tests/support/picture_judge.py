"""Judges a picture by the SVG alone: what overlaps, is too faint or too small, or is not allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PAGE = 800
"""The least width in pixels of the page that a picture is shown on."""
STRIP = 50
LEAST_SIZE, LEAST_CONTRAST = 8.0, 4.5
KNOWN = {"svg", "title", "style", "g", "rect", "path", "polygon", "circle", "text"}
Span = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass
class Mark:
    """An element with the classes of itself and of all around it."""

    element: ElementTree.Element
    classes: list[set[str]]
    groups: list[ElementTree.Element]
    span: Span = (0, 0, 0, 0)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What its style depends on."""
        return self.element.tag, *(tuple(sorted(own)) for own in self.classes)


@dataclass
class Picture:
    """What an SVG draws, in order."""

    root: ElementTree.Element
    marks: list[Mark] = field(default_factory=list)
    themes: dict[str, list[tuple[list[str], dict[str, str]]]] = field(default_factory=dict)
    styles: dict[object, dict[str, str]] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.element.tag.removeprefix(SVG) in kinds]

    def groups(self, kind: str) -> list[ElementTree.Element]:
        return [e for e in self.root.iter(f"{SVG}g") if kind in e.get("class", "").split()]

    def style(self, mark: Mark, theme: str) -> dict[str, str]:
        """What the rules say of an element: the more special ones, and of those the later ones, win."""
        key = theme, mark.key
        if key not in self.styles:
            self.styles[key] = self._style(mark.element.tag.removeprefix(SVG), mark.classes, theme)
        return self.styles[key]

    def _style(self, kind: str, classes: Sequence[set[str]], theme: str) -> dict[str, str]:
        found: list[tuple[int, int, dict[str, str]]] = []
        for place, (selector, said) in enumerate(self.themes[theme]):
            if _matches(selector, kind, classes):
                found.append((sum(part.count(".") for part in selector), place, said))
        style: dict[str, str] = {}
        for _, _, said in sorted(found, key=lambda entry: entry[:2]):
            style |= said
        return style


@lru_cache(maxsize=2)
def read(text: str) -> Picture:
    """Several look at one picture; none changes it."""
    root = ElementTree.fromstring(text)
    picture = Picture(root)
    css = "".join(style.text or "" for style in root.iter(f"{SVG}style"))
    light, _, dark = css.partition("@media (prefers-color-scheme:dark){")
    assert dark.endswith("}"), "no rules for the dark"
    picture.themes = {"light": list(_rules(light)), "dark": [*_rules(light), *_rules(dark[:-1])]}
    _walk(root, [], [], picture.marks)
    for mark in picture.of("text", "rect", "polygon"):
        mark.span = _span(picture, mark)
    return picture


def _rules(css: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        said = dict(pair.split(":", 1) for pair in body.split(";") if pair)
        for selector in selectors.split(","):
            yield selector.split(), said


def _matches(selector: list[str], kind: str, classes: Sequence[set[str]]) -> bool:
    def simple(part: str, own: set[str], name: str) -> bool:
        element, *named = part.split(".")
        return (not element or element == name) and set(named) <= own

    *above, last = selector
    if not simple(last, classes[-1], kind):
        return False
    around = iter(classes[:-1])
    return all(any(simple(part, own, "") for own in around) for part in above)


def _walk(
    element: ElementTree.Element, classes: list[set[str]], groups: list[ElementTree.Element], found: list[Mark]
) -> None:
    own = [*classes, set(element.get("class", "").split())]
    inside = [*groups, element]
    if element.tag not in (f"{SVG}svg", f"{SVG}g", f"{SVG}title", f"{SVG}style"):
        found.append(Mark(element, own, groups))
    for child in element:
        _walk(child, own, inside, found)


def _span(picture: Picture, mark: Mark) -> Span:
    element = mark.element
    if element.tag == f"{SVG}text":
        style = picture.style(mark, "light")
        size, wide, x, y = (
            float(style["font-size"][:-2]),
            *(float(element.get(k, "")) for k in ("textLength", "x", "y")),
        )
        left = x - {"middle": wide / 2, "end": wide}.get(style.get("text-anchor", ""), 0)
        # From the height of capitals to the depth of a comma.
        return left, y - 0.73 * size, left + wide, y + 0.2 * size
    if element.tag == f"{SVG}rect":
        x, y, wide, tall = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
        return x, y, x + wide, y + tall
    points = [[float(number) for number in pair.split(",")] for pair in element.get("points", "").split()]
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def overlap(a: Span, b: Span) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def within(a: Span, b: Span) -> bool:
    return b[0] <= a[0] and b[1] <= a[1] and a[2] <= b[2] and a[3] <= b[3]


def faults(text: str) -> list[str]:
    """What is wrong with a picture, a line each; of a good one nothing."""
    picture = read(text)
    wide, tall = (float(picture.root.get(key, "")) for key in ("width", "height"))
    found = [f"element {e.tag}" for e in picture.root.iter() if e.tag.removeprefix(SVG) not in KNOWN]
    attributes = [(name, e.tag) for e in picture.root.iter() for name in e.attrib]
    found += [f"{name} of {tag}" for name, tag in attributes if name.startswith("on") or "href" in name]
    found += [word for word in ("url(", "@import", "<!") if word in text]
    found += ["a network"] * (text.count("://") != 1)
    texts, shapes = picture.of("text"), [mark for mark in picture.of("rect", "polygon") if "f" in mark.classes[-1]]
    page = (0.0, 0.0, wide, tall)
    found += [f"off the page: {t.element.text}" for t in [*texts, *shapes] if not within(t.span, page)]
    under: dict[int, list[Mark]] = {}
    written_ones = {id(mark) for mark in texts}
    for one, other in _near([*texts, *shapes]):
        if not overlap(one.span, other.span):
            continue
        a, b = (mark.element.text or "a box" for mark in (one, other))
        if {id(one), id(other)} <= written_ones:
            found.append(f"texts overlap: {a!r} {b!r} at {one.span}, {other.span}")
        elif not {id(one), id(other)} & written_ones:
            found.append(f"boxes overlap at {one.span}, {other.span}")
        else:
            written, shape = (one, other) if id(one) in written_ones else (other, one)
            under.setdefault(id(written), []).append(shape)
            if not within(written.span, shape.span) and not _inside(written, shape):
                found.append(f"a box cuts {written.element.text!r} at {written.span}")
    found += [f"a line crosses {mark.element.text!r} at {mark.span}" for mark in _crossed(picture, texts)]
    paper = picture.of("rect")[:1]
    for theme in picture.themes:
        for mark in texts:
            style = picture.style(mark, theme)
            for shape in under.get(id(mark), paper):
                ratio = contrast(style["fill"], picture.style(shape, theme)["fill"])
                if ratio < LEAST_CONTRAST:
                    found.append(f"{theme}: contrast {ratio:.2f} of {mark.element.text!r}")
            if float(style["font-size"][:-2]) * min(1.0, PAGE / wide) < LEAST_SIZE:
                found.append(f"{style['font-size']} of {mark.element.text!r} in a picture of {wide:.0f} pixels")
    return found


def _inside(text: Mark, shape: Mark) -> bool:
    """Whether a text is written on a shape of its own group, and no wider."""
    return shape.groups[-1] is text.groups[-1] and shape.span[0] <= text.span[0] and text.span[2] <= shape.span[2]


def _near(marks: Sequence[Mark]) -> Iterator[tuple[Mark, Mark]]:
    """Pairs that may overlap: by the strips of the page that they lie in."""
    strips: dict[int, list[Mark]] = {}
    for mark in marks:
        for strip in range(int(mark.span[1] // STRIP), int(mark.span[3] // STRIP) + 1):
            strips.setdefault(strip, []).append(mark)
    seen: set[tuple[int, int]] = set()
    for inside in strips.values():
        inside.sort(key=lambda mark: mark.span[0])
        for place, one in enumerate(inside):
            for other in inside[place + 1 :]:
                if other.span[0] >= one.span[2]:
                    break
                if (id(one), id(other)) not in seen and (id(other), id(one)) not in seen:
                    seen.add((id(one), id(other)))
                    yield one, other


def _crossed(picture: Picture, texts: Sequence[Mark]) -> Iterator[Mark]:
    """Texts that a line runs through; lines are taken as points close to each other."""
    points: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for mark in picture.of("path"):
        for x, y in _points(mark.element.get("d", "")):
            points.setdefault((int(x // STRIP), int(y // STRIP)), []).append((x, y))
    for text in texts:
        left, top, right, low = text.span
        cells = [
            (across, down)
            for across in range(int(left // STRIP), int(right // STRIP) + 1)
            for down in range(int(top // STRIP), int(low // STRIP) + 1)
        ]
        near = (point for cell in cells for point in points.get(cell, ()))
        if any(left < x < right and top + 1 < y < low - 1 for x, y in near):
            yield text


BERNSTEIN = [(s**3, 3 * s * s * t, 3 * s * t * t, t**3) for t, s in ((k / 24, 1 - k / 24) for k in range(25))]
"""Weights of the four points of a curve, at points along it."""


def _points(steps: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    for kind, numbers in re.findall(r"([MHC])([-\d. ]+)", steps):
        values = [float(number) for number in numbers.split()]
        if kind == "M":
            x, y = values
        elif kind == "H":
            count = max(1, int(abs(values[0] - x) / 4))
            yield from ((x + (values[0] - x) * k / count, y) for k in range(count + 1))
            x = values[0]
        else:
            (a, b), (c, d), (e, f) = values[:2], values[2:4], values[4:]
            for p, q, r, s in BERNSTEIN:
                yield p * x + q * a + r * c + s * e, p * y + q * b + r * d + s * f
            x, y = e, f


@cache
def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.1 of two colours #rrggbb."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def operations(text: str) -> list[list[int]]:
    """The operations that each box says it has, by their places in the arrow."""
    found = []
    for group in read(text).groups("b"):
        places: list[int] = []
        for run in group.get("data-operations", "").split():
            first, _, last = run.partition("-")
            places += range(int(first), int(last or first) + 1)
        if group.get("data-operations") is not None:
            found.append(places)
    return found


def wires(text: str) -> list[int]:
    """The wires that are drawn, in order."""
    return [int(group.get("data-wire", "")) for group in read(text).groups("w")]
