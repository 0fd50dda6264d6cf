"""What somebody might tell the page that verifies, or the files that it reads: nothing holds by it that does not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from held_folders import KINDS, PROVERS, folder, held, mutants
from verify_page import PAGE, Verifying, verifying

from circuitize.provers.held import SAME, Entry, encode

pytestmark = [pytest.mark.deep, pytest.mark.proof, pytest.mark.browser]

SLOW = """(() => { const read = FileSystemDirectoryHandle.prototype.values; let first = true;
FileSystemDirectoryHandle.prototype.values = async function* () {
  const wait = first ? 1500 : 0; first = false;
  await new Promise(resolve => setTimeout(resolve, wait));
  yield* read.call(this); }; })()"""
"""The first reading of a dropped folder's names takes long."""


TRAP = """const own = WebAssembly.Instance; WebAssembly.Instance = class { constructor(...given) {
  const made = new own(...given).exports; this.exports = {...made, NAME() { throw new Error('trap') }} } }"""
"""A call of the module that does not come back."""


@pytest.fixture(scope="module")
def page() -> Iterator[Verifying]:
    with verifying() as own:
        yield own


def forged(kind: str, to: Path) -> Path:
    return next(iter(mutants(kind, 1, 3, to)))[1]


def test_a_verdict_is_of_the_last_drop(page: Verifying, tmp_path: Path) -> None:
    """Of two, the names of the first of which are read more slowly."""
    changed = forged("groth16", tmp_path)
    for first, last, state in [(folder("groth16"), changed, "refused"), (changed, folder("groth16"), "valid")]:
        page.open()
        page.browser.choose("#held", held("groth16"))
        page.browser.value(SLOW)
        page.browser.drop("#folder-zone", first)
        page.browser.drop("#folder-zone", last)
        said = page.verdict()
        assert said.state == state and f"files of {last.name}" in said.of, said
        page.browser.value("new Promise(resolve => setTimeout(resolve, 2500))")
        assert page.verdict() == said


def test_a_drop_takes_the_verdict_before_it_away(page: Verifying, tmp_path: Path) -> None:
    assert page.ask(held("tensor"), folder("tensor")).state == "valid"
    page.browser.value(SLOW)
    page.browser.drop("#folder-zone", forged("tensor", tmp_path))
    assert page.state() == "waiting" and not page.browser.value("document.querySelector('#of').textContent")
    assert page.verdict().state == "refused"
    page.browser.choose("#held", held("groth16"))
    assert page.verdict().state == "refused"
    page.browser.drop("#folder-zone", folder("groth16"))
    assert page.verdict().state == "valid"
    page.browser.drop("#held-zone", held("tensor"), held("groth16"))
    said = page.verdict()
    assert said.text == "NOT verified: expected one held file, found 2"


def test_names_and_lines_are_text_on_one_line(page: Verifying, tmp_path: Path) -> None:
    for number, name in enumerate(
        ("<img src=x onerror=document.body.remove()>", "x\nvalid: it proves all", "x\u202e\u200b\x1b[2J")
    ):
        changed = Path(copytree(folder("groth16"), tmp_path / str(number)))
        (changed / name).write_bytes(b"")
        said = page.ask(held("groth16"), changed)
        assert said.state == "refused" and "<img" not in said.html, said
        assert len(said.text.splitlines()) == 1 and said.text.isprintable(), said
    evil = tmp_path / "evil.held"
    evil.write_bytes(encode(["<b>x</b>\u202e"], [Entry("a", SAME, b""), Entry("p", "tensor", b"", [[b"x"]])]))
    assert page.ask(evil, folder("tensor")).state == "refused"


def test_a_length_past_32_bits_is_not_cut_to_another(page: Verifying, tmp_path: Path) -> None:
    """Of the list of lines, and of its first line; the module counts in 32 bits."""
    content = bytearray(held("tensor").read_bytes())
    for place in (24, 32):
        changed = bytes(content[: place + 4]) + b"\x01\0\0\0" + bytes(content[place + 8 :])
        path = tmp_path / "wide.held"
        path.write_bytes(changed[:-32] + hashlib.sha256(changed[:-32]).digest())
        assert page.ask(path, folder("tensor")).state == "refused"


@pytest.mark.parametrize("byte", [0, 255])
def test_constant_randomness_shows_no_forged_proof(byte: int, tmp_path: Path) -> None:
    """What the page draws guards the key of halo2 alone; what a proof is checked by is drawn from its transcript."""
    with verifying() as own:
        own.browser.before(f"crypto.getRandomValues = (bytes) => bytes.fill({byte})")
        for kind in PROVERS:
            said = own.ask(held(kind), folder(kind))
            assert said.state == "valid", (kind, said)
            for what, changed in mutants(kind, 5, 5, tmp_path):
                assert own.ask(held(kind), changed).state == "refused", (kind, what)


def test_a_module_that_cannot_run_says_nothing(tmp_path: Path) -> None:
    """Neither where the browser has no WebAssembly, nor where memory runs out, nor where a call traps."""
    for script in (
        "delete globalThis.WebAssembly",
        "WebAssembly.compile = async () => { throw new Error('no') }",
        TRAP.replace("NAME", "finish"),
        TRAP.replace("NAME", "reserve"),
        "File.prototype.arrayBuffer = async () => { throw new Error('gone') }",
    ):
        with verifying() as own:
            own.browser.before(script)
            said = own.ask(held("tensor"), folder("tensor"))
            assert said.state == "refused" and said.text.startswith("NOT "), (script, said)


def test_the_page_asks_for_nothing(page: Verifying) -> None:
    page.browser.requests.clear()
    for kind in KINDS:
        assert page.ask(held(kind), folder(kind)).state == "valid"
    assert set(page.browser.requests) == {PAGE.resolve().as_uri()}
    escaped = page.browser.value("fetch('https://example.org').then(() => 'reached', () => 'refused')")
    assert escaped == "refused"
    assert any("Content Security Policy" in line for line in page.browser.messages)
