"""Roots of frozen weights that a verifier knows: proofs under them of other lists, roles and budgets, and counts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest
from frozen_networks import (
    GROUPS,
    UNREAD,
    frozen_network,
    groups_of_at_most,
    inputs_of,
    with_unread_out_of_format,
)
from tensor_proofs import Integers, entering, refusals

import circuitize as cz
from circuitize.api.circuits import ProvableCircuit
from circuitize.api.exact import Exact
from circuitize.api.weights import kept_file
from circuitize.backends.tensor import frozen
from circuitize.backends.tensor.blocks import blocks
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.groups import INPUT, format_program, frozen_groups, groups
from circuitize.backends.tensor.ports import Listed, PortList
from circuitize.circuits.encode import program_digest
from circuitize.circuits.hypergraph import permute
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.openings import HIDING, Opening, join, left_of, write_openings
from circuitize.provers.tensor.descriptor import Tensor
from circuitize.provers.tensor.plan import OPENINGS, Plan, plan
from circuitize.provers.tensor.prover import commit, prove_values


@pytest.fixture(scope="module", autouse=True)
def limit() -> Iterator[None]:
    with groups_of_at_most(700):
        yield


@pytest.fixture(scope="module")
def network(limit: None) -> Exact:
    made = frozen_network(5, (3.0, 1.0))
    assert frozen_groups(made.integer) == GROUPS
    return made


@pytest.fixture(scope="module")
def weights(network: Exact, tmp_path_factory: pytest.TempPathFactory) -> cz.Weights:
    return cz.commit_weights(network, tmp_path_factory.mktemp("roots") / "weights")


def group_of(made: Plan, port: str) -> int:
    return next(n for n, ports in enumerate(made.lists) if port in {one.name for one in ports})


def same(ports: PortList) -> PortList:
    return ports


def wider(ports: PortList) -> PortList:
    return tuple(replace(one, high=2 * one.high + 1) for one in ports)


def finer(ports: PortList) -> PortList:
    return tuple(replace(one, fraction_bits=one.fraction_bits + 1) for one in ports)


def renamed(ports: PortList) -> PortList:
    return tuple(replace(one, name=f"{one.name}_") for one in ports)


@pytest.mark.parametrize("change", [same, wider, finer, renamed])
def test_a_known_root_of_another_list_opens_to_no_proof(network: Exact, change: Callable[[PortList], PortList]) -> None:
    """The verifier believes the very root, and the prover's transcript is that of the verifier's own plan.

    So only what the root binds is between them: the same forgery of the right list is accepted, though a weight is out
    of its format, since the verifier believes the root.
    """
    made = plan(network.integer, assumed=GROUPS)
    number = group_of(made, UNREAD)
    lists = list(made.lists)
    lists[number] = change(lists[number])
    forged = replace(made, lists=tuple(lists))
    forged.__dict__["digest"] = made.digest
    trace = made.trace(with_unread_out_of_format(network))
    found = prove_values(network.integer, forged, trace, made.values(trace))
    said = refusals(network.integer, found.statement, found.proof, made, trusted=entering(found.statement))
    assert (said == (None, None)) == (change is same), said


def test_a_root_of_another_budget_opens_to_no_proof(network: Exact) -> None:
    """A root made for fewer openings than its verifier's plan says, of a table of the same size."""
    made = plan(network.integer, assumed=GROUPS, openings=OPENINGS)
    assert made.openings is not None
    fewer = replace(made, openings=(made.openings[0] - 1, *made.openings[1:]))
    fewer.__dict__["digest"] = made.digest
    trace = made.trace(inputs_of(network))
    for plan_of_prover in (made, fewer):
        found = prove_values(network.integer, plan_of_prover, trace, made.values(trace))
        said = refusals(network.integer, found.statement, found.proof, made, trusted=entering(found.statement))
        assert (said == (None, None)) == (plan_of_prover is made), said


def test_a_hidden_root_is_not_opened_by_a_proof_that_hides_nothing(network: Exact) -> None:
    """Such an opening would tell of the weights, whatever is left in the budget."""
    hidden, plain = (plan(network.integer, assumed=GROUPS, openings=most) for most in (OPENINGS, None))
    trace = plain.trace(inputs_of(network))
    kept = {(INPUT, GROUPS[0]): commit(hidden, trace, (INPUT, GROUPS[0]), bytes(32))}
    with pytest.raises(cz.CircuitizeError, match="another size or of other ports"):
        prove_values(network.integer, plain, trace, plain.values(trace), kept=kept)


def shown(program: IntegerProgram, trusted: dict[str, bytes], values: dict[str, Integers], folder: Path) -> Path:
    """The folder of a proof that its maker made of any program, assuming any roots."""
    own = Exact(program, program, program_digest(program))
    prover = Tensor(trusted)
    circuit = ProvableCircuit(own, prover, prover.circuit(program, own.digest, Phases()))
    inputs = {port.name: values[port.name] for port in program.inputs}
    return circuit.prove_integers(inputs, None, None, (), Phases(), print).save(folder)


