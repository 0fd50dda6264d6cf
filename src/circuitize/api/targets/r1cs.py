"""The R1CS target: rank-one constraint systems in the file format of circom's tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.circuits.phases import Phases
from circuitize.circuits.reading import Json

from .contract import PLAIN, CheckedFiles, Files, Request, Shown, Target
from .names import CIRCUIT_FILE, JSON_FILE, PROGRAM_FILE, SYMBOLS_FILE, WITNESS_FILE
from .options import Option, Options

if TYPE_CHECKING:
    from circuitize.api.exact import Exact
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims import agree

    from .r1cs_circuit import RankOne

SIZES = ("constraints", "wires", "public", "nonzeros", "input_range_constraints")

WITNESS = Option("witness", "flag", "write a witness too, of the example inputs")
WITNESSED = "values to witness (implies --witness)"


class R1CS(Target["RankOne"]):
    """The R1CS target: constraints a * b = c over the scalar field of BN254; if a challenge is needed, it is a hash
    that the circuit computes.
    """

    name = title = "r1cs"
    measure = "constraints"
    rules_in = "circuitize.backends.r1cs.operations"
    files = Files(CIRCUIT_FILE, (CIRCUIT_FILE, SYMBOLS_FILE, PROGRAM_FILE, JSON_FILE, WITNESS_FILE))
    inputs_are = WITNESSED
    options = (Option("json_circuit", "flag", "write circuit.json too, as snarkjs does"), WITNESS)

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> RankOne:
        from .r1cs_circuit import RankOne

        return RankOne(self, program, phases, request)

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        from circuitize.backends.r1cs.cost import estimate

        return estimate(program)

    def shown(self, sizes: Json) -> Iterator[Shown]:
        from circuitize.backends.field import BN254

        yield from sizes_and_soundness(self.title, sizes, "Poseidon", BN254.prime)
        yield "r1cs constraints by part"
        order = sorted(sizes["parts"].items(), key=lambda entry: (-entry[1]["constraints"], entry[0]))
        yield [(name, count["constraints"]) for name, count in order if count["constraints"]]

    def check(self, program: IntegerProgram) -> agree.Target:
        from circuitize.sims.agree import R1CS

        return R1CS(program)

    def check_files(self, folder: Path) -> CheckedFiles:
        from circuitize.backends.r1cs.checker import failing_rows
        from circuitize.backends.r1cs.r1cs_file import read_r1cs
        from circuitize.backends.r1cs.wtns_file import read_wtns
        from circuitize.circuits.memory import require_file_memory

        require_file_memory(folder / CIRCUIT_FILE)
        system, _ = read_r1cs(folder / CIRCUIT_FILE)
        rows = failing_rows(system, read_wtns(folder / WITNESS_FILE, system.field, system.wires))
        broken = f"{len(rows)} of {system.constraints} rows broken, first constraint {rows[0]}" if len(rows) else None
        return CheckedFiles(f"all {system.constraints:,} constraints", broken)


def sizes_and_soundness(title: str, sizes: Json, hash: str, challenges: int) -> Iterator[Shown]:
    """Yield the sizes of a constraint system, and a bound on the probability that a satisfied system shows a false
    statement, given the number of possible challenges.
    """
    yield title
    yield [(name.replace("_", " "), sizes[name]) for name in SIZES]
    degree = sizes["challenge_degree"]
    bits = (challenges // degree).bit_length() - 1 if degree else 0
    told = f"an error of at most 2^-{bits} for each {hash} hash tried, as a random oracle"
    yield f"r1cs soundness: {told if degree else 'exact, no challenge'}"


r1cs = R1CS()
