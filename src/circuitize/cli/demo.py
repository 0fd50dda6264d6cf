"""The command `circuitize demo` trains a network on handwritten digits in integers, and proves a step and the run."""

from __future__ import annotations

import re
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from circuitize.api.circuits import require_key_folder
from circuitize.api.exact import Exact, integers_of
from circuitize.api.key_folders import PROVING_FILE
from circuitize.api.proofs import require_proof_folder
from circuitize.api.runs.training_run import Training
from circuitize.api.tampering import Attempt, easier_program, flipped_bit, weight_in_commitment, weight_in_witness
from circuitize.api.targets.provers import ProverTarget
from circuitize.api.targets.r1cs import r1cs
from circuitize.api.training.pictures import draw_side_by_side, plotting
from circuitize.api.training.side_by_side import Curve, train_both
from circuitize.api.user_files import run_file
from circuitize.api.verdict import Verdict
from circuitize.api.verifier import verifier
from circuitize.circuits.folder import require_file
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json
from circuitize.frontends.datasets import Recipe, Split, digits

from .demo_run import shown_run
from .loading import quantized
from .output import Phases, print_json, progress, say, show, shown_number
from .prove import report_of
from .verify import gathered

EXAMPLE = Path(__file__).with_name("digits.py")
"""The file of the digits example, which is a link in a checkout."""

PICTURE, KEYS, PROOF, WITHOUT_KEYS, RUN = "training.png", "keys", "proof", "proof-without-keys", "run"
WEIGHT = "dense1.weight"
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


def run(options: Namespace) -> int:
    """Run the demo: train, compile, prove, verify and attack; return exit status 1 if the verifier accepts an attack or
    refuses a proof.
    """
    start = time.perf_counter()
    require_file(options.output / PICTURE)
    require_key_folder(options.output / KEYS)
    for folder in (PROOF, WITHOUT_KEYS):
        require_proof_folder(options.output / folder)
    demo = Demo(options.output, quiet=options.json)
    demo.say("A network 64-32-10 learns handwritten digits (UCI) in whole numbers, and all of its training is proved.")
    show("reading the data")
    plotting()
    example = run_file(EXAMPLE.resolve())
    loaded, split = quantized(example.step()), digits(seed=0)
    curves = train_both(example.MODEL, example.RECIPE, loaded.given, loaded.integer, split, progress=show)
    demo.trained(curves, example.RECIPE, split)
    demo.proved(loaded)
    demo.proved_without_keys(loaded)
    demo.whole_run(example, loaded, split, options.epochs)
    demo.report["seconds"] = round(time.perf_counter() - start, 1)
    demo.say()
    demo.say(f"{demo.report['seconds']:.0f} seconds. Everything is in {options.output}; next: circuitize --help")
    if options.json:
        print_json(demo.report)
    parts = (demo.report, demo.report["run"])
    valid = all(part["valid"] for part in (*parts, demo.report["without_keys"]))
    return 0 if valid and all(entry["refusal"] for part in parts for entry in part["refused"]) else 1


