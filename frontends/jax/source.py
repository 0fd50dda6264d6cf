"""The place in the user's program that a jaxpr's equation comes from, as JAX has recorded it: file, line, and the part
of the model.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .jaxprs import JaxprEquation

TRANSFORMS = ("jvp", "transpose", "vmap", "remat", "checkpoint", "rematted_computation", "jit")
"""The words in which JAX wraps the names of parts."""
OTHERS = ("jax", "jaxlib", "optax", "flax", "keras", "chex", "equinox", "haiku", "numpy", "circuitize")
"""The packages whose frames are not the user's code."""


def folders() -> tuple[str, ...]:
    """Return the folders of those imported packages whose frames in a traceback are not the user's code."""
    found = (getattr(sys.modules.get(name), "__file__", None) for name in OTHERS)
    return tuple(str(Path(file).parent) for file in found if file)


def source(equation: JaxprEquation, others: tuple[str, ...]) -> tuple[tuple[str, int] | None, str]:
    """Return the file and line of the innermost frame outside the given folders, or None, and the part of the model to
    which an equation belongs.

    The part of the model is JAX's name stack, or else the user's function, followed by `derivative` if the jaxpr's
    equation is transposed.
    """
    traceback = equation.source_info.traceback
    skipped = ("<", *others)
    frames = traceback.frames if traceback is not None else []
    frame = next((frame for frame in frames if not frame.file_name.startswith(skipped)), None)
    stack = str(equation.source_info.name_stack)
    names = [name for name in re.split(r"[/()]+", stack) if name and name not in TRANSFORMS]
    if not names and frame is not None:
        name = frame.function_name.rpartition(".")[2]
        names = [name] if name.isidentifier() else []
    place = None if frame is None else (re.split(r"[/\\]", frame.file_name)[-1], frame.line_num)
    return place, (".".join(names) + " derivative" * ("transpose(" in stack)).strip()
