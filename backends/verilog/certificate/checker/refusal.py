"""The error by which the checker says that something was not shown."""

from __future__ import annotations


class Refused(Exception):
    """An error that says which claim the checker could not show, and in which module."""
