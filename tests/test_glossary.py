"""Each word of the glossary stands once, in order, and is used where its link leads, and elsewhere too."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "glossary.md").read_text()
SECTIONS = [
    re.findall(r"^- \*\*([a-z ]+)\*\* \(\[[^\]]+\]\(([^)#]+)[^)]*\)\): \S", section, re.MULTILINE)
    for section in PAGE.split("\n## ")[1:]
]
WORDS = [entry for section in SECTIONS for entry in section]
OTHERS = [path for path in sorted(DOCS.glob("*.md")) if path.name != "glossary.md"]
OTHERS += sorted((DOCS.parent / "provers").glob("*.py"))


def words(text: str) -> str:
    """Return the text in small letters, its words one space apart; `-` and `_` stand for a space."""
    return re.sub(r"[\s_-]+", " ", text.lower())


TEXTS = {path: words(path.read_text()) for path in OTHERS}


def uses(spaced: str, word: str) -> bool:
    """Return whether the words of a text have this one, or its plural, and not only inside another."""
    return re.search(rf"(?<![a-z]){word}(s|es)?(?![a-z])", spaced) is not None


def test_every_entry_is_read() -> None:
    assert len(WORDS) == len(re.findall("^- ", PAGE, re.MULTILINE)) > 50


def test_each_word_stands_once_and_in_order() -> None:
    assert len({word for word, _ in WORDS}) == len(WORDS)
    assert all(section == sorted(section) for section in SECTIONS)


def test_each_word_is_used() -> None:
    """At the place that its entry links to, and on another page or in the code of provers."""
    for word, link in WORDS:
        linked = DOCS / link
        assert uses(words(linked.read_text()), word), f"{link} never says {word}"
        assert any(path != linked and uses(text, word) for path, text in TEXTS.items()), f"{link} alone says {word}"


def test_a_word_inside_another_is_no_use_of_it() -> None:
    assert uses(words("two port_lists, Ports"), "port") and uses(words("Zero-\nknowledge"), "zero knowledge")
    assert not uses(words("a transport, portable"), "port")
