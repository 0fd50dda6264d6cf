"""Binary decision diagrams: functions of bits as numbers, of which two are equal exactly if the functions are (Bryant
1986).
"""

from __future__ import annotations


class Decisions:
    """A store of functions of bits, in which each function is a number.

    The functions 0 and 1 are constant; any other number stands for a variable and for the two functions that result if
    the variable is 1 and if it is 0.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int, int]] = [(1 << 60, 0, 0), (1 << 60, 1, 1)]
        self._known: dict[tuple[int, int, int], int] = {}
        self._chosen: dict[tuple[int, int, int], int] = {}

    def variable(self, number: int) -> int:
        """Return the function that is one variable; variables are tested in the order of their numbers."""
        return self._node(number, 1, 0)

    def choose(self, condition: int, yes: int, no: int) -> int:
        """Return the function that is `yes` where the condition is 1, `no` elsewhere."""
        if condition < 2 or yes == no:
            return yes if condition else no
        if yes == 1 and no == 0:
            return condition
        key = (condition, yes, no)
        found = self._chosen.get(key)
        if found is None:
            first = min(self.nodes[function][0] for function in key)
            at_one = self.choose(*(self._at(function, first, 1) for function in key))
            at_zero = self.choose(*(self._at(function, first, 0) for function in key))
            found = self._chosen[key] = self._node(first, at_one, at_zero)
        return found

    def invert(self, function: int) -> int:
        """Return the negation of a function, which is 1 where the function is 0."""
        return self.choose(function, 0, 1)

    def both(self, left: int, right: int) -> int:
        """Return the conjunction of two functions, which is 1 where both functions are 1."""
        return self.choose(left, right, 0)

    def either(self, left: int, right: int) -> int:
        """Return the disjunction of two functions, which is 1 where at least one of the functions is 1."""
        return self.choose(left, 1, right)

    def at_zeros(self, function: int) -> int:
        """Return the value of a function if all variables are 0."""
        while function > 1:
            function = self.nodes[function][2]
        return function

    def variables(self, function: int) -> set[int]:
        """Return the variables on which a function depends."""
        found: set[int] = set()
        seen, front = {0, 1}, [function]
        while front:
            node = front.pop()
            if node not in seen:
                seen.add(node)
                number, yes, no = self.nodes[node]
                found.add(number)
                front += [yes, no]
        return found

    def _at(self, function: int, variable: int, value: int) -> int:
        number, yes, no = self.nodes[function]
        return function if number != variable else yes if value else no

    def _node(self, variable: int, yes: int, no: int) -> int:
        if yes == no:
            return yes
        key = (variable, yes, no)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(key)
        return self._known[key]
