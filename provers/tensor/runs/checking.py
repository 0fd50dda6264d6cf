"""Checking a run: each proof is verified, and must begin with the roots with which the previous proof ends."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.dataset import ROWS
from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.frozen import MOST_OPENINGS
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT, PortKey
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.program import IntegerProgram

from ..cost import most_bytes
from ..proof import Proof
from ..security import bounds, require_secure, union
from ..statement import Statement, fault
from ..verifier import refusal
from .evaluation import TEST
from .files import EVALUATION, FORMATS, RENEWALS, STEPS, Manifest, StepProof, folded, read_step, renewal_path, step_path
from .requirements import require_joined
from .setting import Run
from .sizes import evaluation_bytes, formats_bytes, stated_bytes, step_bytes, too_much

WORTH = "what the run is worth is not shown"

Refusal = Callable[..., str | None]
"""A verifier of single proofs: a function of program, statement, proof, plan, context and the roots in format that
returns why the proof is refused, or None.
"""


class Refused(Exception):
    """The error that says, in one line that names the step, why a run does not hold; it is the result of a
    verification, not a mistake of the user.
    """


@dataclass(frozen=True)
class Checked:
    """The result of checking a run that holds: the run's name, the roots with which it begins and ends, its scalars by
    step, and the public outputs that it discloses.

    Both lists of roots contain that of the dataset, and the first also that of a test set; if the dataset got new roots
    during the run, all of them commit to the same values. The field `told` has the numbers of the steps whose public
    outputs are disclosed. The field `results` holds the outputs of the evaluation of the run's final values: sums over
    all batches.
    """

    identity: bytes
    roots: Mapping[str, bytes]
    final: Mapping[str, bytes]
    scalars: Mapping[str, Integers]
    outputs: Mapping[str, Integers]
    told: Sequence[int]
    results: Mapping[str, Integers]


def require_setting(run: Run, manifest: Manifest) -> None:
    """Raise Refused if the manifest in a run's folder claims another program, other plans, another order of examples or
    another length than the run's.
    """
    pairs: list[tuple[str, object, object]] = [
        ("program", manifest.program, run.digest),
        ("seed", manifest.seed.hex(), run.seed.hex()),
        ("first step", manifest.first, run.first),
        ("steps", manifest.steps, run.steps),
        ("steps per proof", manifest.per_proof, run.per_proof),
        ("examples", manifest.examples, run.size),
        ("zero knowledge", manifest.zero_knowledge, run.zero_knowledge),
        ("openings", manifest.openings, run.openings if run.zero_knowledge else None),
        ("told results", manifest.told, run.told.value),
        ("initial seed", _hex(manifest.start), _hex(run.start.seed if run.start is not None else None)),
        ("test examples", manifest.test_examples, None if run.evaluation is None else run.evaluation.size),
    ]
    for name, found, expected in pairs:
        if found != expected:
            raise Refused(f"the run is of {name} {found}, expected {expected}")
    if run.openings > MOST_OPENINGS:
        raise Refused(f"the run claims a dataset for {run.openings} openings, expected at most {MOST_OPENINGS}")
    # Plans take the longest, so they are made once all else is as expected.
    if manifest.plans != run.plans_digest:
        raise Refused(f"the run is of plans {manifest.plans}, expected {run.plans_digest}")
    if set(manifest.roots) != set(run.rooted):
        raise Refused(f"the run states roots of {excerpt(sorted(manifest.roots))}, expected {sorted(run.rooted)}")


def _hex(seed: bytes | None) -> str | None:
    return None if seed is None else seed.hex()


def check(
    run: Run,
    folder: Path,
    manifest: Manifest,
    progress: Callable[[int], object] = lambda _: None,
    judge: Refusal = refusal,
) -> Checked:
    """Check that the proofs in a folder show a run of the given setting. Raise Refused, naming the step, if the proofs
    in the folder do not show the run.

    Of the claims in the folder, only roots, public outputs, and the scalars for which `run` has no value are believed,
    and only because the proofs bind them: plans, batches, other scalars, and what each transcript absorbs follow from
    `run`. The argument `judge` is the function that verifies a single proof. Raise CircuitizeError if no proof of the
    run's program could be trusted.
    """
    require_setting(run, manifest)
    reason = too_much(run, folder)
    if reason is not None:
        raise Refused(reason)
    require_joined(run)
    for plan in run.plans:
        require_secure(plan)
    for step in (run.first, run.first + 1) if run.renewals else ():
        require_secure(run.renewal_plan(step))
    _check_formats(run, folder, manifest.roots, judge)
    identity = run.identity(manifest.roots)
    stated: dict[str, dict[str, list[Integers]]] = {INPUT: {}, OUTPUT: {}}
    current = {name: manifest.roots[name] for name in (*run.kept, DATA)}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        pending: deque[tuple[int, Future[str | None]]] = deque()
        try:
            for step, found in _steps(run, folder):
                if run.renews(step):
                    root = found.roots.get((INPUT, DATA), b"")
                    current[DATA] = _renewed(run, folder, Renewal(identity, step, current[DATA], root), judge)
                statement = statement_of(run, identity, step, found, current)
                context = run.context(identity, step)
                known = dict(current)
                chunk = run.chunk(step)
                verdict = pool.submit(judge, chunk.program, statement, found.proof, chunk.plan, context, known)
                pending.append((step, verdict))
                while len(pending) > 2 * (os.cpu_count() or 1):
                    _settle(pending, progress)
                current |= {name: statement.roots[OUTPUT, name] for name in run.kept}
                for (side, name), value in statement.publics.items():
                    if side != ROWS:
                        stated[side].setdefault(name, []).append(value)
        finally:
            # The earliest step that does not hold is the one to name.
            while pending:
                _settle(pending, progress)
    _require_no_more(run, folder)
    scalars, outputs = ({name: np.concatenate(own) for name, own in stated[side].items()} for side in (INPUT, OUTPUT))
    results = _judged(run, folder, identity, current, manifest.roots, judge)
    return Checked(identity, manifest.roots, current, scalars, outputs, run.told_steps, results)


def security_bits(run: Run) -> float:
    """Return the bits of security that remain when the soundness errors of all proofs of a run are added."""
    error = sum(run.counts[chunk.count] * 2 ** -union(bounds(chunk.plan)) for chunk in run.chunks)
    error += sum(2 ** -union(bounds(plan)) for plan in run.plans[len(run.chunks) :])
    if run.renewals:
        plans = {id(plan): plan for plan in map(run.renewal_plan, (run.first, run.first + 1))}
        error += run.renewals * sum(2 ** -union(bounds(plan)) for plan in plans.values())
    return -log2(error)


def _settle(pending: deque[tuple[int, Future[str | None]]], progress: Callable[[int], object]) -> None:
    step, verdict = pending.popleft()
    reason = verdict.result()
    if reason is not None:
        for _, left in pending:
            left.cancel()
        pending.clear()
        raise Refused(f"step {step}: the proof does not show it: {reason}")
    progress(step)


def _check_formats(run: Run, folder: Path, roots: Mapping[str, bytes], judge: Refusal) -> None:
    """Check that a run's initial values and its dataset are in format, which the proof of each step assumes of its
    inputs.
    """
    try:
        proof = Proof.read(folder / FORMATS, formats_bytes(run))
    except CircuitizeError as error:
        raise Refused(f"the formats of what the run begins with are not shown: {error}") from None
    statement = Statement({}, {(INPUT, name): roots[name] for name in (*run.kept, DATA)})
    reason = judge(run.formats, statement, proof, run.formats_plan)
    if reason is not None:
        raise Refused(f"the formats of what the run begins with are not shown: {reason}")


def _judged(
    run: Run,
    folder: Path,
    identity: bytes,
    final: Mapping[str, bytes],
    roots: Mapping[str, bytes],
    judge: Refusal,
) -> dict[str, Integers]:
    """Return the results of evaluating a run's final values on its test set, as the proof of the evaluation shows
    them.
    """
    if run.evaluation is None:
        return {}
    chunk, evaluation = run.evaluation.chunk, run.evaluation
    try:
        found = read_step(folder / EVALUATION, *evaluation_bytes(chunk))
    except CircuitizeError as error:
        raise Refused(f"{WORTH}: {error}") from None
    expected = {(INPUT, name): final[name] for name in evaluation.kept} | {(INPUT, DATA): roots[TEST]}
    if (found.run, found.step) != (identity, run.last) or found.roots != expected:
        raise Refused(f"{WORTH}: the proof is of another run, of other values or another test set")
    publics = _arrays(chunk.program, WORTH, found.publics)
    statement = Statement(publics | evaluation.publics, found.roots)
    reason = fault(chunk.program, statement, chunk.plan.dataset) or judge(
        *(chunk.program, statement, found.proof, chunk.plan),
        run.evaluation_context(identity),
        {name: final[name] for name in evaluation.kept},
    )
    if reason is not None:
        raise Refused(f"{WORTH}: {reason}")
    return evaluation.results(publics)


@dataclass(frozen=True)
class Renewal:
    """The statement that a renewal before a step must show: the dataset's new `root` commits to the same values as the
    root `before`.
    """

    identity: bytes
    step: int
    before: bytes
    root: bytes


def _renewed(run: Run, folder: Path, renewal: Renewal, judge: Refusal) -> bytes:
    """Return the root of the dataset from a step on, after checking the proof that it commits to the same values as the
    previous root.
    """
    step = renewal.step
    plan = run.renewal_plan(step)
    try:
        proof = Proof.read(renewal_path(folder, step), most_bytes(plan))
    except CircuitizeError as error:
        raise Refused(f"step {step}: the new root of the dataset is not shown to hold the same: {error}") from None
    reason = renewal_fault(run, renewal, proof, judge)
    if reason is not None:
        raise Refused(f"step {step}: the new root of the dataset is not shown to hold the same: {reason}")
    return renewal.root


def renewal_fault(run: Run, renewal: Renewal, proof: Proof, judge: Refusal = refusal) -> str | None:
    """Return a text that says why a proof does not show that two roots commit to the same dataset, or None if it shows
    this.
    """
    statement = Statement({}, {(INPUT, DATA): renewal.before, (OUTPUT, DATA): renewal.root})
    plan, context = run.renewal_plan(renewal.step), run.renewal_context(renewal.identity, renewal.step)
    return judge(run.renewal, statement, proof, plan, context, {DATA: renewal.before})


def _steps(run: Run, folder: Path) -> Iterator[tuple[int, StepProof]]:
    most, most_stated = step_bytes(run), stated_bytes(run)
    for step in run.beginnings:
        try:
            yield step, read_step(step_path(folder, step), most, most_stated)
        except FormatError as error:
            raise Refused(f"step {step}: {step_path(folder, step)}: {error}") from None
        except CircuitizeError as error:
            raise Refused(f"step {step} is missing: {error}") from None


def _require_no_more(run: Run, folder: Path) -> None:
    own = {step_path(folder, step) for step in run.beginnings}
    own |= {renewal_path(folder, step) for step in run.beginnings if run.renews(step)}
    for among, count in ((STEPS, run.proofs), (RENEWALS, run.renewals)):
        more = sorted(path.name for path in (folder / among).glob("*.proof") if path not in own)
        if more:
            raise Refused(
                f"expected {count} proofs in {folder / among}, found {excerpt(more[0])} too; it is of no step"
            )


def statement_of(run: Run, identity: bytes, step: int, found: StepProof, current: Mapping[str, bytes]) -> Statement:
    """Return the statement that the proof beginning at a step must show, given the roots before that step. Raise
    Refused if the proof in the folder states something else.
    """
    if found.run != identity:
        raise Refused(f"step {step}: it belongs to run {found.run.hex()[:16]}..., expected {identity.hex()[:16]}...")
    if found.step != step:
        raise Refused(f"step {step}: the file is of step {found.step}; steps were reordered or one is there twice")
    for name, expected in current.items():
        root = found.roots.get((INPUT, name))
        if root != expected:
            before = "the run's" if name == DATA or step == run.first else f"which step {step - 1} ended with"
            stated = "none" if root is None else f"{root.hex()[:16]}..."
            raise Refused(f"step {step}: it begins with {name} {stated}, expected {expected.hex()[:16]}..., {before}")
    entering = run.publics(step)
    chunk = run.chunk(step)
    stated_values = _arrays(chunk.program, f"step {step}", found.publics)
    for key, value in entering.items():
        if key[0] == ROWS:
            continue
        if key not in stated_values or not np.array_equal(stated_values[key], value):
            raise Refused(_other_scalars(step, key[1], stated_values.get(key), value))
    statement = Statement(stated_values | entering, found.roots)
    reason = fault(chunk.program, statement, chunk.plan.dataset)
    if reason is not None:
        raise Refused(f"step {step}: {reason}")
    return statement


def _other_scalars(step: int, name: str, given: Integers | None, expected: Integers) -> str:
    """Return the message about the step at which a scalar differs from the value that the schedule gives."""
    at = 0 if given is None else int(np.argmax(given != expected))
    found = "none" if given is None else given[at]
    return (
        f"step {step + at}: it is with {name} = {found} in units of its format, expected {expected[at]} by the schedule"
    )


def _arrays(program: IntegerProgram, where: str, publics: Mapping[PortKey, tuple[int, ...]]) -> dict[PortKey, Integers]:
    """Return stated integers as arrays in the shapes of their ports; a single integer stands for an array of equal
    ones.

    Raise Refused for stated values that no port of the program can have.
    """
    sides = ((INPUT, program.inputs), (OUTPUT, program.outputs))
    formats = {(side, port.name): port.format for side, ports in sides for port in ports}
    made = {}
    for key, values in publics.items():
        format = formats.get(key)
        if format is None or len(values) not in (1, format.size) or values != folded(values):
            raise Refused(f"{where}: expected the program's own ports and shapes, found {excerpt(':'.join(key))}")
        if min(values) < format.low or max(values) > format.high:
            raise Refused(f"{where}: expected {':'.join(key)} in [{format.low}, {format.high}], found it outside")
        made[key] = np.broadcast_to(np.array(values, np.int64), format.size).reshape(format.shape)
    return made
