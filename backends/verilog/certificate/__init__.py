"""Certificates, which show that a parallel design computes its program for all inputs, and the checker of
certificates.
"""

from .checker.check import statement_digest
from .checker.refusal import Refused
from .writer import certificate, statement_of, streams_of

__all__ = ["Refused", "certificate", "statement_digest", "statement_of", "streams_of"]
