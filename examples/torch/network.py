"""A network for handwritten digits in torch; running this file writes digits.pt2, which digits.py reads. Needs torch.

python examples/torch/network.py
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

BATCH = 16


def network() -> Any:
    """Return a network that maps [batch, 64], the brightnesses of 8 x 8 pixels, to [batch, 10], a score for each
    digit.
    """
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def exported() -> Any:
    """Return the graph that torch.export makes, without the source lines that torch remembers for each operation."""
    made = torch.export.export(network().eval(), (torch.zeros(BATCH, 64),)).run_decompositions()
    for node in made.graph.nodes:
        for key in ("stack_trace", "from_node", "nn_module_stack", "source_fn_stack", "torch_fn"):
            node.meta.pop(key, None)
    return made


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.export.save(exported(), Path(__file__).with_name("digits.pt2"))
