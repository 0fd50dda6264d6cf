"""Disputes between two trainings that should agree: the first step, operation and element in which they differ, and
which of the two is right.
"""
