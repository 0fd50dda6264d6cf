"""The network of cnn.py as an exporter writes it, read from ONNX and trained on handwritten digits.

circuitize estimate examples/onnx_digits.py:step
"""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.formats import WEIGHTS
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.onnx.models import from_onnx
from circuitize.sims import real

RECIPE = Recipe(batch=4, epochs=1, learning_rate=0.1)
SHAPES = {"conv.weight": (8, 1, 3, 3), "conv.bias": (8,), "dense.weight": (10, 72), "dense.bias": (10,)}


def exported() -> Any:
    """Return the ONNX model that an exporter writes: an open batch, image [batch, 1, 8, 8] -> logits [batch, 10],
    float32 weights.
    """
    draw = np.random.default_rng(0).normal
    weights = {name: draw(0.0, 0.4, shape) if len(shape) > 2 else np.zeros(shape) for name, shape in SHAPES.items()}
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["features"]),
        helper.make_node("MaxPool", ["features"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Relu", ["pooled"], ["hidden"]),
        helper.make_node("Flatten", ["hidden"], ["row"]),
        helper.make_node("Gemm", ["row", "dense.weight", "dense.bias"], ["logits"], transB=1),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])
    held = [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "digits", [image], [logits], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def step() -> Program:
    """Return one training step on four digits, calibrated on 16 steps of a training run that starts from the weights of
    an ONNX file.
    """
    model = from_onnx(exported(), formats=dict.fromkeys(SHAPES, WEIGHTS))
    program = training.training_step(
        model, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=Precision(margin=4.0)
    )
    batches = [{**batch, "inputs": np.reshape(batch["inputs"], (4, 1, 8, 8))} for batch in RECIPE.batches(digits(0))]
    return training.with_examples(program, *real.record(program, model.initial(0), batches, count=16))
