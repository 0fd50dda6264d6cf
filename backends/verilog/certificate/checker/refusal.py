"""The one way to say that something was not shown."""

from __future__ import annotations


class Refused(Exception):
    """Something is not shown; the text says what, and in which module."""
