"""The tokens of a Verilog file in order, each with its place in the text."""

from __future__ import annotations

import re

from .refusal import Refused

TOKEN = re.compile(
    r"[ \t\n]+|//[^\r\n\0]*|`default_nettype (?:none|wire)(?=\n|\Z)"
    r"|(?P<number>\d*'s?[dhb][0-9a-fA-F]+|\d+)|(?P<word>[A-Za-z_$]\w*)|(?P<text>\"[^\"\n]*\")"
    r"|(?P<mark><=|>=|==|!=|&&|\|\||~\||~&|~\^|\^~|\+:|[-+*/&|~^?:;,.#()\[\]{}<>=@])",
    re.ASCII,
)
PLAIN = re.compile(r'"[A-Za-z0-9_]*(\.hex)?"')
"""The texts that every tool reads alike: a backslash may stand for another sign, or keep a text from its end."""

DIRECTIVE = re.compile(
    r"//.*\b(?:synopsys|synthesis|rtl_synthesis|pragma|exemplar|ambit|altera|verilator|translate_o(?:n|ff))\b",
    re.IGNORECASE,
)
"""Comments that tools obey: text behind such a comment may be left out."""

WORDS = frozenset(
    """
    module endmodule input output wire reg signed assign always posedge begin end if else initial genvar generate
    endgenerate for parameter
    """.split()  # noqa: SIM905
)


class Tokens:
    """A Verilog text that is read token by token; `at` is the place of the next token.

    An error in reading Verilog names the file and the line.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file, self.text = file, text
        self.tokens: list[str] = []
        self.places: list[int] = []
        end = 0
        while end < len(text):
            match = TOKEN.match(text, end)
            if match is None:
                raise Refused(f"{file}:{self._line(end)}: expected Verilog of the subset, found {text[end]!r}")
            found, kind = match[0], match.lastgroup
            if kind is None and DIRECTIVE.match(found):
                raise Refused(f"{file}:{self._line(end)}: expected a comment that no tool reads, found {found}")
            if kind == "text" and not PLAIN.fullmatch(found):
                raise Refused(f"{file}:{self._line(end)}: expected the plain name of a file or a word, found {found}")
            if kind is not None:
                self.tokens.append(found)
                self.places.append(end)
            end = match.end()
        self.tokens.append("")
        self.places.append(end)
        self.at = 0

    def _line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def fail(self, wanted: str) -> Refused:
        """Return the error that names what was expected and the token that was found."""
        found = self.tokens[self.at] or "the end"
        return Refused(f"{self.file}:{self._line(self.places[self.at])}: expected {wanted}, found {found}")

    def next(self) -> str:
        """Return the next token, and move past it."""
        token = self.tokens[self.at]
        self.at += 1
        return token

    def take(self, token: str) -> bool:
        """Return whether the next token equals the given one, and move past it if so."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, *tokens: str) -> None:
        """Move past the given tokens.

        Raise Refused if the text has another token in their place.
        """
        for token in tokens:
            if not self.take(token):
                raise self.fail(token)

    def name(self) -> str:
        """Return the next token, which must be a name.

        Raise Refused for a token that is no name.
        """
        token = self.tokens[self.at]
        if not re.match(r"[A-Za-z_]\w*\Z", token) or token in WORDS:
            raise self.fail("a name")
        return self.next()
