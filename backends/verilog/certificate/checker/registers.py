"""The compiler of a folded design's registers: the word of a register after an edge is a function of the words before
the edge.
"""

from __future__ import annotations

from operator import itemgetter

from .closures import Compiler
from .compiled import Compiled, Values
from .elaboration import Scope
from .syntax import Assignment, Branch, Statement
from .word import Word


class RegisterCompiler(Compiler):
    """A compiler of clocked blocks: every right side reads the words before the edge, and the last assignment to a
    register counts.
    """

    def following(self, body: tuple[Statement, ...], scope: Scope, name: str) -> Compiled:
        """Compile the word that a register holds after an edge of its clock, as a function of the words before the
        edge.
        """
        net = self.circuit.nets[name]
        root = self.numbers[name]
        held = Compiled(net.width, net.signed, frozenset({root}), itemgetter(root))
        return self._following(body, scope, name, held)

    def _following(self, body: tuple[Statement, ...], scope: Scope, name: str, now: Compiled) -> Compiled:
        for part in body:
            if isinstance(part, Branch):
                if not any(self._assigns(side, scope, name) for side in (part.yes, part.no)):
                    continue
                yes = self._following(part.yes, scope, name, now)
                no = self._following(part.no, scope, name, now)
                now = self.chosen(self.expression(part.condition, scope, 1), yes, no, now.signed)
            elif isinstance(part, Assignment) and self.circuit.net(part.target.name, scope) == name:
                _, low, width = self.circuit.place(part.target, scope)
                if width == now.width:
                    now = self.driven(part.value, scope, width, now.signed)
                else:
                    given = self.expression(part.value, scope, width)
                    pieces = [(now, 0, low), (given, 0, width), (now, low + width, now.width - low - width)]
                    now = self._joined(pieces, now.width, now.signed)
        return now

    def _assigns(self, body: tuple[Statement, ...], scope: Scope, name: str) -> bool:
        for part in body:
            if isinstance(part, Branch):
                if self._assigns(part.yes, scope, name) or self._assigns(part.no, scope, name):
                    return True
            elif isinstance(part, Assignment) and self.circuit.net(part.target.name, scope) == name:
                return True
        return False

    def _joined(self, pieces: list[tuple[Compiled, int, int]], width: int, signed: bool) -> Compiled:
        words = self.words
        kept = [piece for piece in pieces if piece[2]]

        def word(values: Values) -> Word:
            return words.join(
                [(words.slice(part.word(values), low, size, part.width), size) for part, low, size in kept]
            )

        return Compiled(width, signed, frozenset[int]().union(*(part.reads for part, _, _ in kept)), word)