class Demo:
    """The report of the demo, printed as lines or as one JSON object, and the folder into which the demo writes."""

    def __init__(self, output: Path, quiet: bool) -> None:
        self.output = output
        self.quiet = quiet
        self.report: Json = {}

    def say(self, text: str = "") -> None:
        """Print a line of the demo at once, unless the demo prints one JSON object at its end."""
        if not self.quiet:
            say(text)
            sys.stdout.flush()

    def trained(self, curves: Mapping[str, Curve], recipe: Recipe, split: Split) -> None:
        """Report the figures of the training runs in float64 and in integers, and draw a picture of them."""
        draw_side_by_side(curves, self.output / PICTURE)
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
        """Compile one step of the training to a circuit, make keys and a proof, verify the proof, and try attacks."""
        phases, keys_folder, folder = Phases(), self.output / KEYS, self.output / PROOF
        with progress("counting constraints"):
            sizes = r1cs.estimate(loaded.integer, {})
        circuit = ProverTarget("groth16").build(loaded, phases)
        self.report |= {"digest": loaded.digest, "constraints": sizes["constraints"]}
        self.say()
        self.say(f"Circuit   one step (forward, derivative, update), batch of 16, {loaded.digest[:16]}...")
        self.say(
            f"          {sizes['constraints']:,} constraints estimated, {circuit.sizes['constraints']:,} emitted; "
            f"{sizes['input_range_constraints']:,} check the inputs' ranges"
        )
        keys = circuit.setup(keys_folder, {}, phases)
        size = amount_of_bytes((keys_folder / PROVING_FILE).stat().st_size)
        self.say(
            f"Keys      {phases.seconds['setup']:.1f} s, proving key {size}; development keys: INSECURE, for trials"
        )
        inputs = integers_of(loaded.integer, None)
        proof = circuit.prove_integers(inputs, keys.proving, None, (), phases, show)
        proof.save(folder)
        self.report |= report_of(proof, {}, phases)
        self.say(
            f"Prove     {self.report['witness_seconds']:.2f} s witness, {self.report['prove_seconds']:.1f} s proof "
            f"({self.report['cpu_seconds']:.1f} CPU-seconds), {self.report['proof_bytes']} bytes"
        )
        start = time.perf_counter()
        holder = gathered(folder, keys_folder, None, loaded.digest)
        verdict = holder.check(folder)
        seconds = time.perf_counter() - start
        self.report["valid"] = verdict.valid
        self.say(
            f"Verify    {'valid' if verdict.valid else f'NOT valid: {verdict.reason}'}, {seconds:.3f} s; the verifier "
            f"learns {_learned(verdict)}"
        )
        with TemporaryDirectory(prefix="circuitize-") as scratch, progress("attacking"):
            attempts = [
                flipped_bit(folder, holder, Path(scratch)),
                weight_in_witness(circuit, WEIGHT),
                weight_in_commitment(proof, ("output", WEIGHT), folder, holder, Path(scratch)),
                *easier_program(loaded.integer, holder, Path(scratch)),
            ]
        self._attacked(attempts)

    def proved_without_keys(self, loaded: Exact) -> None:
        """Prove the same step with tensor proofs, which need no keys, with and without zero knowledge, and verify the
        proofs.
        """
        phases, folder = Phases(), self.output / WITHOUT_KEYS
        circuit = ProverTarget("tensor").build(loaded, phases)
        proof = circuit.prove_integers(integers_of(loaded.integer, None), None, None, (), phases, show)
        proof.save(folder)
        start = time.perf_counter()
        verdict = verifier(loaded.integer).check(folder)
        seconds = time.perf_counter() - start
        made = report_of(proof, {}, phases)
        told = ("prove_seconds", "cpu_seconds", "proof_bytes", "zero_knowledge")
        self.report["without_keys"] = {**{name: made[name] for name in told}, "valid": verdict.valid}
        self.say()
        self.say(
            f"Again     by sumchecks, without keys: {made['prove_seconds']:.3f} s proof, "
            f"{amount_of_bytes(made['proof_bytes'])}, {'zero-knowledge' if verdict.zero_knowledge else 'hides nothing'}"
        )
        self.say(
            f"Verify    {'valid' if verdict.valid else f'NOT valid: {verdict.reason}'}, {seconds:.3f} s; the verifier "
            f"learns {_learned(verdict)}"
        )

    def whole_run(self, example: ModuleType, loaded: Exact, split: Split, epochs: int | None) -> None:
        """Prove all steps of the recipe, or those of its first epochs, in a few proofs, prove the evaluation of the
        result, and try attacks on them.
        """
        recipe = example.RECIPE if epochs is None else replace(example.RECIPE, epochs=epochs)
        with progress("preparing the run"):
            judge = quantized(example.evaluate()).integer
        self.say()
        training = Training(loaded.integer, judge, example.MODEL, recipe, split)
        self.report["run"] = shown_run(training, self.output / RUN, self.say)
        self._refused(self.report["run"])

    def _attacked(self, attempts: list[Attempt]) -> None:
        self.report["refused"] = [{"tried": entry.tried, "refusal": entry.refusal} for entry in attempts]
        self._refused(self.report)

    def _refused(self, part: Json) -> None:
        self.say()
        self.say("Refused")
        for entry in part["refused"]:
            reason = DIGEST.sub(r"\1...", entry["refusal"] or "ACCEPTED, which must not happen")
            self.say(f"          {entry['tried']}: {reason}")


def _learned(verdict: Verdict) -> str:
    publics = [f"{name} {shown_number(reals.tolist())}" for name, reals in verdict.publics.items()]
    return ", ".join([*publics, f"{len(verdict.roots)} commitments"])
