"""Training steps lowered to exact fixed-point circuits."""

__version__ = "0.1.0"
