"""Verifying a run: the verifier's own arguments decide what the run must be, and the run's folder only makes claims.

Soundness: the program, the number of the first step, and every argument that is given come from the verifier;
everything in the folder is a claim. What the folder claims about the seed, the lengths and the number of examples must
equal the arguments that are given; a claim for which no argument is given becomes part of the run's setting, and the
verdict repeats it. The function `checking.check` decides whether a run of a given setting holds: whether there are
proofs of the setting's program, with its batches and scalars, each of which begins with the roots with which the
previous proof ends. Roots, public outputs, and scalars for which no argument is given are believed because the proofs
bind them; then the roots are compared with the roots that the verifier expects.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from circuitize.backends.tensor.dataset import batch_size
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.folder import require_plain_files
from circuitize.circuits.phases import Phases, Progress, silent
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.scan import Told
from circuitize.circuits.values import Given
from circuitize.frontends.layers import Model
from circuitize.provers.statement import FILE
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs.checking import Checked, Refused
from circuitize.provers.tensor.runs.evaluation import PUBLIC_SECRET, TEST, Evaluation
from circuitize.provers.tensor.runs.files import MANIFEST, RENEWALS, STEPS, Manifest, read_manifest
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.start import Start
from circuitize.provers.tensor.verifier import refusal

from ..exact import exact
from ..expectations import whole_root
from .believing import require_believable, require_believable_test_set, require_light
from .data import Data, dataset_of, public_start, seed_bytes
from .pin import pinned, read_pin
from .scalars import Schedule, required_scalars
from .spelling import PYTHON, Spelling
from .steps import from_step, whole_number
from .verdict import RunVerdict, verdict_of

FINAL = "final."


def verify_run(
    program: Program,
    folder: Path | str,
    *,
    steps: int | None = None,
    first: int = 1,
    seed: bytes | str | None = None,
    examples: int | None = None,
    per_proof: int | None = None,
    scalars: Mapping[str, Given] | None = None,
    schedule: Schedule | None = None,
    evaluate: Program | None = None,
    test: Data | None = None,
    test_examples: int | None = None,
    initial_seed: bytes | str | None = None,
    model: Model | None = None,
    digest: str | None = None,
    expect: Mapping[str, str | None] | None = None,
    pin: Path | None = None,
    progress: Progress = silent,
    spelling: Spelling = PYTHON,
) -> RunVerdict:
    """Return the verdict on the run in a folder, according to the verifier's own program.

    Every argument that is given is required of the run: the number of `steps`, the number of the `first` step, the
    `seed` (bytes or hexadecimal), the number of `examples` in the dataset, exact `scalars` for all steps by name, a
    `schedule` for the other scalars, the `digest` of the program, and roots in hexadecimal: `expect={"data": ...,
    "parameters": ..., "final.parameters": ...}`. If an argument is left out, the run's own statement about it is taken,
    and the verdict repeats the statement. A prover who chose the seed of a run also chose its batches.

    To have the final values of a run evaluated, pass `evaluate`, the verifier's own evaluation program; `test` is a
    public test set on which the run must be evaluated, and `test_examples` is the number of examples that the test set
    must have. For a run with a public start, pass its `initial_seed` and the `model` with which the verifier draws the
    starting values. If `pin` is a path and the run holds, a pin is written there, with which others verify the run by
    `verify_pinned`: it contains every requirement and every statement of the run.

    Raise CircuitizeError if there is no run to check, for scalars that their formats cannot represent, for unknown
    names of roots, and for claims that are accepted only if the verifier requires them: very many examples, or very
    many steps in a proof.
    """
    start, path = time.perf_counter(), _plain(folder)
    own = exact(program, Phases())
    if (path / FILE).is_file() and not (path / MANIFEST).exists():
        raise CircuitizeError(
            f"{path}: expected a run of training steps, found one proof (it has {FILE}); use {spelling.verifier}"
        )
    required, stated = required_scalars(own.integer, scalars, schedule, spelling)
    manifest = read_manifest(path)
    drawn = manifest.seed if seed is None else seed_bytes(seed, spelling)
    first, steps, size, each = (
        whole_number(spelling.option(name), getattr(manifest, name) if given is None else given)
        for name, given in (("first", first), ("steps", steps), ("examples", examples), ("per_proof", per_proof))
    )
    require_believable(path, manifest, examples is not None, per_proof is not None, spelling)

    def required_setting() -> tuple[Run, Mapping[str, bytes]]:
        if digest is not None and digest.lower() != own.digest:
            raise Refused(f"the program is {own.digest}, expected {digest.lower()}")
        found, wanted = (manifest.first, manifest.steps, manifest.examples, manifest.seed), (first, steps, size, drawn)
        if found != wanted:
            raise Refused(f"the run is of {_extent(*found)}, expected {_extent(*wanted)}")
        if manifest.per_proof != each:
            raise Refused(f"the run has {manifest.per_proof} steps in a proof, expected {each}")
        if each > steps:
            raise Refused(f"the run claims {each:,} steps in a proof, expected at most {steps:,}, as many as there are")
        setting = Run(
            *(own.integer, size, steps, drawn, required, each, first, stated),
            zero_knowledge=manifest.zero_knowledge,
            begun=manifest.openings if first > 1 else None,
            told=Told(manifest.told),
            evaluation=_evaluation(path, evaluate, manifest, test_examples, test is not None, spelling),
            start=_start(path, own.integer, manifest, initial_seed, model, spelling),
        )
        _require_test(path, setting, manifest, test, spelling)
        expected = _expected_roots(setting, expect or {}, spelling)
        checking.require_setting(setting, manifest)
        require_light(path, setting, per_proof is not None, test_examples is not None or test is not None, spelling)
        return setting, expected

    return _verdict(path, manifest, own.digest, start, required_setting, progress, pin)


def verify_pinned(
    folder: Path | str, pin: Path | str, *, progress: Progress = silent, judge: checking.Refusal = refusal
) -> RunVerdict:
    """Return the verdict on the run in a folder according to a pin, which determines the program, seeds, lengths,
    scalars, roots and test set.

    The argument `judge` is the function that checks one proof, as `checking.check` describes.

    Raise CircuitizeError for a file that is no pin, and for a pin that was made for the plans of another version.
    """
    start, path = time.perf_counter(), _plain(folder)
    held = read_pin(Path(pin))
    setting = held.run
    if setting.plans_digest != held.plans:
        raise CircuitizeError(
            f"{pin}: expected plans {setting.plans_digest}, as this version makes them, found {held.plans}; verify by "
            "the version that wrote the pin"
        )
    manifest = read_manifest(path)

    def required_setting() -> tuple[Run, Mapping[str, bytes]]:
        checking.require_setting(setting, manifest)
        return setting, {**held.roots, **{FINAL + name: root for name, root in held.final.items()}}

    return _verdict(path, manifest, setting.digest, start, required_setting, progress, None, judge)


def _plain(folder: Path | str) -> Path:
    """Return the path of a run's folder, after checking that no file in it is a device or a pipe."""
    path = Path(folder)
    for each_folder in (path, path / STEPS, path / RENEWALS):
        require_plain_files(each_folder)
    return path