def test_a_proof_of_format_shows_it_and_assumes_nothing(network: Exact, weights: cz.Weights, tmp_path: Path) -> None:
    """In the place of a proof of format: one that assumes it, of its own root; one of another role; of two groups."""
    values = inputs_of(network)
    folder = Path(shutil.copytree(weights.folder, tmp_path / "weights"))
    for name, group in enumerate(GROUPS):
        own = replace(format_program(network.integer, {group}), examples=())
        assert frozen_groups(own) == ("frozen",)
        ports = tuple(replace(port, role=Role.PARAMETER) for port in own.inputs)
        whole = replace(format_program(network.integer, GROUPS), examples=())
        cases = {
            "assumes": shown(own, {"frozen": bytes(32)}, values, tmp_path / f"{name}-assumes"),
            "role": shown(replace(own, inputs=ports), {}, values, tmp_path / f"{name}-role"),
            "both": shown(whole, {}, values, tmp_path / f"{name}-both"),
        }
        honest = shown(own, {}, values, tmp_path / f"{name}-honest")
        for case, proof in {**cases, "honest": honest}.items():
            shutil.rmtree(folder / group)
            shutil.copytree(proof, folder / group)
            if case == "honest":
                assert cz.accept_weights(network, folder).roots[group] != weights.roots[group]
                continue
            with pytest.raises(cz.CircuitizeError, match=f"{group}.*in format"):
                cz.accept_weights(network, folder)


def test_one_group_of_two_is_not_enough(network: Exact, weights: cz.Weights, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(weights.folder, tmp_path / "weights"))
    shutil.rmtree(folder / GROUPS[1])
    with pytest.raises(cz.CircuitizeError, match="statement"):
        cz.accept_weights(network, folder)
    one = replace(weights, roots={GROUPS[0]: weights.roots[GROUPS[0]]})
    more = replace(weights, roots={**weights.roots, "frozen.3": bytes(32)})
    for roots in (one, more, replace(weights, roots={})):
        with pytest.raises(cz.CircuitizeError, match="frozen inputs are the groups"):
            cz.verifier(network, weights=roots)
        with pytest.raises(cz.CircuitizeError, match="frozen inputs are the groups"):
            roots.proving(network)


def test_what_was_accepted_stays_when_the_folder_is_edited(network: Exact, tmp_path: Path) -> None:
    """And expectations hold beside it: a root of the other group, where that of this one is expected, is refused."""
    folder = tmp_path / "weights"
    cz.commit_weights(network, folder)
    accepted = cz.accept_weights(network, folder)
    proof = accepted.proving(network).prove()
    cz.commit_weights(network, tmp_path / "other")
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "other", folder)
    assert cz.verifier(network, weights=accepted).check(proof).valid
    assert not cz.verifier(network, weights=cz.accept_weights(network, folder)).check(proof).valid
    first, second = (f"0x{accepted.roots[name].hex()}" for name in GROUPS)
    said = dict(zip(GROUPS, (first, second), strict=True))
    assert cz.verifier(network, weights=accepted, expect=said).check(proof).valid
    assert not cz.verifier(network, weights=accepted, expect={GROUPS[0]: second}).check(proof).valid
    assert not cz.verifier(network).check(proof).valid
    shutil.copy(kept_file(tmp_path / "other"), accepted.kept)
    with pytest.raises(cz.CircuitizeError, match="expected the secret of the root"):
        accepted.proving(network).prove()


def test_names_do_not_make_two_groups_one(network: Exact) -> None:
    """A committed scalar is a group of its own name, a public input a value of it: neither may be that of a group."""
    ports = format_program(network.integer, GROUPS).inputs
    for name, visibility, role in (
        (GROUPS[1], Visibility.COMMITTED, Role.SCALAR),
        (GROUPS[0], Visibility.PUBLIC, Role.DATA),
    ):
        more = (*ports, Port(name, visibility, Fixed((), 0, 0, 1), role))
        program = IntegerProgram(permute([port.format for port in more], []), more, ())
        with pytest.raises(Unprovable, match="rename it"):
            groups(program)


