"""Sums, products and quotients of elements and of whole axes, and constants."""
