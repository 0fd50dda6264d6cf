"""The checker of certificates: it reads a certificate and its design's Verilog, shows every claim again, and
compares.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from . import folded
from .claims import FORMAT, deeply, digests, shown
from .edges import Json
from .refusal import Refused

FIELDS = {"format", "program", "top", "elements", "streams", "statement", "files", "stages", "tabulated", "modules"}

KINDS: dict[object, tuple[set[str], tuple[str, ...], Callable[..., Json]]] = {
    FORMAT: (FIELDS, ("top", "elements", "streams", "statement"), shown),
    folded.FORMAT: (folded.FIELDS, folded.NAMES, folded.shown_folded),
}
"""For each kind of certificate its keys, those that the claims are shown from, and how."""

WRONG = (KeyError, TypeError, IndexError, ValueError, AttributeError, AssertionError, ArithmeticError, RecursionError)
"""The errors that a certificate with values of wrong types causes."""


def check(certificate: Json, files: Mapping[str, str]) -> Json:
    """Return the claims of a certificate on each module after showing them again from the texts of all files of `rtl`.

    Raise Refused if the certificate belongs to other files, or claims anything that is not shown.
    """
    kind = certificate.get("format") if isinstance(certificate, dict) else None
    if not isinstance(kind, str) or kind not in KINDS or set(certificate) != KINDS[kind][0]:
        raise Refused("expected a certificate of a parallel or a folded design, found another file")
    _, names, show = KINDS[kind]
    found = digests(files)
    try:
        for name in sorted(found.keys() | certificate["files"].keys()):
            if found.get(name) != certificate["files"].get(name):
                raise Refused(f"{name}: expected the file that the certificate is of, found another one, or none")
        made = deeply(lambda: show(files, *(certificate[name] for name in names)))
    except WRONG as error:
        raise Refused(f"expected a statement of integer operations, found one with another {error}") from None
    for name, value in made.items():
        if certificate[name] != value:
            raise Refused(f"expected the {name} that are shown, found others in the certificate")
    return made


def texts(folder: Path) -> dict[str, str]:
    """Return the text of every file of the folder `rtl` of a design, by file name."""
    return {path.name: path.read_bytes().decode() for path in sorted((folder / "rtl").iterdir())}


def statement_digest(statement: Json) -> str:
    """Return the SHA-256 of a statement, which says what the hardware computes."""
    return hashlib.sha256(json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def plain(name: str) -> str:
    """Return a name as it is printed: in quotes, if it has characters that names and parts do not have."""
    return name if re.fullmatch(r"[\w.]+( [\w.]+)*", name, re.ASCII) else json.dumps(name)


def _line(text: str) -> str:
    """Return a text as it is printed on one line, without characters that move the cursor."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _once(pairs: list[tuple[str, Json]]) -> Json:
    """Return the JSON object that has the given keys and values. Raise ValueError for a key that occurs twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object with one key twice")
    return made


def _told(certificate: Json, made: Json) -> list[str]:
    """Return the lines that the checker prints about a certificate whose claims it showed."""
    if certificate["format"] == folded.FORMAT:
        return [
            *(f"state: {plain(name)} of {len(values)} elements" for name, values in made["state"].items()),
            f"shown for all inputs and all states: each frame, of {made['clocks']} clocks, that begins in an idle "
            "design, a beat a clock on each stream",
        ]
    modules = made["modules"]
    return [
        *(f"{e['module']}: {e['method']}" + "".join(f"; {plain(name)}" for name in e["operations"]) for e in modules),
        f"shown for all inputs: {len(modules)} modules, {made['stages']} stages",
    ]


def main() -> int:
    """Check one certificate: return 0 if all its claims are shown, 1 if some are not, 2 if the files cannot be read."""
    parser = argparse.ArgumentParser(prog="checker", description=__doc__)
    parser.add_argument("certificate", type=Path, help="the file that circuitize certify wrote")
    parser.add_argument("design", type=Path, help="the folder of the design, with its folder rtl")
    given = parser.parse_args()
    try:
        certificate, files = json.loads(given.certificate.read_bytes(), object_pairs_hook=_once), texts(given.design)
    except (OSError, ValueError, RecursionError) as error:
        print(f"checker: expected a certificate and a design, found {error}", file=sys.stderr)
        return 2
    try:
        made = check(certificate, files)
    except Refused as refusal:
        print(f"checker: NOT shown: {_line(str(refusal))}", file=sys.stderr)
        return 1
    for line in _told(certificate, made):
        print(line)
    print(f"the statement: {statement_digest(certificate['statement'])}")
    for side in ("inputs", "outputs"):
        for stream, port in zip(certificate["streams"][side], certificate["statement"][side], strict=True):
            name = stream[0] if isinstance(stream, list) else stream
            carried = plain(port["name"])
            print(f"state: {carried}" if stream is None else f"stream {name}: {side[:-1]} {carried}")
    print(f"elements: {certificate['elements']}")
    return 0
