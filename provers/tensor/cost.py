"""The cost of a tensor proof: how many elements it commits to, looks up and sums with weights, counted from its plan
before anything is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import log2, prod

from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.forms import Path, Product
from circuitize.backends.tensor.groups import INPUT, NAMES, GroupName, frozen_groups, input_groups
from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from .config import FOLD
from .plan import OPENINGS, Plan, plan
from .proof import HEADER_BYTES
from .security import bounds, union

WALKED = 2.5e-8
"""The processor seconds that the prover takes for one element that is read through a view."""

MULTIPLIED = {2: 2.4e-8, 3: 9.0e-8}
"""The processor seconds that the prover takes for one element of an operand of a product, by the degree of the
extension. Processor seconds for each element of a product's operand, as measured: 2.3 to 2.9e-8 on steps of one and ten
million parameters and on GPT-2 with 16 tokens, 8.4 and 9.8e-8 on GPT-2 with 128.
"""

SYMBOLS = 1 << FOLD
WORD, DIGEST, SALT = 8, 32, 16

SECONDS = (1.22e-3, 7.96e-8, 8.0e-8, 1.05e-7, 3.14e-6, WALKED, MULTIPLIED[2])
"""The processor seconds of a proof: a constant, then for each fraction, committed element, opened element, claim,
element that is read, and element that is multiplied, as `work` counts them.

