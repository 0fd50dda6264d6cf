"""Functions of JAX, imported as models, losses, whole steps, or arrows with named wires."""

from .models import from_jax
from .programs import from_jax_loss, from_jax_step, imported
from .trees import pytree

__all__ = ["from_jax", "from_jax_loss", "from_jax_step", "imported", "pytree"]
