"""The Python API: from a model to a verdict, by every prover, and what it refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, run
from toys import rerun

import circuitize as cz
from circuitize.api.circuits import Keys, ProvableCircuit
from circuitize.api.proofs import Proof
from circuitize.api.targets.provers import ProverTarget
from circuitize.api.verifier import Verifier
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.provers import catalogue, names
from circuitize.provers.binding import KeyMismatch
from circuitize.provers.consent import NotZeroKnowledge
from circuitize.provers.statement import FILE

RERUN = ProverTarget("rerun")
TARGETS = (cz.groth16, cz.mirage, cz.halo2, cz.tensor_proof, RERUN)
GENERATOR = np.random.default_rng(0)
INPUTS = GENERATOR.normal(size=(60, 3))
TARGET = INPUTS @ np.array([1.0, -2.0, 0.5])


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """The toy prover is one of the provers for these tests."""
    catalogue.register(rerun.ENTRY)
    yield
    del names.PROVERS["rerun"]


@cache
def trained() -> cz.Program:
    """A step of a small regression, and the batches it is calibrated on."""
    data = cz.dataset(INPUTS, TARGET)
    model = cz.sequential(cz.dense(3, 2), cz.relu(), cz.dense(2, 1))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=2, inputs=data.inputs, targets=data.targets)
    return cz.calibrated(step, cz.start(step, model, seed=0), data.batches(batch=2, epochs=3, learning_rate=0.125))


@cache
def proved(target: ProverTarget) -> tuple[ProvableCircuit, Keys | None, Proof]:
    circuit = cz.compile(trained(), target)
    keys = circuit.insecure_keys() if circuit.prover.ceremony else None
    return circuit, keys, circuit.prove(keys=keys, not_zero_knowledge=not circuit.prover.hides)


@cache
def proved_next(target: ProverTarget) -> Proof:
    """Of the step after: what the first one leaves this one takes."""
    circuit, keys, first = proved(target)
    kept = {port.name for port in trained().inputs if port.held}
    inputs = {**trained().examples[0], **{name: first.outputs[name] for name in kept}}
    with TemporaryDirectory() as folder:
        first.save_openings(openings := Path(folder) / "openings.json")
        return circuit.prove(inputs, keys=keys, openings_from=openings, not_zero_knowledge=not circuit.prover.hides)


def verifier(target: ProverTarget, expect: Mapping[str, Any] | None = None) -> Verifier:
    _, keys, _ = proved(target)
    return cz.verifier(trained(), None if keys is None else keys.verifying, prover=target.name, expect=expect)


@pytest.fixture(params=TARGETS, ids=lambda target: target.name)
def target(request: pytest.FixtureRequest) -> ProverTarget:
    found: ProverTarget = request.param
    return found


def test_every_prover_is_a_target() -> None:
    assert {one.name for one in TARGETS} == {*names.names(), RERUN.name}


def test_from_a_model_to_a_verdict(target: ProverTarget) -> None:
    circuit, keys, proof = proved(target)
    verdict = verifier(target, expect={"learning_rate": 0.125}).check(proof)
    assert verdict and verdict.reason is None
    assert set(verdict.publics) == {"learning_rate", "loss"}
    assert verdict.publics["loss"] == proof.outputs["loss"] == cz.run(trained())["loss"]
    assert verdict.digest == circuit.digest == proof.digest
    assert bool(verdict.hidden) is proof.zero_knowledge is names.hides(target.name)
    assert verdict.setup == ("none" if keys is None else "development")
    assert len(verdict.roots) > 1


def test_what_is_not_expected_is_refused(target: ProverTarget) -> None:
    _, _, proof = proved(target)
    verdict = verifier(target, expect={"learning_rate": 0.25}).check(proof)
    assert not verdict and "learning_rate" in str(verdict.reason)
    assert not verdict.publics and not verdict.roots


def test_a_folder_is_checked_as_the_proof_is(target: ProverTarget, tmp_path: Path) -> None:
    _, _, proof = proved(target)
    verify = verifier(target).check
    folder = proof.save(tmp_path / "proof")
    assert verify(folder).as_json() == verify(str(folder)).as_json()
    assert verify(folder).valid
    name = next(path for path in folder.iterdir() if path.name.startswith("proof.") and path.suffix != ".json")
    content = bytearray(name.read_bytes())
    content[-9] ^= 1
    name.write_bytes(content)
    with contextlib.suppress(FormatError):
        assert not verify(folder)
    with pytest.raises(CircuitizeError, match="statement"):
        verify(tmp_path)


def test_another_loss_is_refused(target: ProverTarget, tmp_path: Path) -> None:
    _, _, proof = proved(target)
    folder = proof.save(tmp_path / "proof")
    units = proof.statement.publics["output", "loss"][0]
    text = (folder / FILE).read_text()
    assert str(units) in text
    (folder / FILE).write_text(text.replace(str(units), str(units + 1)))
    assert not verifier(target).check(folder)


def test_another_run_has_another_statement(target: ProverTarget) -> None:
    _, _, first = proved(target)
    second = proved_next(target)
    assert second.statement.roots != first.statement.roots
    assert verifier(target).check(second)


def test_an_opening_joins_two_proofs(target: ProverTarget) -> None:
    """What one step leaves the next one takes: the same roots."""
    _, _, first = proved(target)
    second = proved_next(target)
    joined = [name for side, name in second.statement.roots if side == "input" and ("output", name) in first.openings]
    assert joined
    for name in joined:
        assert second.statement.roots["input", name] == first.statement.roots["output", name]


def test_keys_are_of_one_prover_and_one_program() -> None:
    circuit, keys, proof = proved(cz.groth16)
    other, other_keys, other_proof = proved(cz.mirage)
    assert keys is not None
    with pytest.raises(KeyMismatch, match="groth16"):
        circuit.prove(keys=other_keys)
    with pytest.raises(KeyMismatch, match="none"):
        circuit.prove()
    with pytest.raises(CircuitizeError, match="expected no keys"):
        proved(cz.tensor_proof)[0].prove(keys=keys)
    with pytest.raises(CircuitizeError, match="expected values by name, found list"):
        cz.verifier(trained(), keys.verifying, expect=["learning_rate"])  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="groth16"):
        cz.verifier(trained(), keys.verifying).check(other_proof)
    with pytest.raises(CircuitizeError, match="expected a key for program"):
        cz.verifier(cz.quantize(trained()).with_visibility(loss=cz.Visibility.COMMITTED), keys.verifying)
    with pytest.raises(CircuitizeError, match="expected a prover that has keys"):
        cz.compile(trained(), cz.tensor_proof).insecure_keys()
    with pytest.raises(NotZeroKnowledge, match="not_zero_knowledge=True"):
        proved(RERUN)[0].prove()
    assert other.digest == circuit.digest and proof.size < other_proof.size


def test_a_tensor_proof_that_hides_nothing_says_so() -> None:
    """Both kinds show the same, and a verifier is told which it has."""
    circuit, _, hiding = proved(cz.tensor_proof)
    plain = circuit.prove(not_zero_knowledge=True)
    verdicts = [verifier(cz.tensor_proof).check(proof) for proof in (hiding, plain)]
    assert [verdict.valid for verdict in verdicts] == [True, True]
    assert [verdict.zero_knowledge for verdict in verdicts] == [True, False]
    assert verdicts[0].publics == verdicts[1].publics and verdicts[0].roots.keys() == verdicts[1].roots.keys()
    assert not set(verdicts[0].roots.values()) & set(verdicts[1].roots.values())
    assert "NOT zero-knowledge" in repr(plain) and plain.size < hiding.size
    assert "NOT-ZERO-KNOWLEDGE.txt" in plain.files and "NOT-ZERO-KNOWLEDGE.txt" not in hiding.files


def test_summaries_are_short(target: ProverTarget) -> None:
    circuit, keys, proof = proved(target)
    verdict = verifier(target).check(proof)
    for shown in map(repr, (circuit, proof, verdict)):
        assert target.name in shown and len(shown) < 250 and "\n" not in shown
    assert ("NOT zero-knowledge" in repr(proof)) is not names.hides(target.name)
    assert keys is None or "INSECURE" in repr(keys)


def test_what_is_expected_is_exact() -> None:
    _, keys, proof = proved(cz.mirage)
    assert keys is not None
    for expect in ({"learning_rate": 0.1}, {"rate": 0.125}, {"learning_rate": 0.125, "input:learning_rate": 0.125}):
        with pytest.raises(CircuitizeError):
            cz.verifier(trained(), keys.verifying, expect=expect)
    name, root = next(iter(cz.verifier(trained(), keys.verifying).check(proof).roots.items()))
    for claimed, holds in ((root, True), (hex(int(root, 16) ^ 1), False)):
        assert cz.verifier(trained(), keys.verifying, expect={name: claimed}).check(proof).valid is holds


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(CircuitizeError, match="expected a Program"):
        cz.compile(trained().arrow, cz.groth16)  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match=r"expected a target \(cz.groth16, .*, found 'groth16'"):
        cz.compile(trained(), "groth16")  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="expected keys as insecure_keys gives them"):
        proved(cz.mirage)[0].prove(keys="keys")  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="expected a verifying key, found Keys"):
        cz.verifier(trained(), proved(cz.mirage)[1])  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="rows of different lengths"):
        cz.verifier(trained(), expect={"learning_rate": [[1], [2, 3]]})
    with pytest.raises(CircuitizeError, match="expected a proof, or the folder of one"):
        cz.verifier(trained()).check(None)  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="expected an executor"):
        cz.run(trained(), executor="float")  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="expected inputs among"):
        cz.run(trained(), {"weights": 1.0})


def test_executors_agree_to_rounding() -> None:
    exact, real = cz.run(trained()), cz.run(trained(), executor="real")
    assert set(exact) == set(real)
    for name, values in exact.items():
        np.testing.assert_allclose(values, real[name], atol=2e-3)


def test_a_registered_prover_is_on_the_command_line(tmp_path: Path) -> None:
    """The toy is proved and verified with, and named in the help, as the others are; its name is taken."""
    made = run("prove", STEP, "--prover", "rerun", "--not-zero-knowledge", "-o", tmp_path / "proof", "--json")
    assert made.status == 0 and '"prover": "rerun"' in made.out
    asked = ("verify", tmp_path / "proof", "--prover", "rerun", "--program")
    assert run(*asked, STEP).status == 0
    other = run(*asked, STEP.replace(":step", ":other"))
    assert other.status == 1 and "NOT valid: the proof is for program" in other.out
    assert run("prove", STEP, "--prover", "rerun", "-o", tmp_path / "another").status == 2
    with pytest.raises(CircuitizeError, match="a name and keys of its own"):
        catalogue.register(rerun.ENTRY)
