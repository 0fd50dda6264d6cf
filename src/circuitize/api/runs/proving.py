"""Proving a run: consecutive training steps, each of which starts from the values that the previous step left."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file
from circuitize.circuits.memory import amount_of_bytes, physical_bytes, require_memory
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import Program
from circuitize.circuits.scan import Told
from circuitize.circuits.values import Given, to_reals
from circuitize.frontends.layers import Model
from circuitize.provers.tensor.cost import sizes
from circuitize.provers.tensor.runs import proving
from circuitize.provers.tensor.runs.beginning import HeldOut, require_free
from circuitize.provers.tensor.runs.continuing import earlier
from circuitize.provers.tensor.runs.dividing import divided, prover_bytes
from circuitize.provers.tensor.runs.evaluation import Evaluation
from circuitize.provers.tensor.runs.files import MANIFEST, read_manifest
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import kept_beside

from ..exact import Integers, Reals, exact, reals_of
from .cluster import Cluster, cluster
from .data import Data, Values, dataset_of, held, initial_values, public_start, seed_bytes
from .evaluated import Evaluated, evaluated
from .room import predicted, require_room
from .scalars import Schedule, proved_scalars
from .spelling import PYTHON, Spelling
from .steps import Steps, whole_number


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProvedRun(Steps):
    """The result of proving a run: the folder of its proofs, its roots, the file that its prover keeps, and its costs.

    The field `kept` of a proved run is the path of the secret file, outside the run's folder, with which an interrupted
    run continues. The field `resumed` is the number of steps that an earlier call had proved; `seconds`, `cpu_seconds`
    and `proof_bytes` list the costs of the proofs that this call made, one after the other, and `parts_seconds` divides
    their time by parts of the work. The field `outputs` holds the final values of held ports as real numbers by name;
    `results` holds the other outputs of the steps that this call proved, with the step as first axis: for instance the
    loss of each step, which the proofs need not disclose. The field `evaluation` is the result of evaluating the run on
    a test set, or None if the run was not evaluated.
    """

    folder: Path
    kept: Path
    resumed: int
    seconds: Sequence[float]
    cpu_seconds: Sequence[float]
    proof_bytes: Sequence[int]
    parts_seconds: Mapping[str, float]
    phases: Phases
    held: Mapping[str, Integers]
    outputs: Mapping[str, Reals]
    results: Mapping[str, Reals]
    evaluation: Evaluated | None

    def __repr__(self) -> str:
        return (
            f"ProvedRun({self.extent} in {self.folder}, {self.kind}, {sum(self.proof_bytes):,} bytes, "
            f"program {self.digest[:16]}...)"
        )


def prove_run(
    program: Program,
    folder: Path | str,
    *,
    steps: int,
    seed: bytes | str | None = None,
    dataset: Data | None = None,
    inputs: Values | None = None,
    raw_inputs: bool = False,
    scalars: Mapping[str, Given] | None = None,
    schedule: Schedule | None = None,
    per_proof: int | None = None,
    memory: int | None = None,
    losses: str = "none",
    evaluate: Program | None = None,
    test: Data | None = None,
    public_test: bool = False,
    initial_seed: bytes | str | None = None,
    model: Model | None = None,
    after: Path | str | None = None,
    not_zero_knowledge: bool = False,
    ray: str | None = None,
    progress: Progress = silent,
    say: Progress = silent,
    spelling: Spelling = PYTHON,
) -> ProvedRun:
    """Prove consecutive training steps of a program, each of which starts from the values that the previous step left,
    and write the folder of proofs for verifiers.

    Proofs are zero-knowledge by default; `not_zero_knowledge` asks for faster proofs, which may tell verifiers
    something about the hidden values.

    The argument `seed` (1 to 64 bytes, or hexadecimal) determines the order of the examples in `dataset`, which is a
    dict of arrays by the names of data inputs, a `Dataset`, of which the training part is used, or an .npz file;
    without a dataset, all examples of the program are used. A run begins with `inputs`, which gives a value for every
    held input (real values by name, or .npz files of them, which hold integers of the formats if `raw_inputs` is true),
    or with the values of the first example, or, with `after`, with the final values and the seed of the run in that
    folder. The argument `scalars` gives numbers that apply to all steps, by name; `schedule`, a Recipe or a function of
    the step's number, gives the other scalars, each rounded once; a scalar that neither gives must have the same value
    in all examples. If the folder holds an interrupted run of the same setting, that run is continued. The callback
    `say` is called with remarks for the user; `spelling` says how messages name the parameters.

    Each proof covers `per_proof` steps, except that the last proof covers the remaining ones; by default, a proof
    covers as many steps as can be proved in `memory` bytes, which default to three quarters of the machine's memory.
    The argument `losses` says for which steps the public outputs are disclosed: "none", "ends" (the first and the last
    step of each proof) or "all". The public outputs of many steps reveal something about the values that the proofs
    hide.

    The argument `evaluate` is a program that evaluates the final values of the run on a `test` set, to which the prover
    commits before the first step: arrays or an .npz file like `dataset`, or the test part of a `Dataset`. With
    `public_test`, anybody who has the test set can make its commitment again. With `initial_seed` the run begins with
    values that the `model` draws from this seed, which anybody can draw again: the verdict then says that the run began
    with them.

    With `ray`, the proofs are made by the workers of a cluster: the cluster at the given address, or, for "local", all
    cores of this machine. With `ray`, `memory` is the memory of one worker, by default its machine's memory divided by
    the machine's cores, and there are at least as many proofs as cores. Workers of a cluster see the values of the
    steps that they prove, and their proofs are checked when they arrive.

    Raise Unprovable for a program from which no run can be made; raise CircuitizeError, before anything is written, if
    inputs do not fit, if the folder holds something else, or if memory or disk do not suffice.
    """
    path, before = Path(folder), None if after is None else Path(after)
    kept = kept_file(path)
    require_beginning(path, seed, inputs, before, spelling)
    integer = exact(program, Phases()).integer
    begun = public_start(integer, initial_seed, model, spelling)
    if begun is not None and (inputs or before is not None):
        name, other = spelling.option("initial_seed"), spelling.option("after" if before is not None else "inputs")
        raise CircuitizeError(
            f"{name}: expected no {other} beside it, which says otherwise what is begun with; give one"
        )
    continued = None if before is None else earlier(before, kept_file(before))
    drawn = seed_bytes(seed, spelling) if continued is None or seed is not None else continued.manifest.seed
    data = dataset_of(integer, dataset, say, spelling)
    judged, tested = _judged(evaluate, test, public_test, not not_zero_knowledge, say, spelling)
    setting = Run(
        integer,
        next(iter(data.values())).shape[0],
        whole_number(spelling.option("steps"), steps),
        drawn,
        proved_scalars(integer, scalars, schedule, say, spelling),
        1 if per_proof is None else whole_number(spelling.option("per_proof"), per_proof),
        1 if continued is None else continued.next,
        zero_knowledge=not not_zero_knowledge,
        begun=None if continued is None else continued.openings(integer),
        told=told_of(losses, spelling),
        evaluation=judged,
        start=begun,
    )
    phases = Phases(progress)
    with ExitStack() as using:
        machines = None
        if ray is not None:
            with phases.phase("cluster", "joining the cluster"):
                machines = using.enter_context(cluster(ray, spelling))
        with phases.phase("plan", "planning the proofs"):
            if per_proof is None:
                room = None if memory is None else whole_number(spelling.option("memory"), memory)
                setting = replace(setting, per_proof=_steps_per_proof(setting, path, room, machines, progress, say))
            setting.require_plans()
            needed = prover_bytes(setting)
            if machines is not None:
                machines.require_memory(needed, spelling)
            here = sizes(setting.formats_plan)["prover_bytes"]
            require_memory(
                max(needed if machines is None else 0, here),
                "prove fewer steps at once, a smaller batch, or on a larger machine",
            )
        require_room(path, setting, *predicted(setting), say, spelling)
        with phases.phase("prove", "proving"):
            made = proving.prove_run(
                setting,
                continued or (begun.values if begun is not None else initial_values(integer, inputs, say, raw_inputs)),
                *(data, path, kept, tested),
                lambda step: progress(f"proved step {step:,} of {setting.last:,}"),
                lambda step: progress(f"running step {step:,} of {setting.last:,}"),
                None if machines is None else machines.place(setting, data, needed, say, progress),
            )
    return ProvedRun.of(
        *(setting, made.identity, made.roots, made.final),
        folder=path,
        kept=kept,
        resumed=made.resumed,
        seconds=made.seconds,
        cpu_seconds=made.cpu_seconds,
        proof_bytes=made.proof_bytes,
        parts_seconds=made.phases,
        phases=phases,
        held=made.held,
        outputs=reals_of(tuple(held(integer)), made.held),
        results=_results(integer, made.results),
        evaluation=evaluated(judged, made.evaluation),
    )


def _judged(
    program: Program | None, test: Data | None, public: bool, hides: bool, say: Progress, spelling: Spelling
) -> tuple[Evaluation | None, HeldOut | None]:
    """Return the evaluation of a run's final values, and the test set for it."""
    if program is None:
        if test is not None or public:
            name = spelling.option("test" if test is not None else "public_test")
            raise CircuitizeError(
                f"{name}: expected it beside {spelling.option('evaluate')}, found it alone; give both"
            )
        return None, None
    integer = exact(program, Phases()).integer
    tensors = dataset_of(integer, test, say, spelling, "test")
    size = next(iter(tensors.values())).shape[0]
    return Evaluation(integer, size, hides), HeldOut(tensors, public)


