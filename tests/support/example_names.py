"""The programs of the examples folder by name: one of each kind, and all."""

FEW = (
    *("iris.py:step", "digits.py:adam", "digits_xent.py:adam", "cnn.py:step", "cnn.py:predict", "dense.py:small"),
    *(
        "matmul.py:product",
        "jet.py:scores",
        "mnist_mlp.py:step",
        "transformer.py:step",
        "mlp_1m.py:step",
        "gpt2_folder.py:logits",
    ),
)
"""What other tests load too, so that most of the work is shared."""

OTHERS = (
    *("iris.py:predict", "digits.py:step", "digits.py:momentum", "digits.py:predict", "digits.py:evaluate"),
    *("digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam_sixteen", "dense.py:large"),
    *("jet.py:classify", "mnist_mlp.py:step64", "mnist_mlp.py:predict", "transformer.py:spherical_step"),
    *("mlp_10m.py:step", "mlp_10m.py:deep", "quantized.py:step", "quantized.py:predict", "lenet.py:predict"),
    *("cnn.py:evaluate", "transformer.py:evaluate", "transformer.py:spherical_evaluate"),
    *("jax_iris.py:step", "jax_iris.py:given", "onnx_digits.py:step", "gpt2_folder.py:apart"),
    *("trees.py:predict", "digits.py:scores"),
)

ALL = (*FEW, *OTHERS)
