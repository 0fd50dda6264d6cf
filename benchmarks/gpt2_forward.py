"""A forward of GPT-2 small with a proof: weights committed to once and shown to be in format, then one proof of them.

Usage: python benchmarks/gpt2_forward.py [--folder DIR] [--length N] [--blocks N] [--bits N] [--json]

Without --folder the weights are drawn, by seed 0 and the deviations of GPT-2's initial weights, into a folder as
Hugging Face keeps them, of F32. Tokens are drawn by seed 1; logits are of the last position, public; all else is
committed, in zero knowledge. One line per stage: processor seconds, memory at its greatest so far, and what was made.
Last how far the logits are from those in float64, and whether the likeliest token is the same.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

import circuitize as cz
from circuitize.api.exact import Exact, exact
from circuitize.circuits.phases import Phases
from circuitize.frontends.formats import labels
from circuitize.frontends.huggingface import read
from circuitize.sims import real

WIDTH, VOCABULARY, CONTEXT = 768, 50257, 1024
Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a GPT-2 of Hugging Face's layout")
    parser.add_argument("--length", type=int, default=16)
    parser.add_argument("--blocks", type=int, default=12, help="of the drawn network")
    parser.add_argument("--bits", type=int, default=12, help="fraction bits")
    parser.add_argument("--json", action="store_true", help="print one object")
    chosen = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = chosen.folder or drawn(Path(scratch) / "gpt2", chosen.blocks)
        found = Stages(silent=chosen.json)
        program = found.timed("read and quantize", lambda: of_folder(folder, chosen.length, chosen.bits))
        figures(found, program, Path(scratch) / "weights")
    if chosen.json:
        print(json.dumps(found.rows))


class Stages:
    """Processor seconds, and the most memory so far, by stage."""

    def __init__(self, silent: bool) -> None:
        self.silent, self.rows = silent, dict[str, Any]()

    def timed(self, stage: str, work: Callable[[], Result]) -> Result:
        wall, cpu = time.perf_counter(), time.process_time()
        made = work()
        spent = time.process_time() - cpu, time.perf_counter() - wall
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        self.rows[stage] = {"cpu_seconds": spent[0], "seconds": spent[1], "peak_gb": memory}
        self.say(f"{stage}: {spent[0]:.1f} CPU-s, {spent[1]:.1f} s by the clock, {memory:.1f} GB")
        return made

    def tell(self, name: str, value: Any, text: str) -> None:
        self.rows[name] = value
        self.say(text)

    def say(self, text: str) -> None:
        if not self.silent:
            print(text, flush=True)


def of_folder(folder: Path, length: int, bits: int) -> Exact:
    """The integer program of the last position's logits, weights apart."""
    model = read(folder).model(length, last=True).freeze(apart=True)
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (1, length))
    example: dict[str, Any] = {**model.initial(0), "inputs": tokens}
    return exact(cz.predict(model, 1, labels(VOCABULARY), [example], cz.Precision(fraction_bits=bits)), Phases())


def figures(found: Stages, program: Exact, folder: Path) -> None:
    """Everything once, in this process; the proof is one that the native verifier accepts."""
    weights = found.timed("commit to the weights, show formats", lambda: cz.commit_weights(program, folder))
    left = ", ".join(f"{name}: {count:,}" for name, count in weights.left().items())
    found.tell("openings", dict(weights.left()), f"openings left: {left}")
    accepted = found.timed("verify the formats", lambda: cz.accept_weights(program, folder))
    circuit = found.timed("plan", lambda: weights.proving(program))
    proof = found.timed("execute, commit again, prove", circuit.prove)
    phases = {**proof.phases.as_json(), "of prove, by the clock": dict(proof.proved.proof.phases)}
    found.tell("phases", phases, f"of these: {phases}")
    sizes = {**circuit.sizes, "proof_bytes": proof.size}
    found.tell("sizes", sizes, f"sizes: {sizes}")
    verifier = cz.verifier(program, weights=accepted)
    found.timed("plan for the verifier", lambda: verifier.check(proof))
    verdict = found.timed("verify", lambda: verifier.check(proof))
    assert verdict.valid, verdict.reason
    expected = real.run(program.given, program.given.examples[0])["outputs"]
    logits = np.asarray(proof.outputs["outputs"])
    error, same = float(np.abs(logits - expected).max()), bool(logits.argmax() == expected.argmax())
    spread = float(np.abs(expected).max())
    accuracy = {"greatest_error": error, "greatest_logit": spread, "top_1_agrees": same}
    found.tell("accuracy", accuracy, f"logits: {error:.2g} from float64 at most, of {spread:.2g}; top-1 agrees: {same}")


def drawn(folder: Path, blocks: int) -> Path:
    """A folder of a network with weights at random."""
    random, width = np.random.default_rng(0), WIDTH
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (VOCABULARY, width), "wpe.weight": (CONTEXT, width)}
    dense = {"attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width)}
    dense |= {"mlp.c_fc": (width, 4 * width), "mlp.c_proj": (4 * width, width)}
    for block in range(blocks):
        for name, shape in {"ln_1": (width,), "ln_2": (width,), **dense}.items():
            shapes |= {f"h.{block}.{name}.weight": shape, f"h.{block}.{name}.bias": shape[-1:]}
    shapes |= {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    tensors = {}
    for name, shape in shapes.items():
        values = random.standard_normal(shape, dtype=np.float32) * np.float32(0.01 if name == "wpe.weight" else 0.02)
        tensors[f"transformer.{name}"] = values + np.float32("ln_" in name and name.endswith("weight"))
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_layer": blocks}))
    cz.save_safetensors(folder, tensors, kind="F32", metadata={"format": "pt"})
    return folder


if __name__ == "__main__":
    main()
