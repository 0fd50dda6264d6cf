"""Functions of JAX, taken in as models, losses and whole steps."""

from .models import model
from .programs import imported, loss, step

__all__ = ["imported", "loss", "model", "step"]
