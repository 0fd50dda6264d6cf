"""Smooth functions of one number, by tables and polynomials with proved errors."""