All constants of a proof's seconds but the last were fitted to 12 proofs of steps of two thousand to ten million
parameters: with errors of 12 % in the mean, 20 % at most.
"""

BYTES = (9.0e7, 1.05e2, 0.0, 6.87, 0.0, 0.0, 0.0)
"""The greatest memory of a proof, by the same quantities, with errors of 5 % in the mean and 16 % at most; the constant
is the interpreter's memory.
"""

CUBIC = (1.9e-3, 1.27e-7, 8.0e-8, 1.68e-7, 4.4e-6, WALKED, MULTIPLIED[3])
CONSTANTS = {2: (SECONDS, BYTES), 3: (CUBIC, (9.0e7, 1.2e2, 0.0, 6.87, 0.0, 0.0, 0.0))}
"""The processor seconds and the memory of a proof, by the degree of the extension. The work of a proof that is not
commitment takes 1.6 times longer over the cubic extension, and fractions take more memory, as measured on four steps of
eighteen thousand to three million elements.
"""

OPENED_BYTES = {2: 72, 3: 80}
"""If that is more than the fitted memory: the bytes for each element of a table that is opened: 8 for itself, 16 for
its word at rate 1/2 and 8 for the tree; 24 for values, their blocks and their field elements; and half a pair of
extension elements. The bytes of memory for each element of an opened table, measured on GPT-2.
"""

LARGE = 1 << 26
"""The number of symbols above which a word is computed again when it is read, and of fractions above which levels of
their tree are: see decision 0052.
"""

OPENED_AGAIN_BYTES = {2: 46, 3: 52}
"""The bytes of memory for each element of a table whose word is computed again: 48 as measured on GPT-2 with 128
tokens.
"""

FRACTIONS_AGAIN = 0.7
"""The part of the memory of fractions that remains if levels of the tree are computed again: 0.63 to 0.67 as measured
on two steps of LoRA on 128 tokens.
"""

SECONDS_AGAIN = 2.2
"""How many times longer fractions take if levels of the tree are computed again: 2.3 and 2.4 as measured on a forward
of GPT-2 and on a step of LoRA, both on 128 tokens.
"""

WEIGHT_BYTES = 80
"""The additional bytes of memory for each weight of a claim whose weights are no product of one factor per axis: 60 to
120, as measured on 64 to 512 steps of a convolutional network in one proof.
"""

SHORT_ROW = 16
"""The length of rows up to which they are read element by element."""

HELD = frozenset(NAMES[role] for role in (Role.PARAMETER, Role.OPTIMIZER, Role.STATE, Role.DATA))


def estimate(program: IntegerProgram) -> Json:
    """Return the sizes of a program's proofs: of a proof in zero knowledge, as `sizes` gives them, of a proof that
    hides nothing, and of one step of a run, and the sizes by part.

    In the step of a run, the inputs are known to be in format, as are the frozen inputs in a proof `with_weights`. The
    field `parts` gives the numbers of committed and of looked-up elements by operation and place, by port, and for the
    tables. If a program can be proved only without zero knowledge, the sizes are those of a proof that hides nothing.
    Raise Unprovable for a program for which no plan exists.
    """
    made = plan(program)
    found: Json = {**_kind(made), "not_zero_knowledge": _kind(made, hides=False)}
    frozen = frozen_groups(program)
    if frozen:
        found["with_weights"] = _kind(plan(program, assumed=frozen), frozen)
    held = {*HELD.intersection(input_groups(program)), *frozen}
    if any(port.held for port in program.outputs) or held - {NAMES[Role.DATA]}:
        found["step_of_a_run"] = _kind(plan(program, assumed=held), held)
    found["parts"] = {
        part: {"committed": committed, "lookups": lookups} for part, (committed, lookups) in made.parts.items()
    }
    return found


def _kind(made: Plan, kept: Collection[GroupName] = (), hides: bool = True) -> Json:
    """Return the sizes of a proof in zero knowledge or of one that hides nothing, and which of the two kinds it is."""
    if hides:
        try:
            hiding = made.hiding(OPENINGS)
            return {**sizes(hiding, kept), "zero_knowledge": True}
        except Unprovable:
            pass
    return {**sizes(made, kept), "zero_knowledge": False}


def sizes(made: Plan, kept: Collection[GroupName] = ()) -> dict[str, float]:
    """Return the sizes of a proof: the exact numbers of committed and of looked-up elements, the expected bytes of the
    proof, and the expected seconds and memory of the prover.

    Queried places are random, so that the numbers of distinct places and of nodes of Merkle trees are only expected
    values: the length of a real proof is within a few per cent of the expected length. The predicted seconds are
    processor seconds of commitments, proof and openings, with constants that `benchmarks/tensor.py --fit` fits to
    measurements; memory is predicted in the same way. Inputs in the groups `kept` are committed to already, and do not
    count.
    """
    amounts, (second, byte) = work(made, kept), CONSTANTS[made.degree]
    if made.fractions > LARGE:
        second = (second[0], SECONDS_AGAIN * second[1], *second[2:])
        byte = (byte[0], FRACTIONS_AGAIN * byte[1], *byte[2:])
    seconds, memory = (sum(map(prod, zip(own, amounts, strict=True))) for own in (second, byte))
    memory = max(memory, BYTES[0] + _opened_bytes(made))
    memory += WEIGHT_BYTES * made.claimed.dense
    return {
        "committed": made.committed,
        "lookups": made.looked_up,
        "proof_bytes": round(proof_bytes(made)),
        "prover_cpu_seconds": round(seconds, 3),
        "prover_bytes": round(memory),
        "security_bits": round(union(bounds(made)), 1),
        "extension_degree": made.degree,
    }


def _opened_bytes(made: Plan) -> int:
    """Return the bytes of memory that the tables take when a proof opens them, from the length of their words."""
    every, again = OPENED_BYTES[made.degree], OPENED_AGAIN_BYTES[made.degree]
    committed, opened = _sizes(made)
    return sum(size * (again if 2 * half > LARGE else every) for half, size in zip(committed, opened, strict=True))


def work(made: Plan, kept: Collection[GroupName] = ()) -> tuple[float, ...]:
    """Return the quantities on which a proof's time and memory depend nearly linearly: 1, the fractions, the committed
    elements, the opened elements, the claims, the elements that are read, and the elements that are multiplied.

    The number of fractions counts as the mean of itself and the next power of two. Committed elements are counted with
    padding, and n of them count as n log2(n) / 20, since commitments are computed by fast transforms. The elements that
    are read are those that forms read through views, in lookups and in operands of products; the elements that are
    multiplied are all elements of these operands.
    """
    leaves = made.fractions
    committed, opened = _sizes(made)
    known = (size for (side, name), size in zip(made.groups, committed, strict=False) if side == INPUT and name in kept)
    fractional = (leaves + (1 << _depth(leaves))) / 2
    sizes = (sum(committed) - sum(known), sum(opened))
    new, every = (size * log2(max(2, size)) / 20 for size in sizes)
    return 1.0, fractional, new, every, made.claimed.elements, _read(made), _multiplied(made)


def _read(made: Plan) -> int:
    """Return the number of elements that forms read through views, over all looked-up forms and all operands of
    products.
    """
    forms = [form for lookup in made.lookups for form in (lookup.key, lookup.value) if form is not None]
    forms += [form for base in made.bases if isinstance(base, Product) for form in base.forms]
    return sum(prod(made.forms[form].shape) * sum(map(_is_walked, made.forms[form].terms)) for form in forms)


def _multiplied(made: Plan) -> int:
    """Return the number of elements in the operands of products."""
    forms = (form for base in made.bases if isinstance(base, Product) for form in base.forms)
    return sum(prod(made.forms[form].shape) for form in forms)


def _is_walked(term: tuple[int, Path]) -> bool:
    """Return whether a term of a form is read element by element, instead of as a whole or in runs along its last
    axis.
    """
    steps = [step for view, _ in term[1] for step in view.steps]
    if len(steps) != 1:
        return len(steps) > 1
    last = steps[0].shape[-1:]
    return isinstance(steps[0], Affine) and bool(last) and last[0] <= SHORT_ROW


def _sizes(made: Plan) -> tuple[list[int], list[int]]:
    """Return the number of elements of each table when it is committed to, as if the rate were 1/2, and when it is
    opened.
    """
    if not made.hidden:
        sizes = [1 << variables for variables in made.commitments]
        return sizes, sizes
    tables = made.layout.tables
    return [1 << (table.bits + table.rate - 1) for table in tables], [1 << table.bits for table in tables]


def _depth(leaves: int) -> int:
    return (leaves - 1).bit_length() if leaves else 0


def proof_bytes(made: Plan) -> float:
    """Return the expected length in bytes of a proof's file."""
    return _beside_opening(made) + _opening(made, _expected)


