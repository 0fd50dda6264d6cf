"""Translation rules for ATen's matrix products and attention."""

from __future__ import annotations

import math

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.attention import MASKED, causal
from circuitize.frontends.functions import einsum, softmax, where
from circuitize.frontends.tensor import Tensor

from .node import Known, operator


@operator("mm", "bmm")
def mm(x: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices, or of each pair of matrices in two batches."""
    return x @ mat2


@operator("matmul", "mv", "dot")
def matmul(x: Tensor, other: Tensor | None = None, vec: Tensor | None = None, tensor: Tensor | None = None) -> Tensor:
    """Return the product of matrices, vectors, or batches of matrices, by numpy's rules."""
    right = next(operand for operand in (other, vec, tensor) if operand is not None)
    return x @ right


@operator("addmm")
def addmm(x: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * x + alpha * (mat1 @ mat2)."""
    return _sum(x, mat1 @ mat2, beta, alpha)


@operator("baddbmm")
def baddbmm(x: Tensor, batch1: Tensor, batch2: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return beta * x + alpha * (batch1 @ batch2), for each pair of matrices in two batches."""
    return _sum(x, batch1 @ batch2, beta, alpha)


def _sum(x: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (x if beta == 1 else x * beta)


@operator("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x weight^T + bias: torch keeps linear weights as [out, in]."""
    product = input @ weight.transpose()
    return product if bias is None else product + bias


@operator("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | Known | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return softmax(query key^T scale + mask) value; a mask of truth values hides positions where it is 0, and so does
    is_causal.
    """
    if dropout_p or enable_gqa:
        raise CircuitizeError(
            "expected attention without dropout and grouped queries, found them; export module.eval()"
        )
    rows, columns = query.shape[-2], key.shape[-2]
    letters = "abcefgh"[: query.ndim - 2]
    scores = einsum(f"{letters}qd,{letters}xd->{letters}qx", query * (scale or 1 / math.sqrt(query.shape[-1])), key)
    if is_causal:
        mask = causal(rows) if rows == columns else np.tril(np.ones((rows, columns)))
        scores = where(scores.constant(mask).broadcast(scores.shape), scores, MASKED)
    if attn_mask is not None:
        of_truths = isinstance(attn_mask, np.ndarray) and set(np.unique(attn_mask).tolist()) <= {0.0, 1.0}
        scores = (
            where(scores.constant(attn_mask).broadcast(scores.shape), scores, MASKED)
            if of_truths
            else (scores + attn_mask)
        )
    return einsum(f"{letters}qx,{letters}xd->{letters}qd", softmax(scores), value)


attention.takes_known = True  # type: ignore[attr-defined]
