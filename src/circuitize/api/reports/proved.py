"""The sections of a report about a verdict and about a training: each says whose claim it repeats, and how the reader
can check the claim.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from circuitize import __version__
from circuitize.backends.report.chart import Curve, chart
from circuitize.backends.report.html import Markup, Part, joined, section, table, tag
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.exact import shown
from circuitize.circuits.saved import load

from ..exact import Reals
from ..runs.verdict import Course, RunVerdict
from ..training import metrics
from ..training.folder import PROGRAM, read_manifest
from ..verdict import Verdict

MOST_SHOWN = 6
"""The most numbers of a public array that a report shows."""

MOST_ROWS = 1 << 20
"""The most steps of a training whose metrics are read."""


@dataclass(frozen=True)
class Judged:
    """A verdict in a report, with the folder that was verified and the command line that verifies it."""

    verdict: Verdict | RunVerdict
    folder: str = ""
    command: str = ""

    @classmethod
    def of(
        cls, verdict: Verdict | RunVerdict, command: str, folder: Path, program: str, asked: Mapping[str, object]
    ) -> Self:
        """Return a verdict for a report, with the command line that reached it: a command on a folder, by a program and
        by options, where options without a value are left out.
        """
        words = ["circuitize", command, str(folder), "--program", program]
        for name, value in asked.items():
            for one in (value if isinstance(value, list) else [value]) if value else ():
                words += [f"--{name.replace('_', '-')}", str(one)]
        return cls(verdict, str(folder), shlex.join(words))


def judged(given: Judged) -> Markup:
    """Return the section of a report about a verdict: what holds, who says so, and how to check it."""
    verdict = given.verdict
    run = isinstance(verdict, RunVerdict)
    what = "run of training steps" if run else "proof"
    title = f"The verdict on a {what}" + (f", {given.folder}" if given.folder else "")
    parts: list[Part] = [_outcome(verdict)]
    if verdict:
        parts += _of_run(verdict) if isinstance(verdict, RunVerdict) else _of_proof(verdict)
    return section(title, *parts, _by_whom(given, run))


def _outcome(verdict: Verdict | RunVerdict) -> Markup:
    if not verdict:
        return tag("p", tag("span", "NOT valid", class_="bad"), f": {verdict.reason}. Nothing that it states is shown.")
    hiding = "in zero knowledge" if verdict.zero_knowledge else "NOT in zero knowledge"
    said: list[Part] = [tag("span", "valid", class_="good"), f", {hiding}"]
    if verdict.security_bits is not None:
        said.append(f", {verdict.security_bits:.1f} bits of soundness")
    if isinstance(verdict, Verdict) and verdict.setup == "development":
        said.append(
            tag("span", "; the keys are development keys, INSECURE: whoever made them can prove anything", class_="bad")
        )
    return tag("p", *said, ".")


def _of_proof(verdict: Verdict) -> Iterator[Markup]:
    yield table(("public value", ""), [(name, _numbers(values)) for name, values in verdict.publics.items()])
    yield table(("committed", "root"), [(name, tag("code", root)) for name, root in verdict.roots.items()])
    if verdict.hidden:
        yield tag("p", f"Hidden: {', '.join(verdict.hidden)}.")
    if verdict.unbound:
        yield tag("p", f"Of these the proof says only that there are such values: {', '.join(verdict.unbound)}.")


def _of_run(verdict: RunVerdict) -> Iterator[Markup]:
    yield table(
        (),
        [
            ("steps", f"{verdict.steps:,}, from step {verdict.first:,} on"),
            ("steps in a proof", f"{verdict.per_proof:,}"),
            ("examples of the dataset", f"{verdict.examples:,}"),
            ("seed of the batches", verdict.seed),
            *([("begins with what the model draws by seed", verdict.initial_seed)] if verdict.initial_seed else []),
            *((name, _course(scalar)) for name, scalar in verdict.scalars.items()),
            *((name, _ends(values)) for name, values in verdict.publics.items() if len(values)),
            *_worth(verdict),
        ],
    )
    roots = [
        (
            name,
            tag("code", root),
            tag("code", verdict.final.get(name, root)) if verdict.final.get(name, root) != root else "the same",
        )
        for name, root in verdict.roots.items()
    ]
    yield table(("committed", "root it begins with", "root it ends with"), roots)
    if verdict.hidden:
        yield tag("p", f"Hidden, or not told of all steps: {', '.join(verdict.hidden)}.")
    if len(verdict.told) > 2:
        drawn = [
            chart(name, [Curve(name, "one", verdict.told, values.tolist())])
            for name, values in verdict.publics.items()
            if values.ndim == 1
        ]
        yield tag("div", *drawn, class_="charts")


def _worth(verdict: RunVerdict) -> Iterator[tuple[str, str]]:
    worth = verdict.evaluation
    if worth is not None and worth.right is not None:
        yield "right on the test set", f"{worth.right:,} of {worth.examples:,}, {worth.accuracy:.2%}"


def _course(scalar: Course) -> str:
    first, last = (shown(int(scalar.integers[at]), scalar.fraction_bits) for at in (0, -1))
    same = len(set(scalar.integers.tolist())) == 1
    word = "as the verifier required" if scalar.required else "as the run states"
    return f"{first if same else f'from {first} to {last}'}, {word}"


def _ends(values: Reals) -> str:
    return f"from {_numbers(values[0])} to {_numbers(values[-1])}"


def _numbers(values: Reals) -> str:
    flat = np.asarray(values, np.float64).reshape(-1)
    more = f", ... ({flat.size:,} values)" if flat.size > MOST_SHOWN else ""
    return ", ".join(f"{value:.9g}" for value in flat[:MOST_SHOWN].tolist()) + more


def _by_whom(given: Judged, run: bool) -> Markup:
    verdict = given.verdict
    words = "verify_run(program, folder)" if run else "verifier(program, key).check(folder)"
    command = [tag("pre", given.command)] if given.command else []
    of_proof = "the verifying key where the prover has keys, and what the proof must state"
    wanted = "what the run must be (steps, seeds, schedule, roots)" if run else of_proof
    return tag(
        "div",
        tag("h3", "Who says so, and how to check it"),
        tag(
            "p",
            f"Whoever wrote this page ran the verifier of circuitize {__version__} on it, with their own copy of the "
            "program, of digest ",
            tag("code", verdict.digest),
            ". This page does not prove that they did. To be sure, take the proof's folder from whom you like, and "
            f"everything else from whom you trust: the program, whose digest must be this one, and {wanted}. Then run",
        ),
        *command,
        *([tag("p", "What this does not ask for is as the run states it.")] if run and verdict else []),
        tag(
            "p",
            "In Python it is ",
            tag("code", f"circuitize.{words}"),
            "; docs/verifying.md says how to check it without Python.",
        ),
        class_="note",
    )


def trained(folder: Path, digest: str) -> Markup:
    """Return the section of a report with the curves that a training recorded. Raise CircuitizeError if the training is
    of another program than the report.
    """
    said = read_manifest(folder)
    found = program_digest(load(folder / PROGRAM, integer=True))
    if found != digest:
        raise CircuitizeError(
            f"{folder}: expected a training of program {digest}, found one of {found}; name the program that it is of"
        )
    series: dict[str, list[tuple[float, float]]] = {}
    for row in metrics.read(folder, MOST_ROWS):
        if "step" not in row:
            raise FormatError(
                f"{folder / metrics.LINES}: expected the number of the step in each row, found "
                f"{excerpt(sorted(row))}; put the file back"
            )
        for name, value in row.items():
            if name not in ("step", "epoch"):
                series.setdefault(name, []).append((float(row["step"]), float(value)))
    heads = [name for name in series if not name.endswith("_float64") or name.removesuffix("_float64") not in series]
    drawn = [_panel(name, series) for name in heads]
    last = [(name.replace("_", " "), series[name][-1][1]) for name in heads]
    steps = said["steps"] if isinstance(said.get("steps"), int) else 0
    roots = [(name, tag("code", str(root))) for name, root in {**said["roots"], **_final(said)}.items()]
    return section(
        f"Training, {folder}",
        tag(
            "p",
            f"{steps:,} steps in exact integers. These curves are what whoever trained has "
            "measured: no proof is of them."
            + " A run that begins and ends with these roots proves the training."
            * bool(roots),
        ),
        tag("div", *drawn, class_="charts"),
        table(("at the end", ""), last),
        table(("committed", "root"), roots),
    )


def _final(said: Mapping[str, object]) -> dict[str, object]:
    final = said.get("final")
    return {f"{name} at the end": root for name, root in final.items()} if isinstance(final, dict) else {}


def _panel(name: str, series: Mapping[str, list[tuple[float, float]]]) -> Markup:
    curves = []
    for own, label, kind in ((name, "integers", "one"), (f"{name}_float64", "float64", "two")):
        if own in series:
            steps, values = zip(*series[own], strict=True)
            curves.append(Curve(label, kind, steps, values))
    return joined([chart(name.replace("_", " "), curves)])
