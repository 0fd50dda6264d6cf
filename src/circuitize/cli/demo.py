"""`circuitize demo`: a network learns handwritten digits in integers, and one of its training steps is proved."""

from __future__ import annotations

import re
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from circuitize.api.exact import Exact
from circuitize.api.values import program_inputs
from circuitize.backends.r1cs.cost import estimate
from circuitize.circuits.folder import require_file, require_folder, whole_folder
from circuitize.circuits.memory import amount_of_bytes
from circuitize.frontends.datasets import Recipe, Split, digits
from circuitize.provers.keys import KEY_FILES
from circuitize.provers.openings import draw_salts
from circuitize.provers.statement import FILE, OUTPUT, PROOF_FILES, read_statement

from .circuit import emit
from .curves import Curve, draw, plotting, train_both
from .loading import quantized, run_file
from .output import Phases, print_json, progress, say, show, shown_number
from .prove import Run, read_proving_key, report_of
from .setup import make_keys
from .tampering import Attempt, easier_program, flipped_bit, weight_in_commitment, weight_in_witness
from .verify import Verifier

EXAMPLE = Path(__file__).with_name("digits.py")
"""The digits example: in a checkout, a link to it."""

PICTURE, KEYS, PROOF = "training.png", "keys", "proof"
WEIGHT = "dense1.weight"
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def run(options: Namespace) -> int:
    """Train, circuitize, prove, verify and attack; 1 where the verifier errs in either direction."""
    from circuitize.provers.keys import VERIFYING_FILE

    start = time.perf_counter()
    require_file(options.output / PICTURE)
    require_folder(options.output / KEYS, VERIFYING_FILE, KEY_FILES)
    require_folder(options.output / PROOF, FILE, PROOF_FILES)
    demo = Demo(options.output, quiet=options.json)
    demo.say("A network 64-32-10 learns handwritten digits (UCI) in whole numbers, and one training step is proved.")
    show("reading the data")
    plotting()
    example = run_file(EXAMPLE.resolve())
    loaded, split = quantized(example.step()), digits(seed=0)
    curves = train_both(example.MODEL, example.RECIPE, loaded.given, loaded.integer, split)
    demo.trained(curves, example.RECIPE, split)
    demo.proved(loaded)
    demo.report["seconds"] = round(time.perf_counter() - start, 1)
    demo.say()
    demo.say(f"{demo.report['seconds']:.0f} seconds. Everything is in {options.output}; next: circuitize --help")
    if options.json:
        print_json(demo.report)
    return 0 if demo.report["valid"] and all(entry["refusal"] for entry in demo.report["refused"]) else 1


class Demo:
    """What the demo says, on the screen or as one object, and where it writes."""

    def __init__(self, output: Path, quiet: bool) -> None:
        self.output = output
        self.quiet = quiet
        self.report: dict[str, Any] = {}

    def say(self, text: str = "") -> None:
        if not self.quiet:
            say(text)
            sys.stdout.flush()

    def trained(self, curves: Mapping[str, Curve], recipe: Recipe, split: Split) -> None:
        """Both runs' figures, and their picture."""
        draw(curves, self.output / PICTURE)
        self.report["accuracy"] = {name: curve.accuracy for name, curve in curves.items()}
        self.report["loss"] = {name: curve.loss for name, curve in curves.items()}
        self.say()
        self.say(f"Train     {recipe.epochs} epochs, batches of {recipe.batch}, on {len(split.train_labels)} digits")
        self.say(f"          {'':<16}{'float64':>10}{'integers':>10}")
        for name in ("accuracy", "loss"):
            shown = [f"{value:.2%}" if name == "accuracy" else f"{value:.5f}" for value in self.report[name].values()]
            label = f"test {name}" if name == "accuracy" else f"training {name}"
            self.say(f"          {label:<16}{shown[0]:>10}{shown[1]:>10}")
        self.say(f"          curves in {self.output / PICTURE}")

    def proved(self, loaded: Exact) -> None:
        """One step as a circuit, with keys, a proof, a verdict and attacks."""
        phases, keys, proof_folder = Phases(), self.output / KEYS, self.output / PROOF
        with progress("counting constraints"):
            sizes = estimate(loaded.integer)
        emission = emit(loaded, phases)
        self.report |= {"digest": loaded.digest, "constraints": sizes["constraints"]}
        self.say()
        self.say(f"Circuit   one step (forward, derivative, update), batch of 16, {loaded.digest[:16]}...")
        self.say(
            f"          {sizes['constraints']:,} constraints estimated, {emission.system.constraints:,} emitted; "
            f"{sizes['input_range_constraints']:,} check the inputs' ranges"
        )
        made = make_keys(loaded, keys, phases, emission)
        self.say(
            f"Keys      {phases.seconds['setup']:.1f} s, proving key {amount_of_bytes(made['proving_key_bytes'])}; "
            "development keys: INSECURE, for trials only"
        )
        inputs = program_inputs(loaded.integer, None)
        salts = draw_salts(loaded.integer)
        step = Run(loaded, inputs, salts, emission, phases)
        proof = step.prove(read_proving_key(keys), phases)
        with whole_folder(proof_folder, FILE, PROOF_FILES) as folder:
            step.write_proof(folder, proof)
        self.report |= report_of(proof.prover, loaded, proof, phases)
        self.say(
            f"Prove     {self.report['witness_seconds']:.2f} s witness, {self.report['prove_seconds']:.1f} s proof "
            f"({self.report['cpu_seconds']:.1f} CPU-seconds), {self.report['proof_bytes']} bytes"
        )
        start = time.perf_counter()
        verifier = Verifier.gather(proof_folder, keys, None, loaded.digest)
        statement = read_statement(proof_folder, verifier.bound)
        reason = verifier.refusal(statement, proof_folder)
        seconds = time.perf_counter() - start
        learned = verifier.report(statement, reason)
        self.report["valid"] = learned["valid"]
        self.say(
            f"Verify    {'valid' if reason is None else 'NOT valid: ' + reason}, {seconds:.3f} s; the verifier learns "
            f"{_learned(learned)}"
        )
        with TemporaryDirectory(prefix="circuitize-") as scratch, progress("attacking"):
            key = (OUTPUT, WEIGHT)
            attempts = [
                flipped_bit(proof_folder, verifier, Path(scratch)),
                weight_in_witness(step, WEIGHT),
                weight_in_commitment(step, key, salts[key], proof_folder, verifier, Path(scratch)),
                *easier_program(loaded.integer, verifier, Path(scratch)),
            ]
        self._attacked(attempts)

    def _attacked(self, attempts: list[Attempt]) -> None:
        self.report["refused"] = [{"tried": entry.tried, "refusal": entry.refusal} for entry in attempts]
        self.say()
        self.say("Refused")
        for entry in attempts:
            reason = DIGEST.sub(r"\1...", entry.refusal or "ACCEPTED, which must not happen")
            self.say(f"          {entry.tried}: {reason}")


def _learned(report: dict[str, Any]) -> str:
    publics = [f"{name} {shown_number(public['reals'])}" for name, public in report["publics"].items()]
    return ", ".join([*publics, f"{len(report['roots'])} commitments"])
