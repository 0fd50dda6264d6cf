"""What users of both packages write: functions of tensors and layers, each with the shapes that it is tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from circuitize.circuits.types import Shape

Function = tuple[Callable[..., Any], tuple[Shape, ...]]

ONE: tuple[Shape, ...] = ((2, 3, 4),)
TWO: tuple[Shape, ...] = ((2, 3, 4), (3, 4))
IMAGE: tuple[Shape, ...] = ((2, 4, 6, 6),)


def almost_softmax(x: Any, greatest: Any, summed: Any) -> Any:
    """A softmax only where both axes are one."""
    made = (x - x.max(greatest, True)).exp()
    return made / made.sum(summed, True)


def almost_layernorm(x: Any, mean: int, summed: int) -> Any:
    """A normalisation only where both axes are one."""
    centred = x - x.mean(mean, True)
    return centred * ((centred * centred).mean(summed, True) + 0.01).rsqrt()


FUNCTIONS: dict[str, Function] = {
    "add": (lambda x, y: x + y, TWO),
    "subtract": (lambda x, y: 1 - x - y * 2, TWO),
    "multiply": (lambda x, y: x * y * 3, TWO),
    "divide": (lambda x, y: x / (y * y + 1), TWO),
    "power": (lambda x: x**2 + x**3 - x**5 + (x * x + 1) ** -1.5, ONE),
    "base": (lambda x: 2.5**x, ONE),
    "maximum": (lambda x, y: x.maximum(y) + x.minimum(y) * 2, TWO),
    "clip": (lambda x: x.clip(-0.5, 0.25), ONE),
    "compare": (lambda x, y: (x > y) + (x <= y) * 2.0 + (x == x) * 4.0 + (x != y) * 8.0, TWO),
    "where": (lambda x, y: (x > y).where(x, y * 2), TWO),
    "logical": (lambda x, y: ((x > 0) & (y > 0)).where(1.0, 0.0) + ((x > 0) | (y > 0)).where(2.0, 0.0), TWO),
    "relu": (lambda x: x.relu(), ONE),
    "relu6": (lambda x: (x * 9).relu6(), ONE),
    "leaky_relu": (lambda x: x.leaky_relu(0.125), ONE),
    "elu": (lambda x: x.elu(), ONE),
    "celu": (lambda x: x.celu(), ONE),
    "selu": (lambda x: x.selu(), ONE),
    "sigmoid": (lambda x: x.sigmoid(), ONE),
    "tanh": (lambda x: x.tanh(), ONE),
    "gelu": (lambda x: x.gelu(), ONE),
    "quick_gelu": (lambda x: x.quick_gelu(), ONE),
    "silu": (lambda x: x.silu(), ONE),
    "mish": (lambda x: x.mish(), ONE),
    "softplus": (lambda x: x.softplus(), ONE),
    "softsign": (lambda x: x.softsign(), ONE),
    "hardtanh": (lambda x: (x * 2).hardtanh(), ONE),
    "hardswish": (lambda x: x.hardswish(), ONE),
    "logsigmoid": (lambda x: x.logsigmoid(), ONE),
    "erf": (lambda x: x.erf(), ONE),
    "exp": (lambda x: x.exp() + x.exp2(), ONE),
    "log": (lambda x: (x * x + 1).log() + (x * x + 1).log2(), ONE),
    "sqrt": (lambda x: (x * x + 1).sqrt() + (x * x + 1).rsqrt(), ONE),
    "trigonometry": (lambda x: x.sin() + x.cos() * 2, ONE),
    "abs": (lambda x: x.abs() + x.sign() * 2, ONE),
    "round": (lambda x: (x * 5).floor() + (x * 5).ceil() * 2 + (x * 5).trunc() * 4, ONE),
    "square": (lambda x: x.square() + x.neg() + (x.square() + 1).reciprocal(), ONE),
    "sum": (lambda x: x.sum() + x.sum(0).sum(-1, keepdim=True) + x.sum((1, 2))[0], ONE),
    "mean": (lambda x: x.mean() + x.mean(1).mean(-1), ONE),
    "max": (lambda x: x.max() + x.max(1).min(-1), ONE),
    "var": (lambda x: x.var(-1) + x.std(-1), ONE),
    "prod": (lambda x: x.prod(-1), ONE),
    "argmax": (lambda x: x.argmax(-1) + x.argmin(-1) * 10, ONE),
    "cumsum": (lambda x: x.cumsum(1), ONE),
    "softmax": (lambda x: x.softmax(-1) + x.softmax(1), ONE),
    "almost softmax": (
        lambda x: almost_softmax(x, 0, 1) + almost_softmax(x, 2, 2) * 2 + almost_softmax(x, 1, (1, 2)),
        ONE,
    ),
    "almost log_softmax": (lambda x: x - x.max(1, True) - (x - x.max(1, True)).exp().sum(2, True).log(), ONE),
    "almost layernorm": (lambda x: almost_layernorm(x, 1, 2) + almost_layernorm(x, 2, 2) * 2, ONE),
    "almost mean": (lambda x: x - x.sum(1, True) / 4 + (x - x.sum(2, True) / 3), ONE),
    "almost tanh": (lambda x: (x * 2).sigmoid() * 2 + 1 - (x * 3).sigmoid() * 2 - 1, ONE),
    "almost gelu": (lambda x: x * ((x + 0.044715 * x**3) * 0.8).tanh() + x * (1 + (x + 0.04 * x**3).tanh()), ONE),
    "almost silu": (lambda x: x / (2 + (-x).exp()) + x / (1 + (-x * 2).exp()), ONE),
    "squares": (lambda x: (x * x).sum(1) + (x.square() * x).sum(1) + (x * x * x * x).mean(1), ONE),
    "outer": (lambda x, y: (x.unsqueeze(-1) * y.sum(0)).sum(2) + (x.sum(-1).unsqueeze(-1) * y).sum(0)[0], TWO),
    "diagonal": (lambda x: (x.reshape(2, 3, 2, 2) * x.reshape(2, 3, 2, 2).transpose(2, 3)).sum(-1), ONE),
    "log_softmax": (lambda x: x.log_softmax(-1), ONE),
    "logsumexp": (lambda x: x.logsumexp(-1), ONE),
    "layernorm": (lambda x: x.layernorm() + x.layernorm((1, 2)), ONE),
    "matmul": (lambda x, y: x @ y.transpose(0, 1) + x.dot(y.T), TWO),
    "linear": (lambda x, y: x.linear(y.T, y.sum(1)), TWO),
    "reshape": (lambda x: x.reshape(4, 6).flatten().reshape(2, 12), ONE),
    "permute": (lambda x: x.permute(2, 0, 1).transpose(0, 1), ONE),
    "expand": (lambda x: x.unsqueeze(1).expand(2, 5, 3, 4).squeeze(), ONE),
    "slice": (lambda x: x[0, 1:, ::2] + x[1, :-1, 1::2], ONE),
    "flip": (lambda x: x.flip((0, 2)), ONE),
    "pad": (lambda x: x.pad(((0, 0), (1, 2), (0, 1))), ONE),
    "cat": (lambda x, y: x.cat(x * 2, dim=1) + y.sum(), TWO),
    "stack": (lambda x: x.stack(x * 2, dim=1), ONE),
    "split": (lambda x: x.split(1, 1)[0] + x.chunk(3, 1)[2], ONE),
    "repeat": (lambda x: x.repeat((1, 2, 1)), ONE),
    "tril": (lambda x: x.tril() + x.triu() * 2, ONE),
    "cross_entropy": (lambda x, y: x.reshape(6, 4).cross_entropy((y.softmax(-1)).cat(y.softmax(-1))), TWO),
    "binary": (lambda x: x.sigmoid().binary_crossentropy((x > 0).float()), ONE),
    "logits": (lambda x: x.binary_crossentropy_logits((x > 0).float()), ONE),
    "attention": (lambda x: x.scaled_dot_product_attention(x * 2, x + 1), ONE),
    "causal": (lambda x: x.scaled_dot_product_attention(x, x + 1, is_causal=True), ONE),
    "conv2d": (lambda x, w: x.conv2d(w), (*IMAGE, (3, 4, 2, 3))),
    "conv2d padded": (lambda x, w: x.conv2d(w, padding=(1, 2), stride=2), (*IMAGE, (3, 4, 3, 2))),
    "conv2d dilated": (lambda x, w: x.conv2d(w, dilation=2), (*IMAGE, (2, 4, 2, 2))),
    "conv2d groups": (lambda x, w: x.conv2d(w, groups=2), (*IMAGE, (4, 2, 2, 2))),
    "conv_transpose2d": (lambda x, w: x.conv_transpose2d(w, stride=2), (*IMAGE, (4, 2, 2, 2))),
    "avg_pool2d": (lambda x: x.avg_pool2d((2, 2)) + x.avg_pool2d((3, 3), stride=2, padding=1)[:, :, :3, :3], IMAGE),
    "max_pool2d": (lambda x: x.max_pool2d((2, 3), stride=(2, 1)), IMAGE),
    "max_pool2d padded": (lambda x: x.max_pool2d((3, 3), stride=2, padding=1), IMAGE),
}
"""Functions of tensors by the name under which users look for them."""

LAYERS: dict[str, tuple[Callable[[Any], Any], Shape]] = {
    "Linear": (lambda nn: nn.Linear(4, 3), (2, 4)),
    "LayerNorm": (lambda nn: nn.LayerNorm(4), (2, 3, 4)),
    "RMSNorm": (lambda nn: nn.RMSNorm(4), (2, 3, 4)),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), (2, 4, 3, 3)),
    "InstanceNorm": (lambda nn: nn.InstanceNorm(4), (2, 4, 3, 3)),
    "LayerNorm2d": (lambda nn: nn.LayerNorm2d(4), (2, 4, 3, 3)),
    "BatchNorm": (lambda nn: nn.BatchNorm(4), (2, 4, 3, 3)),
    "Conv1d": (lambda nn: nn.Conv1d(4, 2, 3, padding=1), (2, 4, 5)),
    "Conv2d": (lambda nn: nn.Conv2d(4, 2, 3, stride=2), (2, 4, 5, 5)),
    "ConvTranspose2d": (lambda nn: nn.ConvTranspose2d(4, 2, 2), (2, 4, 3, 3)),
}
"""Layers by their names, each with the shape of an input."""
