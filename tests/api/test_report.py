"""`cz.report`: one page that loads nothing, says what is so, and shows no name as anything but text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import browser
import cli_programs
import numpy as np
import page_judge
import pytest
import reported_steps

import circuitize as cz
from circuitize.api.exact import exact
from circuitize.api.reports.proved import Judged, judged
from circuitize.api.reports.report import Report
from circuitize.api.verdict import Verdict
from circuitize.backends.report.chart import Curve, chart
from circuitize.backends.report.html import page, tag, visible
from circuitize.circuits.accuracy import report as accuracy
from circuitize.circuits.operation import Provenance
from circuitize.circuits.phases import Phases

DEMO = Path(__file__).resolve().parent.parent.parent / "docs" / "demo-report.html"
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><b>&amp;&lt;",
    "]]>--><!--{{7*7}}javascript:alert(1)",
)


def hostile() -> cz.Program:
    """A program whose names, all of them, would be markup where they are not escaped."""
    step = reported_steps.step()
    inputs = {port.name: HOSTILE[place % len(HOSTILE)] + str(place) for place, port in enumerate(step.inputs)}
    outputs = {port.name: inputs.get(port.name, HOSTILE[0] + port.name) for port in step.outputs}
    provenances = tuple(
        Provenance(
            HOSTILE[place % len(HOSTILE)] + one.part, HOSTILE[(place + 1) % len(HOSTILE)] + "\u202e\x1b.py", one.line
        )
        for place, one in enumerate(step.arrow.provenances)
    )
    return replace(
        step,
        arrow=replace(step.arrow, provenances=provenances),
        inputs=tuple(replace(port, name=inputs[port.name]) for port in step.inputs),
        outputs=tuple(replace(port, name=outputs[port.name]) for port in step.outputs),
        examples=tuple(
            {inputs.get(name, outputs.get(name, name)): value for name, value in batch.items()}
            for batch in step.examples
        ),
    )


@pytest.fixture(scope="module")
def plain() -> str:
    return cz.report(reported_steps.step(), title="step").html


def test_a_page_says_what_a_program_is(plain: str) -> None:
    made = exact(reported_steps.step(), Phases())
    assert page_judge.faults(plain) == []
    text = page_judge.text(plain)
    assert made.digest in text and "This report is no proof." in text
    for port in (*made.integer.inputs, *made.integer.outputs):
        assert port.name in text
    sizes = cz.estimate(made.given).targets
    assert f"{sizes['r1cs']['constraints']:,}" in text and f"{sizes['tensor']['lookups']:,}" in text
    for title in (
        "What it computes",
        "public, committed and hidden",
        "Sizes by target",
        "Errors by layer",
        "Words moved",
    ):
        assert title in text
    assert "dense1 derivative" in text and f"{cz.cost(made.given).moved:,}" in text
    assert plain == cz.report(made.given, title="step").html, "the same program gives the same bytes"


def test_errors_are_those_of_the_accuracy_report(plain: str) -> None:
    text = page_judge.text(plain)
    for name, error in accuracy(reported_steps.step()).outputs.items():
        assert name in text and f"{error.measured:.4g}" in text and f"{error.predicted:.4g}" in text
    assert "Not known" in cz.report(cz.quantize(cli_programs.step())).html


@pytest.mark.browser
def test_hostile_names_are_text(tmp_path: Path) -> None:
    program = hostile()
    digest = cz.program_digest(cz.quantize(program))
    given = Verdict(
        True, None, digest, HOSTILE[0], "development", False, {}, {HOSTILE[1]: HOSTILE[2]}, HOSTILE, HOSTILE
    )
    refused = replace(given, valid=False, reason=HOSTILE[3])
    evidence = [Judged(one, HOSTILE[4], HOSTILE[5]) for one in (given, refused)]
    report = cz.report(program, *evidence, title=HOSTILE[0])
    assert page_judge.faults(report.html) == []
    text = page_judge.text(report.html)
    for word in HOSTILE:
        assert word in text
    assert "\u202e" not in report.html and "\x1b" not in report.html and "\\u202e" in report.html
    report.save(tmp_path / "hostile.html")
    with browser.browser() as opened:
        opened.call("Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.hit = true; }")
        opened.open(tmp_path / "hostile.html")
        assert page_judge.opened_faults(opened) == []
        assert opened.value("document.title") == HOSTILE[0]
        assert opened.value("window.hit === undefined && document.scripts.length === 0")
        assert opened.value(
            "[...document.querySelectorAll('*')].every(e => [...e.attributes].every(a => !/^on/.test(a.name)))"
        )


@pytest.mark.browser
def test_a_browser_opens_it_and_finds_nothing_to_complain_of(plain: str, tmp_path: Path) -> None:
    """Of this program, and of the demo's run, as the documents have it."""
    (tmp_path / "plain.html").write_text(plain)
    (tmp_path / "wrong.html").write_text(
        plain.replace("<main>", "<main><script>1</script><img src='http://a.invalid/'>")
    )
    with browser.browser() as opened:
        for path in (tmp_path / "plain.html", DEMO):
            opened.requests.clear()
            opened.open(path)
            assert page_judge.faults(path.read_text()) == page_judge.opened_faults(opened) == []
        opened.value("console.error('seen')")
        assert any("seen" in line for line in opened.messages), "what a console says is heard"
        opened.messages.clear()
        opened.open(tmp_path / "wrong.html")
        assert len(page_judge.opened_faults(opened)) >= 2, "scripts and pictures from outside are refused, aloud"
    assert page_judge.faults((tmp_path / "wrong.html").read_text())


