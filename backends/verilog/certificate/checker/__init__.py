"""The checker of certificates: a program of its own, of Python and numpy alone, that reads Verilog and certificates.

It imports nothing of the package around it. A copy of this folder runs as `python checker CERTIFICATE DESIGN`.
"""