def _steps_per_proof(
    run: Run, folder: Path, memory: int | None, machines: Cluster | None, progress: Progress, say: Progress
) -> int:
    """Return the number of steps per proof: that of the interrupted run in the folder, if there is one, or else the
    greatest number that memory allows and that leaves at least one proof for each core.
    """
    if (folder / MANIFEST).exists():
        return min(read_manifest(folder).per_proof, run.steps)
    usual, most = (usual_memory(), None) if machines is None else (machines.memory_each, machines.most_steps(run.steps))
    found = divided(run, memory or usual, lambda tried: progress(f"planning proofs of {tried:,} steps"), most)
    proofs = -(-run.steps // found.per_proof)
    say(
        f"{proofs:,} {'proof' if proofs == 1 else 'proofs'} of {found.per_proof:,} steps, each about "
        f"{amount_of_bytes(found.prover_bytes)} of memory: {found.limit.value}"
    )
    return found.per_proof


def usual_memory() -> int:
    """Return three quarters of the machine's memory in bytes, or 4 GB if the system does not tell its size."""
    return physical_bytes() * 3 // 4 or 4 * 10**9


def told_of(losses: str, spelling: Spelling) -> Told:
    """Return the rule by which steps disclose their public outputs: none, the ends of each proof, or all. Raise
    CircuitizeError for a word that is none of the three rules.
    """
    words = {told.value: told for told in (Told.NONE, Told.ENDS, Told.ALL)}
    if losses not in words:
        raise CircuitizeError(f"{spelling.option('losses')}: expected one of {', '.join(words)}, found {losses!r}")
    return words[losses]


def _results(program: Program, made: Mapping[str, Integers]) -> dict[str, Reals]:
    formats = {port.name: port.format for port in program.outputs}
    return {name: to_reals(format, values) for name, values in made.items() if (format := formats[name]) is not None}


def kept_file(folder: Path) -> Path:
    """Return the path of the secret file that the run's prover keeps; the file lies beside the run's folder, because
    the folder is for verifiers.
    """
    return kept_beside(folder)


def require_beginning(
    folder: Path, seed: bytes | str | None, inputs: object, after: Path | None, spelling: Spelling = PYTHON
) -> None:
    """Raise CircuitizeError, before any work, unless a run can begin in a folder: with given values and a seed, with
    the final values of another run, or as the continuation of an interrupted run in this folder.
    """
    if after is None:
        seed_bytes(seed, spelling)
    elif inputs is not None:
        other = spelling.option("after")
        raise CircuitizeError(
            f"{spelling.option('inputs')}: expected none beside {other}, whose run says what is begun with; give one"
        )
    elif after.resolve() == folder.resolve():
        raise CircuitizeError(
            f"{spelling.option('after')}: expected another folder than {folder}; give each run its own"
        )
    require_apart(folder)
    require_file(kept_file(folder))
    if not (folder / MANIFEST).exists():
        require_free(folder, kept_file(folder))


def require_apart(folder: Path) -> None:
    """Raise CircuitizeError if a run's folder lies inside another run's folder, since the prover's secret file would
    then lie there too.
    """
    for parent in Path(os.path.abspath(folder)).parents:
        if (parent / MANIFEST).exists():
            raise CircuitizeError(
                f"{folder}: expected a folder that lies in no other run's, found {parent} above it, which is for "
                "others; choose another"
            )
