"""The checker of certificates: a separate program that needs only Python and numpy, and reads Verilog and certificates.

The checker of certificates imports nothing of the package around it. A copy of the checker's folder runs as `python
checker CERTIFICATE DESIGN`.
"""
