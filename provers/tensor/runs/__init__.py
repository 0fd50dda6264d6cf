"""Proved training runs: consecutive steps that are proved one by one, where the roots of the held values join each
proof to the next.
"""
