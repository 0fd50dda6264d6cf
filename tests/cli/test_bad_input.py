"""Bad input of every kind: one clear line, exit status 2 (1 for a proof that does not hold), nothing half-written."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, Outcome, copied, keys, proof, prove, refused, run
from tiers import count

from circuitize.provers.groth16.proof import PROOF_FILE

KEYS = "KEYS"
"""Stands for the keys' folder in parameters, so that collecting tests makes no keys."""

GOOD = {"x": np.array([0.5, -1.25]), "w": np.array([1.5, 2.0])}


def with_x(value: Any) -> dict[str, Any]:
    return {**GOOD, "x": value}


ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "wrong shape": (with_x(np.zeros(3)), "expected input 'x' of shape [2], found [3]"),
    "a scalar": (with_x(np.float64(1)), "expected input 'x' of shape [2], found []"),
    "NaN": (with_x(np.array([0.0, np.nan])), "expected finite numbers in input 'x', found nan at element [1]"),
    "infinity": (with_x(np.array([np.inf, 0.0])), "found inf at element [0]"),
    "minus infinity": (with_x(np.array([-np.inf, 0.0])), "found -inf at element [0]"),
    "above": (with_x(np.array([8.0, 0.0])), "in [-8, 7.9375], found 8.0 at element [0]"),
    "below": (with_x(np.array([0.0, -8.1])), "in [-8, 7.9375], found -8.1 at element [1]"),
    "huge": (with_x(np.array([0.0, 1e308])), "found 1e+308 at element [1]"),
    "integers above": (with_x(np.array([0, 128])), "in [-8, 7.9375], found 128 at element [1]"),
    "integers past 64 bits": (with_x(np.array([0, 2**64 - 1], np.uint64)), "18446744073709551615"),
    "text": (with_x(np.array(["a", "b"])), "expected numbers in input 'x', found dtype <U1"),
    "complex numbers": (with_x(np.zeros(2, complex)), "found dtype complex128"),
    "dates": (with_x(np.zeros(2, "datetime64[s]")), "found dtype datetime64[s]"),
    "a missing name": ({"x": GOOD["x"]}, "expected a value for input 'w', found ['x']"),
    "an unknown name": ({**GOOD, "z": GOOD["x"]}, "expected inputs among ['x', 'w'], found 'z'"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(tmp_path: Path, name: str) -> None:
    arrays, said = ARRAYS[name]
    np.savez(tmp_path / "in.npz", **arrays)
    line = refused("compile", STEP, "--target", "r1cs", "-o", tmp_path / "c", "--inputs", tmp_path / "in.npz")
    assert said in line
    assert str(tmp_path / "in.npz") in line
    assert not (tmp_path / "c").exists()


def archive(**entries: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, data in entries.items():
            file.writestr(f"{name}.npy", data)
    return content.getvalue()


def saved(function: Callable[..., None], *arguments: Any, **named: Any) -> bytes:
    content = io.BytesIO()
    function(content, *arguments, **named)
    return content.getvalue()


def files() -> dict[str, bytes]:
    whole = saved(np.savez, **GOOD)
    pickled = saved(np.save, np.array([Trap(), None], dtype=object), allow_pickle=True)
    return {
        "empty": b"",
        "text": b"x = 1\n",
        "a single array": saved(np.save, GOOD["x"]),
        "a pickle": b"\x80\x04N.",
        "pickled arrays": archive(x=pickled, w=pickled),
        "cut at the end": whole[:-10],
        "cut in the middle": whole[: len(whole) // 2],
        "an entry that is no array": archive(x=b"nothing", w=b""),
        "an entry of another length": archive(x=saved(np.save, GOOD["x"])[:-1], w=saved(np.save, GOOD["w"])),
        "an entry of absurd length": archive(x=saved(np.save, GOOD["x"]).replace(b"(2,)", b"(9999999999999,)"), w=b""),
    }


class Trap:
    """Ends the test run if it is ever unpickled."""

    def __reduce__(self) -> Any:
        return sys.exit, ("unpickled",)


@pytest.mark.parametrize("name", files())
def test_files_that_are_no_arrays(tmp_path: Path, name: str) -> None:
    (tmp_path / "in.npz").write_bytes(files()[name])
    line = refused("compile", STEP, "--target", "r1cs", "-o", tmp_path / "c", "--inputs", tmp_path / "in.npz")
    assert f"{tmp_path / 'in.npz'}: expected an .npz" in line


@pytest.mark.parametrize("place", [20, 45, 130, 200, 240, 300, -30, -60])
def test_altered_archives(tmp_path: Path, place: int) -> None:
    """An altered archive is refused, or its values are what they were."""
    content = bytearray(saved(np.savez, **GOOD))
    content[place] ^= 16
    (tmp_path / "in.npz").write_bytes(content)
    outcome = run("compile", STEP, "--target", "r1cs", "-o", tmp_path / "c", "--inputs", tmp_path / "in.npz")
    assert outcome.status in (0, 2)
    if outcome.status:
        assert "in.npz" in outcome.line


def filled(arguments: list[str]) -> list[str]:
    return [str(keys()) if argument == KEYS else argument for argument in arguments]


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", STEP, "--target", "r1cs", "-o", "c", "--inputs", "absent"],
        ["compile", STEP, "--target", "r1cs", "-o", "c", "--inputs", "."],
        ["prove", STEP, "--prover", "groth16", "-o", "p", "--keys", "absent"],
        ["prove", STEP, "--prover", "groth16", "-o", "p", "--keys", "."],
        ["verify", "absent", "--keys", "absent"],
        ["verify", "absent", "--keys", KEYS],
        ["verify", ".", "--keys", KEYS],
        ["check", "."],
        ["check", "absent.arrow"],
    ],
)
def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(*filled(arguments))
    assert "No such file or directory" in line or "Is a directory" in line or "inside the proof's folder" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", STEP, "--target", "r1cs", "-o", "file/c"],
        ["setup", STEP, "--prover", "groth16", "-o", "file/k"],
        ["setup", STEP, "--prover", "groth16", "-o", "file"],
        ["prove", STEP, "--prover", "groth16", "--keys", KEYS, "-o", "file/p"],
        ["prove", STEP, "--prover", "groth16", "--keys", KEYS, "-o", "p", "--outputs", "file/out.npz"],
        ["prove", STEP, "--prover", "groth16", "--keys", KEYS, "-o", "p", "--openings", "file/o.json"],
    ],
)
def test_places_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    assert "file" in refused(*filled(arguments))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file()] == [("file", "mine")]
    assert not (tmp_path / "p").exists()


