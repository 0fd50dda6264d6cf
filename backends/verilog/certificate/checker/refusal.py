"""The error by which the checker says that something was not shown."""

from __future__ import annotations


class Refused(Exception):
    """The checker could not show a claim; the text says which one, and in which module."""
