"""The checker of certificates: a program of its own, of Python and numpy alone, that reads Verilog and certificates.

The checker of certificates imports nothing of the package around it. A copy of the checker's folder runs as `python
checker CERTIFICATE DESIGN`.
"""