def _verdict(
    folder: Path,
    manifest: Manifest,
    digest: str,
    start: float,
    required_setting: Callable[[], tuple[Run, Mapping[str, bytes]]],
    progress: Progress,
    pin: Path | None,
    judge: checking.Refusal = refusal,
) -> RunVerdict:
    """Return the verdict on the run in a folder, according to the required setting and roots; `required_setting` raises
    Refused if the run claims another setting. If the run holds and `pin` is a path, the run's pin is written there.
    """
    planned = 0.0
    try:
        run, expected = required_setting()
        planned = time.perf_counter() - start
        checked = checking.check(
            run, folder, manifest, lambda step: progress(f"verified step {step:,} of {run.last:,}"), judge
        )
        _compare(expected, checked)
        if pin is not None:
            pinned(run, checked).write(pin)
        return verdict_of(run, checked, planned)
    except Refused as error:
        return RunVerdict(digest=digest, valid=False, reason=str(error), plan_seconds=planned)
    finally:
        progress("")


def _evaluation(
    folder: Path, program: Program | None, manifest: Manifest, examples: int | None, held: bool, spelling: Spelling
) -> Evaluation | None:
    """Return the evaluation of a run's final values, according to the verifier's evaluation program. The argument
    `examples` is the number of examples that the test set must have; `held` says that the verifier has the test set.
    """
    claimed = manifest.test_examples
    if program is None and claimed is None:
        return None
    if program is None:
        raise CircuitizeError(
            f"{folder}: expected {spelling.option('evaluate')} for this run, whose end is judged, found none; give the "
            "program that judges it"
        )
    if claimed is None:
        raise Refused("the run is of test examples None, expected some: nothing judges its end")
    if examples is not None and examples != claimed:
        raise Refused(f"the run is judged on {claimed} examples, expected {examples}")
    judge = exact(program, Phases()).integer
    if examples is None:
        require_believable_test_set(folder, judge, claimed, held, spelling)
    if claimed % batch_size(judge):
        raise Refused(f"the run is judged on {claimed} examples, expected whole batches of {batch_size(judge)}")
    return Evaluation(judge, claimed, manifest.zero_knowledge)


