"""Proving a run: consecutive training steps, each starting from what the one before left."""

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

    The field `kept` is the secret file, beside the folder, with which an interrupted run continues. The field `resumed`
    is how many steps were proved before; `seconds`, `cpu_seconds` and `proof_bytes` belong to the proofs made in this
    call, one after the other, and `parts_seconds` to their parts. The field `outputs` holds the final held values as
    real numbers by name, `results` the other outputs of the steps proved in this call, with the step as first axis: for
    instance the loss of each, which the proofs need not disclose. The field `evaluation` is the result on the test set,
    if the run was judged.
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
    """Prove consecutive steps of a training step, each starting from what the one before left, and write the folder for
    others.

    Proofs are zero-knowledge; `not_zero_knowledge` asks for faster ones, which may tell others about the hidden values.

    The argument `seed` (1 to 64 bytes, or hexadecimal) draws the order of examples from `dataset`: arrays by the names
    of data inputs, a `Dataset`, whose training part is used, or an .npz file; without it, all examples of the program
    are used. The run begins with `inputs`, real values by name for everything held, or .npz files of them (of integers
    of their formats if `raw_inputs`), or with those of the first example; or where the run in the folder `after` ended,
    with its seed. The argument `scalars` gives numbers for all steps by name; `schedule`, a Recipe or a function of the
    step, gives the others, each rounded once; scalars given by neither must be the same in all examples. A folder with
    an interrupted run of the same setting is continued. The callback `say` is called with remarks; `spelling` says how
    parameters are named in messages.

    A proof has `per_proof` steps, the last proof the remaining ones; by default, as many as `memory` bytes allow, which
    is three quarters of the machine's unless given. The argument `losses` says for which steps public outputs are
    disclosed: "none", "ends" (the first and the last of each proof), or "all". Public outputs of many steps reveal
    something about the values that the proofs hide.

    The argument `evaluate` is a program that judges the values that the run ends with on a `test` set, which is
    committed to before the first step: arrays or an .npz file like `dataset`, or the test part of a `Dataset`. The
    commitment of a `public_test` set can be made again by anybody who has the set. With `initial_seed` the run begins
    with the values that the `model` draws by it, which anybody can draw again: the verdict then says that it did so.

    With `ray`, proofs are made by workers of a cluster: the cluster at that address, or all cores of this machine for
    "local". With `ray`, `memory` is that of one worker, by default what its machine has for each core, and there are at
    least as many proofs as cores. Workers see the values that they prove, and their proofs are checked as they arrive.

    Raise Unprovable for a program of which no run consists, and CircuitizeError, before anything is written, if inputs
    do not fit, if the folder holds something else, or if memory or disk do not suffice.
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
    """The evaluation of a run's end, and its test set."""
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
    """The steps per proof of the folder's run, if it was interrupted; otherwise as many as memory allows with at least
    one proof for each core.
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
    """Three quarters of the machine's memory; 4 GB if the system does not tell."""
    return physical_bytes() * 3 // 4 or 4 * 10**9


def told_of(losses: str, spelling: Spelling) -> Told:
    """The steps for which public outputs are disclosed. Raise CircuitizeError for an unknown word."""
    words = {told.value: told for told in (Told.NONE, Told.ENDS, Told.ALL)}
    if losses not in words:
        raise CircuitizeError(f"{spelling.option('losses')}: expected one of {', '.join(words)}, found {losses!r}")
    return words[losses]


def _results(program: Program, made: Mapping[str, Integers]) -> dict[str, Reals]:
    formats = {port.name: port.format for port in program.outputs}
    return {name: to_reals(format, values) for name, values in made.items() if (format := formats[name]) is not None}


def kept_file(folder: Path) -> Path:
    """The secret file that the run's prover keeps, beside the run's folder, which is for others."""
    return kept_beside(folder)


def require_beginning(
    folder: Path, seed: bytes | str | None, inputs: object, after: Path | None, spelling: Spelling = PYTHON
) -> None:
    """Raise CircuitizeError, before any work, unless a run may begin in a folder: with given values and a seed, or
    where another run ended, or where the run itself was interrupted.
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
    """Raise CircuitizeError if a run's folder lies in another run's: since its prover's secret file would lie there
    too.
    """
    for parent in Path(os.path.abspath(folder)).parents:
        if (parent / MANIFEST).exists():
            raise CircuitizeError(
                f"{folder}: expected a folder that lies in no other run's, found {parent} above it, which is for "
                "others; choose another"
            )
