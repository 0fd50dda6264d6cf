"""Disputes: two trainings that should agree, the first step, operation and element that differ, and who is right."""
