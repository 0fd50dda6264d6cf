"""Wrote the files beside it, each with inputs and outputs, by torch 2.15.0, onnxscript 0.7.2 and safetensors 0.8.0."""

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 5), nn.Linear(5, 3, bias=False)

    def forward(self, x: Any) -> Any:
        return self.second(torch.relu(self.first(x)))


class Convolutional(nn.Module):
    """Batch norm, strides, padding, groups, both kinds of pooling, class scores."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU())
        self.depthwise = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2)
        self.norm = nn.GroupNorm(2, 8)
        self.head = nn.Linear(8 * 2 * 2, 3)

    def forward(self, x: Any) -> Any:
        x = functional.max_pool2d(self.stem(x), 2)
        x = functional.avg_pool2d(functional.silu(self.norm(self.depthwise(x))), 2, stride=1, padding=1)
        x = x[:, :, :2, 1:] + functional.adaptive_avg_pool2d(x, 1)
        return functional.log_softmax(self.head(torch.flatten(x, 1)), dim=-1)


class Generative(nn.Module):
    """A GPT of one block, as nanoGPT writes it: tied tables, causal attention, GELU by its hyperbolic tangent."""

    def __init__(self, words: int = 11, context: int = 6, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(context, width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", torch.tril(torch.ones(context, context)).bool())

    def attention(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
        scores = scores.masked_fill(~self.mask[:length, :length], float("-inf"))
        y = functional.softmax(scores, dim=-1) @ v
        return self.dropout(self.project(y.transpose(1, 2).contiguous().view(batch, length, width)))

    def forward(self, words: Any) -> Any:
        x = self.tokens(words) + self.positions(torch.arange(words.shape[1]))
        x = x + self.attention(self.norm1(x))
        x = x + self.narrow(functional.gelu(self.wide(self.norm2(x)), approximate="tanh"))
        return self.head(self.norm3(x))


class Attending(Generative):
    """The same with torch's own attention."""

    def attention(self, x: Any) -> Any:
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.project(y.transpose(1, 2).flatten(2))


class Elements(nn.Module):
    """Operations that the networks lack."""

    def forward(self, x: Any, y: Any) -> Any:
        above = torch.where(x > y, torch.tanh(x), torch.sigmoid(y)) + torch.maximum(x, y).clamp(-0.5, 0.75)
        curves = functional.leaky_relu(x, 0.1) + functional.elu(y) + functional.softplus(x) + functional.hardtanh(y)
        roots = torch.sqrt(x.abs() + 1) + torch.rsqrt(y**2 + 1) + torch.log(x.abs() + 2) - torch.exp(-y)
        sums = x.sum(1, keepdim=True) + y.mean(0) + x.amax(1, keepdim=True) - y.var(1, keepdim=True, correction=0)
        joined = torch.cat([above, curves[:, 1:], roots.flip(1)], 1).unsqueeze(0).expand(2, -1, -1)
        turned = torch.stack([x, y]).permute(0, 2, 1).reshape(2, 4, 3).select(0, 1)
        dots = torch.bmm(joined, joined.transpose(1, 2)) / 3.0 + torch.addmm(x @ x.T, y, y.T, beta=0.5, alpha=2.0)
        squared = (x.pow(3) + functional.gelu(y)).relu().squeeze()
        return sums, joined, turned - 1.5, 2.0 - dots, squared * torch.full((3, 4), 0.5), torch.sub(x, y, alpha=2)


def exported(name: str, module: Any, inputs: tuple[Any, ...], decomposed: bool) -> None:
    module.eval()
    program = torch.export.export(module, inputs)
    if decomposed:
        program = program.run_decompositions()
    for node in program.graph.nodes:
        # Places in files of the machine that wrote it, and nothing else, are left out.
        for key in ("stack_trace", "from_node", "nn_module_stack", "source_fn_stack", "torch_fn"):
            node.meta.pop(key, None)
    program._example_inputs = None
    file = BytesIO()
    torch.export.save(program, file)
    (HERE / f"{name}.pt2.gz").write_bytes(gzip.compress(file.getvalue(), mtime=0))
    if decomposed and name != "elements":
        exported_to_onnx(name, module, inputs)
    outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    values = {f"input{n}": value for n, value in enumerate(inputs)}
    values |= {f"output{n}": value.detach().contiguous() for n, value in enumerate(outputs)}
    parameters = dict(module.named_parameters())
    if parameters:
        values["cotangent"] = torch.randn(outputs[0].shape)
        found = torch.autograd.grad(outputs[0], list(parameters.values()), values["cotangent"])
        values |= {f"gradient.{name}": gradient.contiguous() for name, gradient in zip(parameters, found, strict=True)}
    save_file(values, HERE / f"{name}.safetensors")


def exported_to_onnx(name: str, module: Any, inputs: tuple[Any, ...]) -> None:
    """By torch's exporter, with onnxscript 0.7.2; the first axis is left open."""
    axes = tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs)
    model = torch.onnx.export(module, inputs, dynamo=True, dynamic_shapes=axes, verbose=False).model_proto
    for held in (model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer):
        del held.metadata_props[:]
        held.ClearField("doc_string")
    (HERE / f"{name}.onnx.gz").write_bytes(gzip.compress(model.SerializeToString(deterministic=True), mtime=0))


torch.manual_seed(0)
norm = (convolutional := Convolutional()).stem[1]
norm.running_mean.normal_(), norm.running_var.uniform_(0.5, 2.0), nn.init.uniform_(norm.weight)
nn.init.normal_(norm.bias)
words = torch.randint(0, 11, (2, 5))
exported("perceptron", Perceptron(), (torch.randn(4, 6),), True)
exported("perceptron_as_it_is", Perceptron(), (torch.randn(4, 6),), False)
exported("convolutional", convolutional, (torch.randn(2, 2, 8, 8),), True)
exported("convolutional_as_it_is", convolutional, (torch.randn(2, 2, 8, 8),), False)
exported("generative", Generative(), (words,), True)
exported("generative_as_it_is", Generative(), (words,), False)
exported("attending", Attending(), (words,), True)
exported("attending_as_it_is", Attending(), (words,), False)
exported("elements", Elements(), (torch.randn(3, 4), torch.randn(3, 4)), True)