def _start(
    folder: Path,
    program: IntegerProgram,
    manifest: Manifest,
    seed: bytes | str | None,
    model: Model | None,
    spelling: Spelling,
) -> Start | None:
    """Return the starting values of a run with a public start, which the verifier draws from its own seed with its own
    model.
    """
    if manifest.start is None and seed is not None:
        raise Refused("the run begins with values of its prover's, expected those of a public seed")
    if manifest.start is not None and (seed is None or model is None):
        given = spelling.option("initial_seed", manifest.start.hex())
        raise CircuitizeError(
            f"{folder}: expected {given} and {spelling.option('model')} for this run, whose start is public, found "
            "one or none; give both"
        )
    found = public_start(program, seed, model, spelling)
    if found is not None and found.seed != manifest.start:
        raise Refused(f"the run begins with values of another seed than {found.seed.hex()}")
    return found


def _require_test(folder: Path, run: Run, manifest: Manifest, test: Data | None, spelling: Spelling) -> None:
    """Raise Refused if a public test set is given and the run was not evaluated on it."""
    if test is None:
        return
    if run.evaluation is None:
        raise CircuitizeError(
            f"{spelling.option('test')}: expected {spelling.option('evaluate')} beside it, found none"
        )
    tensors = dataset_of(run.evaluation.program, test, silent, spelling, "test")
    size = next(iter(tensors.values())).shape[0]
    if size != run.evaluation.size:
        raise Refused(f"the run is judged on {run.evaluation.size} examples, expected the {size} of the test set")
    root = run.evaluation.commitment(tensors, PUBLIC_SECRET).root
    if manifest.roots.get(TEST) != root:
        raise Refused(
            f"expected the test set committed to by 0x{root.hex()}, the run is judged on another or a secret one"
        )


def _extent(first: int, steps: int, examples: int, seed: bytes) -> str:
    return f"{steps} steps{from_step(first)} on {examples} examples with seed {seed.hex()}"


def _expected_roots(run: Run, expect: Mapping[str, str | None], spelling: Spelling) -> dict[str, bytes]:
    """Return the expected roots by the names of their groups, such as `parameters`, `data` or `final.parameters`. Raise
    CircuitizeError for a root whose name no group of the run has.
    """
    where, names = spelling.option("expect"), [*run.rooted, *(FINAL + name for name in (*run.kept, "data"))]
    found = {}
    for name, root in expect.items():
        if name not in names or root is None:
            given = name if root is None else f"{name}={root}"
            raise CircuitizeError(
                f"{where}: expected NAME=ROOT with a name among {', '.join(names)}, found {excerpt(given)}"
            )
        found[name] = whole_root(f"{where} {name}", root).to_bytes(32, "big")
    return found


def _compare(expected: Mapping[str, bytes], checked: Checked) -> None:
    found = {**checked.roots, **{FINAL + name: root for name, root in checked.final.items()}}
    for name, root in expected.items():
        if found[name] != root:
            raise Refused(f"expected {name} committed to by 0x{root.hex()}, the run has 0x{found[name].hex()}")