def test_no_value_is_no_proof(tmp_path: Path) -> None:
    """Division by zero, and values past what calibration saw: the operation and its line, and no files."""
    np.savez(tmp_path / "in.npz", x=np.array([1.0, 0.0]))
    inverse = STEP.replace(":step", ":inverse")
    line = refused("compile", inverse, "--target", "r1cs", "-o", tmp_path / "c", "--inputs", tmp_path / "in.npz")
    assert "found 0 at element [1]" in line
    assert "cli_programs.py:" in line
    assert not (tmp_path / "c").exists()
    np.savez(tmp_path / "in.npz", x=np.array([7.9, 7.9]), w=np.array([-8.0, 7.9]))
    outcome = prove(tmp_path / "p", "step", "--inputs", tmp_path / "in.npz")
    assert outcome.status == 2
    assert "expected values in" in outcome.err.splitlines()[-1]
    assert "cli_programs.py:" in outcome.err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["in.npz"]


def test_a_program_that_binds_nothing_gets_no_keys(tmp_path: Path) -> None:
    unbound = STEP.replace(":step", ":unbound")
    assert "expected a program that binds something" in refused(
        "setup", unbound, "--prover", "groth16", "-o", tmp_path / "k"
    )
    assert not list(tmp_path.iterdir())


def damaged(content: bytes, flips: int) -> Iterator[bytes]:
    """The content cut short, with something after it, and with one bit flipped at places spread over it."""
    for end in sorted({0, 1, 7, 8, len(content) // 2, len(content) - 1}):
        yield content[:end]
    yield content + b"\0"
    for number in range(flips):
        changed = bytearray(content)
        changed[number * (len(content) - 1) // (flips - 1)] ^= 1 << number % 8
        yield bytes(changed)


@pytest.mark.parametrize("name", ["proving.key", "verifying.key", "program.arrow"])
def test_damaged_keys(tmp_path: Path, name: str) -> None:
    folder = copied(keys(), tmp_path / "keys")
    for content in damaged((keys() / name).read_bytes(), count(12, deep=25)):
        (folder / name).write_bytes(content)
        if name == "proving.key":
            line = refused("prove", STEP, "--prover", "groth16", "--keys", folder, "-o", tmp_path / "p")
        else:
            line = refused("verify", proof(), "--keys", folder)
        assert str(folder / name) in line
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


@pytest.mark.parametrize("name", [PROOF_FILE, "statement.json"])
def test_damaged_proofs(tmp_path: Path, name: str) -> None:
    """Whatever is changed, the proof is not valid: unreadable (2) or refused (1), always in one line."""
    folder = copied(proof(), tmp_path / "proof")
    statuses = set()
    for content in damaged((proof() / name).read_bytes(), count(25, deep=1000)):
        (folder / name).write_bytes(content)
        outcome = run("verify", folder, "--keys", keys(), "--json")
        statuses.add(outcome.status)
        assert outcome.status in (1, 2)
        assert outcome.line
        assert outcome.status == 2 or json.loads(outcome.out)["valid"] is False
    assert statuses == {1, 2}


@pytest.mark.parametrize(
    "content", ["[" * 100_000, "[]", "null", '{"circuitize": 1}', "NaN", '{"circuitize": ' + "9" * 9999 + "}"]
)
def test_hostile_statements(tmp_path: Path, content: str) -> None:
    folder = copied(proof(), tmp_path / "proof")
    (folder / "statement.json").write_text(content)
    assert "expected a proof's statement" in refused("verify", folder, "--keys", keys())


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    assert run("compile", STEP, "--target", "r1cs", "-o", folder, "--witness").status == 0
    return folder


def test_damaged_circuits(tmp_path: Path, compiled: Path) -> None:
    """Damage to lengths and order is refused; a changed number breaks rows, or was never read."""
    folder = copied(compiled, tmp_path / "c")
    content = (compiled / "circuit.r1cs").read_bytes()
    for number, changed in enumerate(damaged(content, count(12, deep=30))):
        (folder / "circuit.r1cs").write_bytes(changed)
        outcome = run("check", folder)
        assert outcome.status in ((2,) if number < 7 else (0, 1, 2))
        assert outcome.status != 2 or "circuit.r1cs" in outcome.line


def test_damaged_witnesses(tmp_path: Path, compiled: Path) -> None:
    folder = copied(compiled, tmp_path / "c")
    content = (compiled / "witness.wtns").read_bytes()
    for number, changed in enumerate(damaged(content, count(12, deep=30))):
        (folder / "witness.wtns").write_bytes(changed)
        outcome = run("check", folder)
        assert outcome.status in ((2,) if number < 7 else (1, 2))
        assert outcome.status != 2 or "witness" in outcome.line


LIMITED = """
import json, os, resource, sys
sys.path[:0] = [sys.argv[1]]
from cli_programs import run
outcomes = []
for folder, most, arguments in json.loads(sys.argv[2]):
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    outcomes.append(vars(run(*arguments)))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(outcomes))
"""
WRITING = {
    "compile": ["compile", STEP, "--target", "r1cs", "-o", "made", "--witness"],
    "setup": ["setup", STEP, "--prover", "groth16", "-o", "made"],
    "prove": ["prove", STEP, "--prover", "groth16", "--keys", KEYS, "-o", "made", "--outputs", "outputs.npz"],
}
MOST = (0, 300, 5_000)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], tuple[Path, Outcome]]:
    """Command lines in a process whose files may not pass so many bytes: a full disk; and one over an earlier proof.

    The process limits itself: a function run between fork and exec would warn where JAX has started threads.
    """
    cases = [(name, most, name) for name in WRITING for most in MOST] + [("earlier", 300, "prove")]
    folders = [tmp_path_factory.mktemp(f"{name}-{most}") for name, most, _ in cases]
    copied(proof(), folders[-1] / "made")
    asked = [(str(folder), most, filled(WRITING[of])) for folder, (_, most, of) in zip(folders, cases, strict=True)]
    asked[-1] = (*asked[-1][:2], asked[-1][2][:-2])
    command = [sys.executable, "-c", LIMITED, str(Path(__file__).parents[1] / "support"), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    outcomes = [Outcome(**outcome) for outcome in json.loads(done.stdout)]
    return {
        (name, most): (folder, outcome)
        for (name, most, _), folder, outcome in zip(cases, folders, outcomes, strict=True)
    }


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk(limited: dict[tuple[str, int], tuple[Path, Outcome]], name: str, most: int) -> None:
    folder, outcome = limited[name, most]
    if name == "prove" and most == 5_000:
        assert outcome.status == 0
        return
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    assert "File too large" in outcome.line
    assert ".part" not in outcome.line
    made = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in made if path.name.startswith(".") or path.stat().st_size >= most]
    assert not (folder / "made").exists()


def test_a_full_disk_leaves_an_earlier_proof(limited: dict[tuple[str, int], tuple[Path, Outcome]]) -> None:
    folder, outcome = limited["earlier", 300]
    assert outcome.status == 2
    assert {path.name: path.read_bytes() for path in (folder / "made").iterdir()} == {
        path.name: path.read_bytes() for path in proof().iterdir()
    }
    assert [path.name for path in folder.iterdir()] == ["made"]
