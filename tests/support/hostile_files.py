"""Files that a verifier is handed, mutated, each judged in this process; run as a script, so many of each kind.

`python tests/support/hostile_files.py 10000` takes minutes, and prints how many were accepted, refused and unreadable,
the longest time of one and the memory of all.
"""

from __future__ import annotations

import hashlib
import json
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError

Random = np.random.Generator
Judge = Callable[[Path], bool]
"""Whether what lies at a path is accepted; raises CircuitizeError where it cannot be read."""

WORDS = (0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**48, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
LITERALS = (
    *(str(sign * word + more) for word in WORDS for sign in (1, -1) for more in (0, 1)),
    *("1e308", "-1e-308", "1e999", "NaN", "-Infinity", "null", "true", "false", '""', "[]", "{}", "[[]]", '{"a":1}'),
    *('"integer.add"', '"real.exp"', '"View"', '"os.system"', '"__class__"', '"private"', '"\\u0000"', '"\\ud800"'),
    *("9" * 30, "9" * 5000, '"' + "x" * 3000 + '"', "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000),
    *('",i4"', '"O"', '"<i8,<i8"', '"(2,)i4"', '"V99999999"', '"<U999999999"', '{"array":0}', '{"tuple":[]}'),
)

PLAIN: tuple[Any, ...] = (
    *(sign * value + more for value in (*WORDS, 10**30) for sign in (1, -1) for more in (0, 1)),
    *(0.5, 1e308, None, True, "", "integer.add", "integer.sum", "real.exp", "View", "Fixed", "os.system", "private"),
    *("<f8", ",i4", "O", [], {}, [[]], [0] * 100, [1 << 40] * 3, {"array": 0}, {"array": -1}, {"tuple": []}),
    *({"tuple": [1 << 50] * 40}, {"float": "0x1p1023"}, {"float": "inf"}, {"class": "Fixed", "fields": {}}, "x" * 3000),
)


def flipped(random: Random, content: bytearray) -> None:
    for _ in range(int(random.integers(1, 4))):
        content[int(random.integers(len(content)))] ^= 1 << int(random.integers(8))


def cut(random: Random, content: bytearray) -> None:
    del content[int(random.integers(len(content))) :]


def longer(random: Random, content: bytearray) -> None:
    at = int(random.integers(len(content) + 1))
    content[at:at] = random.bytes(int(random.integers(1, 200)))


def missing(random: Random, content: bytearray) -> None:
    at = int(random.integers(len(content)))
    del content[at : at + int(random.integers(1, 64))]


def word(random: Random, content: bytearray) -> None:
    """A length, or another number, replaced by an extreme one."""
    size = (4, 8)[int(random.integers(2))]
    at = int(random.integers(max(1, min(len(content), (64, len(content))[int(random.integers(2))]) - size)))
    content[at : at + size] = (WORDS[int(random.integers(len(WORDS)))] % (1 << 8 * size)).to_bytes(size, "little")


def literal(random: Random, content: bytearray) -> None:
    """One value of a JSON text, wherever it stands in a file, replaced by another."""
    places = [at for at in range(len(content)) if content[at] in b'0123456789"ntf']
    if places:
        at = places[int(random.integers(len(places)))]
        end = at + 1
        if content[at : at + 1] == b'"':
            end = content.find(b'"', at + 1) + 1 or len(content)
        else:
            while end < len(content) and content[end] in b"0123456789.eE+-xabcdeflnrstu":
                end += 1
        content[at:end] = LITERALS[int(random.integers(len(LITERALS)))].encode()


def node(random: Random, content: bytearray) -> None:
    """One value of the JSON text that a file has somewhere, replaced by an extreme one or by another of its values."""
    start = content.find(b"{")
    text, rest = _description(bytes(content[max(0, start) :]))
    places: list[tuple[Any, Any]] = []
    try:
        waiting = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    whole = waiting[0]
    while waiting:
        value = waiting.pop()
        inner = list(value.items() if isinstance(value, dict) else enumerate(value))
        places += [(value, name) for name, _ in inner]
        waiting += [held for _, held in inner if isinstance(held, dict | list)]
    if places and isinstance(whole, dict):
        (holder, name), (other, its) = (places[int(random.integers(len(places)))] for _ in range(2))
        if random.integers(4):
            holder[name] = PLAIN[int(random.integers(len(PLAIN)))]
        else:
            holder[name] = json.loads(json.dumps(other[its]))
        content[max(0, start) :] = json.dumps(whole, separators=(",", ":"), sort_keys=True).encode() + rest


BYTES = (flipped, cut, longer, missing, word)
TEXT = (*BYTES, *[literal] * 4, *[node] * 10)


@dataclass
class Kind:
    """One kind of file: an honest one, who judges it, how it is mutated, and what is mended so that more is read.

    Of an `exact` kind no other file is ever accepted.
    """

    name: str
    root: Path
    path: Path
    judge: Judge
    ways: tuple[Callable[[Random, bytearray], None], ...] = BYTES
    mend: Callable[[bytes], bytes] = lambda content: content
    exact: bool = False
    honest: bytes = b""

    def __post_init__(self) -> None:
        self.honest = self.path.read_bytes()

    def mutants(self, random: Random, count: int) -> Iterator[bytes]:
        for _ in range(count):
            content = bytearray(self.honest)
            for _ in range(int(random.integers(1, 3))):
                if content:
                    self.ways[int(random.integers(len(self.ways)))](random, content)
            yield self.mend(bytes(content))


def checked(content: bytes) -> bytes:
    """A file that ends in the checksum of all before it."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def signed(content: bytes) -> bytes:
    """A saved program whose checksum fits, and for three in four the length of the description too."""
    body = content[:-32]
    if len(body) > 16 and sum(body) % 4:
        text, rest = _description(body[16:])
        body = body[:8] + struct.pack("<Q", len(text)) + text + rest
    return body + hashlib.sha256(body).digest()


def _description(content: bytes) -> tuple[bytes, bytes]:
    """The JSON text that content begins with, as far as it is one, and what follows."""
    try:
        text = content.decode("latin1")
        _, end = json.JSONDecoder().raw_decode(text)
        return content[:end], content[end:]
    except (ValueError, RecursionError):
        return content, b""


def rewritten(content: bytes) -> bytes:
    """A text as `json.dumps` writes it, where it is one: a statement or a run written otherwise is refused at once."""
    try:
        return (json.dumps(json.loads(content), indent=1, sort_keys=True) + "\n").encode()
    except (ValueError, RecursionError):
        return content


@dataclass
class Tally:
    """How the mutants of a kind ended, the longest that one took, and what should not have been."""

    ends: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    more_bytes: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = ", ".join(f"{count} {end}" for end, count in sorted(self.ends.items()))
        return f"{told}; longest {self.longest:.3f} s, {self.more_bytes >> 20} MiB more"


MEMORY = Path("/proc/meminfo")
"""How much memory the machine has, which is asked before a circuit's file is read."""


class Watch:
    """What is opened and imported while mutants are judged: by an audit hook, which lasts as long as the process."""

    def __init__(self) -> None:
        self.inside: Path | None = None
        self.found: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inside is None or event not in ("open", "import", "subprocess.Popen", "os.system", "pickle.find_class"):
            return
        if event == "open" and isinstance(arguments[0], str | bytes | Path):
            opened = Path(arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0])
            if opened.is_relative_to(self.inside) or opened == MEMORY:
                return
        elif event == "open":
            return
        self.found.append(f"{event} {arguments[0]}")


WATCH: list[Watch] = []


def tried(kind: Kind, random: Random, count: int) -> Tally:
    """Judge so many mutants; the honest file is there again afterwards."""
    if not WATCH:
        WATCH.append(Watch())
    watch, tally = WATCH[0], Tally()
    assert kind.judge(kind.path), f"{kind.name}: the honest file is refused"
    before = peak()
    try:
        for content in kind.mutants(random, count):
            kind.path.write_bytes(content)
            watch.inside, watch.found, start = kind.root, [], time.process_time()
            try:
                end = "accepted" if kind.judge(kind.path) else "refused"
                if end == "accepted" and kind.exact and content != kind.honest:
                    tally.wrong.append(f"{kind.name}: accepted {content[:2000]!r}")
            except CircuitizeError as error:
                end = "unreadable"
                if len(str(error)) > 4000 or len(str(error).splitlines()) > 1:
                    tally.wrong.append(f"{kind.name}: said {str(error)[:200]!r}")
            except Exception as error:
                end = "raised"
                tally.wrong.append(f"{kind.name}: raised {error!r:.300}")
            watch.inside = None
            tally.longest = max(tally.longest, time.process_time() - start)
            tally.ends[end] += 1
            tally.wrong += [f"{kind.name}: {told}" for told in watch.found]
    finally:
        watch.inside = None
        kind.path.write_bytes(kind.honest)
    tally.more_bytes = peak() - before
    return tally


def peak() -> int:
    """The most memory that the process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    from hostile_kinds import kinds

    with tempfile.TemporaryDirectory() as name:
        for kind in kinds(Path(name)):
            if sys.argv[2:] and not any(part in kind.name for part in sys.argv[2:]):
                continue
            tally = tried(kind, np.random.default_rng(7), int(sys.argv[1]))
            print(f"{kind.name:24} {tally}", *tally.wrong[:5], sep="\n  " if tally.wrong else " ", flush=True)
