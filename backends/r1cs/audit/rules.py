"""The loop that applies all rules of the audit until none of them determines another wire."""

from __future__ import annotations

from .brackets import by_bracket, by_linear_bracket
from .cases import by_cases
from .determination import Determination, Reason
from .relations import Kind
from .zero_tests import by_zero_test, zero_test_candidates


def settle(state: Determination) -> None:
    """Propagate what is determined; when nothing more follows, try zero tests, then intervals, then quotients and
    roots, then cases, on the rows that are still open.
    """
    progress = True
    while progress:
        state.propagate()
        progress = False
        for form, rows in zero_test_candidates(state).items():
            progress |= state.determine(by_zero_test(state, form, rows), Reason.ZERO_TEST)
        progress = progress or state.propagate_intervals()
        if not progress:
            for row in state.open_rows():
                if state.relations.kind[row] == Kind.PRODUCT:
                    progress |= state.determine(by_bracket(state, row), Reason.BRACKET)
                elif state.relations.kind[row] == Kind.TWO_VALUED:
                    progress |= state.determine(by_linear_bracket(state, row), Reason.BRACKET)
        if not progress:
            for row in state.open_rows():
                if state.relations.kind[row] == Kind.TWO_VALUED:
                    progress |= state.determine(by_cases(state, row), Reason.CASES)
