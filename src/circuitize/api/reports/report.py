"""A report: one page that says what a program computes, its costs, and the proofs of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from circuitize import __version__
from circuitize.backends.report.html import Markup, page, tag
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import require_file
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.program import Program

from ..exact import Exact, exact
from ..runs.verdict import RunVerdict
from ..verdict import Verdict
from . import program as of_program
from .proved import Judged, judged, trained


@dataclass(frozen=True, repr=False)
class Report:
    """A report as a page of HTML: one file that contains no scripts and loads nothing from a network. A notebook shows
    the page of the report.
    """

    title: str
    html: str

    def save(self, path: Path | str) -> None:
        """Write the report to a file FILE.html, which appears complete or not at all. Raise CircuitizeError if the
        file's name has another ending than .html.
        """
        file = Path(path)
        require_ending(file)
        require_file(file)
        write_whole(file, [self.html.encode()])

    def _repr_html_(self) -> str:
        return str(tag("iframe", sandbox="", srcdoc=self.html, width="100%", height=800))

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html.encode()):,} bytes)"


def require_ending(path: Path) -> None:
    """Raise CircuitizeError unless the file's name ends in .html."""
    if path.suffix != ".html":
        raise CircuitizeError(
            f"{path}: expected a file that ends in .html, found {path.suffix or 'no ending'!r}; rename it"
        )


def report(
    program: Program | Exact,
    *evidence: Verdict | RunVerdict | Judged | Path | str,
    title: str = "",
    progress: Progress = silent,
) -> Report:
    """Return a report about a program: its picture, who learns which values, its sizes by target, its errors by layer,
    and the words that it moves.

    The argument `evidence` holds verdicts on proofs and runs, which the caller got from a verifier, and folders of
    trainings, whose curves the report shows. Raise CircuitizeError for evidence of another kind, and for a verdict on
    another program or a training of another program. The same program and evidence always give a report with the same
    bytes.
    """
    with under_way(progress, "quantizing"):
        made = exact(program, Phases())
    name = title or "A program"
    found = [_evidence(one, made.digest) for one in evidence]
    with under_way(progress, "drawing"):
        picture = of_program.what_it_computes(made, name)
    return Report(
        name,
        page(
            name,
            tag("p", "Program of digest ", tag("code", made.digest), f", by circuitize {__version__}.", class_="faint"),
            tag(
                "p",
                "This report is no proof. It says what whoever wrote it has found; a file can be changed by anybody. "
                "What was proved is checked by a verifier, with the verifier's own program.",
                class_="note",
            ),
            *found,
            picture,
            of_program.who_learns_what(made.integer),
            of_program.sizes(made, progress),
            of_program.errors(made, progress),
            of_program.words(made, progress),
        ),
    )


def _evidence(one: object, digest: str) -> Markup:
    if isinstance(one, (str, Path)):
        return trained(Path(one), digest)
    if isinstance(one, (Verdict, RunVerdict)):
        one = Judged(one)
    if not isinstance(one, Judged):
        raise CircuitizeError(
            f"report: expected verdicts and folders of trainings, found {type(one).__name__}; see verifier, verify_run"
        )
    if one.verdict.digest != digest:
        raise CircuitizeError(
            f"report: expected verdicts on program {digest}, found one on {one.verdict.digest}; name the program that "
            "it is on"
        )
    return judged(one)