def most_bytes(made: Plan) -> int:
    """Return the greatest length in bytes of a proof's file, which it would have if all queried places were distinct
    and far apart.
    """
    return round(_beside_opening(made) + _opening(made, _most))


def _opening(made: Plan, tree: Callable[[int, int, int], float]) -> float:
    """Return the bytes of a proof's opening, given a function that returns the bytes of the queries to a tree of
    2^depth leaves of a given size.
    """
    element, layout, last = WORD * made.degree, made.layout, made.layout.vectors[-1]
    carried, salt = (element, SALT) if made.hidden else (0, 0)
    leaves = [(WORD << table.fold) + SALT for table in layout.tables]
    sources, found = layout.tables, 0.0
    for vector in layout.vectors:
        leaves[-1] += carried
        for leaf, source in zip(leaves, sources, strict=True):
            found += tree(source.bits + source.rate - source.fold, source.queries, leaf)
        found += 2 * FOLD * element + DIGEST
        sources, leaves = [vector], [SYMBOLS * element + salt]
    if made.hidden:
        found += element + tree(last.bits + last.rate, last.queries, 2 * element + SALT)
    else:
        found -= DIGEST
    return found + element * (last.end + last.random + 2 * last.bits)


def _most(depth: int, asked: int, leaf: int) -> float:
    """Return the greatest number of bytes that the queries to a Merkle tree can take."""
    return leaf * min(asked, 1 << depth) + DIGEST * sum(min(asked, 1 << level) for level in range(depth))


def _expected(depth: int, asked: int, leaf: int) -> float:
    """Return the expected number of bytes of the queries to a Merkle tree, in which a place that is drawn twice is
    opened once, and leaves share nodes.
    """
    places = 1 << depth
    found = leaf * places * (1 - (1 - 1 / places) ** asked)
    for level in range(depth):
        own, pair = (1 << level) / places, (2 << level) / places
        one_only = 2 * ((1 - own) ** asked - (1 - pair) ** asked)
        found += DIGEST * (places >> (level + 1)) * one_only
    return found


def _beside_opening(made: Plan) -> int:
    """Return the bytes of a proof before its opening, which do not depend on the challenges."""
    element = WORD * made.degree
    if made.hidden:
        return HEADER_BYTES + DIGEST + element * (made.layout.numbers + 2 * made.layout.products)
    lookups = element * (1 + sum(3 * level + 4 for level in range(_depth(made.fractions))))
    return HEADER_BYTES + DIGEST + lookups + element * made.claimed.elements