def test_verdicts_say_whose_they_are() -> None:
    made = exact(reported_steps.step(), Phases())
    valid = Verdict(True, None, made.digest, "groth16", "development", True, {}, {"x": "0x12"}, ("y",), ("z",), 99.5)
    text = page_judge.text(judged(Judged(valid, "proof", "circuitize verify proof --keys keys")))
    for words in ("INSECURE", "0x12", "99.5 bits", "circuitize verify proof", "does not prove that they did"):
        assert words in text
    refused = replace(valid, valid=False, reason="the pairing equation does not hold")
    text = page_judge.text(judged(Judged(refused)))
    assert "NOT valid" in text and "pairing equation" in text and "0x12" not in text


def test_what_is_refused(plain: str, tmp_path: Path) -> None:
    made = exact(reported_steps.step(), Phases())
    other = Verdict(True, None, "0" * 64, "tensor", "none", True)
    for evidence, words in (
        (other, "expected verdicts on program"),
        (3, "found int"),
        (tmp_path, "expected a training"),
    ):
        with pytest.raises(cz.CircuitizeError, match=words):
            cz.report(made.given, evidence)  # type: ignore[arg-type]
    with pytest.raises(cz.CircuitizeError, match="expected a Program"):
        cz.report(3)  # type: ignore[arg-type]
    with pytest.raises(cz.CircuitizeError, match=r"ends in \.html"):
        Report("step", plain).save(tmp_path / "report.pdf")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_markup(text: str) -> None:
    made = page(text, tag("p", text, class_=text), tag("code", text))
    assert [fault for fault in page_judge.faults(made) if "attribute class" not in fault] == []
    assert page_judge.text(made).count(text) == 4


def test_what_is_not_printable_is_shown() -> None:
    assert visible("a\u202eb\x00\n") == "a\\u202eb\\x00\\n"


def test_charts_leave_out_what_is_no_number() -> None:
    assert chart("loss", [Curve("integers", "one", [1, 2], [np.nan, np.inf])]) == ""
    drawn = chart(
        "loss", [Curve("integers", "one", [1, 2, 3], [1.0, np.nan, 1.0]), Curve("float64", "two", [1], [2.0])]
    )
    assert chart("loss", [Curve("integers", "one", [np.nan], [1.0])]) == ""
    assert "nan" not in drawn and drawn.count("<polyline") == 2
    long = chart("loss", [Curve("integers", "one", list(range(100_000)), [1e-9 * k for k in range(100_000)])])
    assert len(long) < 10_000
