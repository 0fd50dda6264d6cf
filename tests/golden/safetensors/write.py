"""Wrote the files beside it, with the packages safetensors 0.8.0 and torch 2.15.0."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

HERE = Path(__file__).parent
KINDS = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32", torch.float64: "F64"}
KINDS |= {torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8"}
KINDS |= {torch.bool: "BOOL"}

torch.manual_seed(0)
drawn = torch.randn(3, 5) * torch.tensor([1.0, 1e-3, 1e3, 1e-7, 1e4])
files = {
    "halves": {"weight": drawn.half(), "bias": drawn[0].half()},
    "sixteen": {"weight": drawn.bfloat16(), "bias": drawn[0].bfloat16(), "step": torch.tensor(7)},
    "mixed": {
        "z": drawn,
        "a": drawn.double(),
        "scalar": torch.tensor(-0.5),
        "none": torch.zeros(0, 3),
        **{str(kind): torch.tensor([[1, 0]]).to(kind) for kind in KINDS if not kind.is_floating_point},
    },
}
expected = {}
for name, tensors in files.items():
    save_file(tensors, HERE / f"{name}.safetensors", {"format": "pt"})
    expected[f"{name}.safetensors"] = {key: (KINDS[t.dtype], t.tolist()) for key, t in tensors.items()}
(HERE / "expected.json").write_text(json.dumps(expected) + "\n")
