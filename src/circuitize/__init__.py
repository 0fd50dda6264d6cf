"""Circuitize lowers training steps to exact fixed-point circuits: a program has one meaning in integers, and the
circuit of every target computes exactly that.

This module exports the public names of the package, grouped by folder. The names are loaded on first use, so that
importing the package stays quick.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api.calibration import calibrated as calibrated
    from .api.certify import certify as certify
    from .api.check import check as check
    from .api.compile import compile as compile
    from .api.costs.chunks import run_cost as run_cost
    from .api.costs.cost import cost as cost
    from .api.disputes.dispute import dispute as dispute
    from .api.disputes.testimony import testify as testify
    from .api.drawing import draw as draw
    from .api.estimate import estimate as estimate
    from .api.hardware.network import hardware as hardware
    from .api.planning.plan import plan as plan
    from .api.renewal import renewal as renewal
    from .api.reports.report import report as report
    from .api.running import run as run
    from .api.runs.proving import prove_run as prove_run
    from .api.runs.verifying import verify_pinned as verify_pinned
    from .api.runs.verifying import verify_run as verify_run
    from .api.targets.mirage import mirage as mirage
    from .api.targets.plonkish import plonkish as plonkish
    from .api.targets.provers import groth16 as groth16
    from .api.targets.provers import halo2 as halo2
    from .api.targets.r1cs import r1cs as r1cs
    from .api.targets.tensor import tensor_proof as tensor_proof
    from .api.targets.verilog import verilog as verilog
    from .api.training.train import Trained as Trained
    from .api.training.train import train as train
    from .api.verifier import verifier as verifier
    from .api.weights import Weights as Weights
    from .api.weights import accept_weights as accept_weights
    from .api.weights import commit_weights as commit_weights
    from .circuits.accuracy import error_report as error_report
    from .circuits.accuracy import fit_to_cost as fit_to_cost
    from .circuits.accuracy import fit_to_error as fit_to_error
    from .circuits.builder import Builder as Builder
    from .circuits.differentiate import reverse_derivative as reverse_derivative
    from .circuits.encode import digest as digest
    from .circuits.encode import program_digest as program_digest
    from .circuits.errors import CircuitizeError as CircuitizeError
    from .circuits.hypergraph import Arrow as Arrow
    from .circuits.hypergraph import compose as compose
    from .circuits.hypergraph import identity as identity
    from .circuits.hypergraph import permute as permute
    from .circuits.hypergraph import tensor as tensor
    from .circuits.lowering import Precision as Precision
    from .circuits.open_hypergraph import load_open_hypergraph as load_open_hypergraph
    from .circuits.open_hypergraph import save_open_hypergraph as save_open_hypergraph
    from .circuits.port import Port as Port
    from .circuits.port import Role as Role
    from .circuits.port import Visibility as Visibility
    from .circuits.program import IntegerProgram as IntegerProgram
    from .circuits.program import Program as Program
    from .circuits.quantize import quantize as quantize
    from .circuits.saved import load as load
    from .circuits.saved import save as save
    from .circuits.simplify import simplify as simplify
    from .circuits.types import Array as Array
    from .circuits.types import Fixed as Fixed
    from .circuits.unroll import compose_steps as compose_steps
    from .circuits.validate import validate as validate
    from .circuits.values import Raw as Raw
    from .frontends.adam import Adam as Adam
    from .frontends.adam import AdamW as AdamW
    from .frontends.adaptive import LAMB as LAMB
    from .frontends.adaptive import Lion as Lion
    from .frontends.adaptive import RMSprop as RMSprop
    from .frontends.checkpoint import load_safetensors as load_safetensors
    from .frontends.checkpoint import save_safetensors as save_safetensors
    from .frontends.clipping import ClippedByNorm as ClippedByNorm
    from .frontends.clipping import ClippedByValue as ClippedByValue
    from .frontends.combinational.files import from_logic as from_logic
    from .frontends.combinational.hgq import from_hgq as from_hgq
    from .frontends.dataset import dataset as dataset
    from .frontends.evaluation import evaluation as evaluation
    from .frontends.evaluation import right_answers as right_answers
    from .frontends.formats import Format as Format
    from .frontends.functions import exp as exp
    from .frontends.functions import quantized as quantized
    from .frontends.huggingface import from_huggingface as from_huggingface
    from .frontends.image_layers import average_pool2d as average_pool2d
    from .frontends.image_layers import conv2d as conv2d
    from .frontends.image_layers import flatten as flatten
    from .frontends.image_layers import image as image
    from .frontends.image_layers import max_pool2d as max_pool2d
    from .frontends.jax.models import from_jax as from_jax
    from .frontends.jax.programs import from_jax_loss as from_jax_loss
    from .frontends.jax.programs import from_jax_step as from_jax_step
    from .frontends.layers import Model as Model
    from .frontends.layers import Parameter as Parameter
    from .frontends.layers import activation as activation
    from .frontends.layers import dense as dense
    from .frontends.layers import dropout as dropout
    from .frontends.layers import embedding as embedding
    from .frontends.layers import gelu as gelu
    from .frontends.layers import relu as relu
    from .frontends.layers import sequential as sequential
    from .frontends.layers import traced as traced
    from .frontends.lora import lora as lora
    from .frontends.losses import binary_cross_entropy as binary_cross_entropy
    from .frontends.losses import cross_entropy as cross_entropy
    from .frontends.losses import huber as huber
    from .frontends.losses import kullback_leibler as kullback_leibler
    from .frontends.losses import label_cross_entropy as label_cross_entropy
    from .frontends.losses import mean_squared_error as mean_squared_error
    from .frontends.normalization import batch_norm as batch_norm
    from .frontends.normalization import group_norm as group_norm
    from .frontends.normalization import layer_norm as layer_norm
    from .frontends.normalization import rms_norm as rms_norm
    from .frontends.onnx.models import from_onnx as from_onnx
    from .frontends.optimizers import SGD as SGD
    from .frontends.optimizers import Momentum as Momentum
    from .frontends.state_dict import from_state_dict as from_state_dict
    from .frontends.state_dict import to_state_dict as to_state_dict
    from .frontends.state_dict import with_weights as with_weights
    from .frontends.tensor import Tensor as Tensor
    from .frontends.torch import from_torch as from_torch
    from .frontends.trace import trace as trace
    from .frontends.training import predict as predict
    from .frontends.training import start as start
    from .frontends.training import training_step as training_step
    from .frontends.trees.programs import from_trees as from_trees
    from .frontends.uops import from_polygrad as from_polygrad
    from .frontends.uops import from_tinygrad as from_tinygrad

if not Path(__file__).with_name("circuits").is_dir():
    raise ImportError(
        "expected src/circuitize/circuits to be a link to the folder circuits, found none: this checkout was made "
        "without symbolic links; remedy: git config core.symlinks true && git checkout -- src, or install a wheel"
    )

# Each public name stands once, in the block above, from where the lazy imports take its module too.
with open(__file__, encoding="utf-8") as _source:
    _IMPORTS = re.findall(r"^    from (\.\S+) import (\w+) as \2$", _source.read(), re.MULTILINE)
_HOME = {name: module for module, name in _IMPORTS}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
