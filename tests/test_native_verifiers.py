"""The Rust example that verifies proofs of all provers, as files: what it accepts, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, keys, proof

from circuitize import load_program
from circuitize.backends.field import BN254
from circuitize.provers.statement import public_vector, read_statement
from circuitize.provers.tensor import instance
from circuitize.provers.tensor.descriptor import in_arrays
from circuitize.provers.tensor.plan import OPENINGS, plan

ROOT = Path(__file__).resolve().parent.parent
KEYED = ("groth16", "mirage", "halo2")

pytestmark = pytest.mark.proof