def test_queries_of_a_root_are_the_same_in_every_proof(network: Exact) -> None:
    """Each opening tells as many places as the root has random words for: in proofs of formats and in others.

    Of several blocks too, and whatever stands beside: so B openings tell of B q places, of B q random words of a limb.
    """
    large = Fixed((784, 100), 8, -128, 127)
    assert len(blocks(large.shape)) > 1
    frozen_port = Port("w", Visibility.COMMITTED, large, Role.FROZEN)
    beside = Port("x", Visibility.COMMITTED, Fixed((1 << 12,), 8, -128, 127), Role.PARAMETER)
    cut = IntegerProgram(permute([large, beside.format], []), (frozen_port, beside), ())
    for program in (network.integer, cut):
        names = frozen_groups(program)
        whole = plan(program, assumed=names, openings=OPENINGS)
        for name in names:
            alone = plan(format_program(program, {name}), openings=OPENINGS)
            place = whole.groups.index((INPUT, name))
            table = whole.layout.tables[place]
            assert table == alone.layout.tables[0] and whole.encoded_lists[place] == alone.encoded_lists[0]
            assert whole.openings is not None
            assert table.random == whole.openings[place] * table.queries << table.fold
            assert table.queries << table.fold <= frozen.OPENING and table.length <= 1 << table.bits


LISTED = Listed("w", (4,), 0, 0, 1, 1)


def kept_of(folder: Path, left: int) -> Path:
    path = folder / "weights.openings.json"
    write_openings(path, HIDING, "0" * 64, {(INPUT, "frozen"): Opening(1, 2, (LISTED,), left)})
    return path


def spent(path: Path, between: Callable[[], object] = int) -> str | None:
    """One opening counted in a file; None where it was. `between` runs after the look at the file, before the count."""

    def root_of(key: object, secret: int) -> int:
        between()
        return 2

    try:
        join(path, HIDING, {(INPUT, "frozen"): (LISTED,)}, root_of)
    except cz.CircuitizeError as error:
        return str(error)
    return None


def test_provers_that_all_looked_before_one_counted_open_no_more_than_is_left(tmp_path: Path) -> None:
    """The look at the file is without the lock; the count is with it."""
    path, found = kept_of(tmp_path, 3), list[str | None]()
    wait = Barrier(8)
    threads = [Thread(target=lambda: found.append(spent(path, lambda: wait.wait(10)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found.count(None) == 3 and left_of(path) == {(INPUT, "frozen"): 0}
    assert all("another proof was made" in said for said in found if said is not None)


@pytest.mark.parametrize(
    ("name", "opening", "found"),
    [
        ("frozen", Opening(1, 3, (LISTED,), 5), "another"),
        ("frozen", Opening(3, 2, (LISTED,), 5), "another"),
        ("other", Opening(1, 2, (LISTED,), 5), "none"),
    ],
)
def test_a_file_that_is_exchanged_before_the_count_pays_for_no_other(
    tmp_path: Path, name: str, opening: Opening, found: str
) -> None:
    """The look is at one root; the count would be taken from another, and the first be opened without end."""
    path = kept_of(tmp_path, 2)
    said = spent(path, lambda: write_openings(path, HIDING, "0" * 64, {(INPUT, name): opening}))
    assert said is not None and f"found {found}: the file was exchanged" in said
    assert left_of(path) == {(INPUT, name): 5}


def test_names_of_one_file_count_together(tmp_path: Path) -> None:
    """A symbolic link stays one; a hard link, which a new file would leave behind, is refused."""
    path = kept_of(tmp_path, 2)
    link, hard = tmp_path / "link.json", tmp_path / "hard.json"
    link.symlink_to(path.name)
    assert spent(link) is None and spent(path) is None
    assert link.is_symlink() and left_of(link) == left_of(path) == {(INPUT, "frozen"): 0}
    path = kept_of(tmp_path, 2)
    os.link(path, hard)
    assert "hard links" in str(spent(path)) and "hard links" in str(spent(hard))
    hard.unlink()
    assert spent(path) is None


def test_a_proof_that_is_interrupted_has_used_up_its_opening(network: Exact, tmp_path: Path) -> None:
    made = cz.commit_weights(network, tmp_path / "weights")
    before = made.left()

    def interrupted(said: str) -> None:
        if said == "proving":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.proving(network).prove(progress=interrupted)
    assert {name: left - 1 for name, left in before.items() if left} == made.left()


def test_secrets_are_beside_a_folder_however_it_is_called(
    network: Exact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in it, which is for others, and not lost where a path ends in dots."""
    inside = tmp_path / "a"
    inside.mkdir()
    monkeypatch.chdir(inside)
    beside = tmp_path / "a.openings.json"
    assert kept_file(Path()) == kept_file(Path("x/..")) == kept_file(inside)
    assert kept_file(Path("..")) == kept_file(tmp_path)
    made = cz.commit_weights(network, inside / "w")
    monkeypatch.chdir(inside / "w")
    assert cz.accept_weights(network, ".").left() == made.left()
    monkeypatch.chdir(inside)
    with pytest.raises(cz.CircuitizeError, match="expected a new folder"):
        cz.commit_weights(network, "new/..")
    assert not beside.exists() and {path.name for path in inside.iterdir()} == {"w", "w.openings.json"}
