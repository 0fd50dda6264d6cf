"""Estimates of sizes beside what yosys makes of modules and networks."""

from __future__ import annotations

import learners
import numpy as np
import parallel_networks as networks
import pytest
from seeded_networks import NETWORKS
from small_modules import Module, block_memories, small_modules
from steering_modules import steering_modules
from yosys_sizes import synthesized

from circuitize.backends.verilog.bound import integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices import FAMILIES
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.types import Fixed


@pytest.mark.deep
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_memories_take_the_blocks_that_yosys_places(family: str) -> None:
    for module in list(block_memories(FAMILIES[family]))[1:]:
        ports = module.text.partition("(")[2].partition(")")[0]
        (found,) = synthesized({"m.v": module.text}, module.name, family, "yosys").values()
        assert found["blocks"] == module.cost.blocks, (module.name, ports)


@pytest.mark.deep
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_constants_in_luts_take_what_is_estimated(family: str) -> None:
    """Of any number of words."""
    constants = [module for module in small_modules(FAMILIES[family]) if module.name.startswith("constants")]
    for module, lut in beside_the_chain(family, constants):
        assert abs(module.cost.lut - lut) <= max(1, lut / 10), (module.name, lut)


@pytest.mark.deep
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_modules_that_steer_take_what_is_estimated(family: str) -> None:
    for module, lut in beside_the_chain(family, list(steering_modules(FAMILIES[family]))):
        assert module.cost.lut / 1.2 - 3 <= lut <= module.cost.lut * 1.2 + 3, module.name


def beside_the_chain(family: str, made: list[Module]) -> list[tuple[Module, int]]:
    """What yosys makes of modules, without the chain of logic beside each."""
    alone = next(iter(small_modules(FAMILIES[family])))
    files = {name: text for module in made for name, text in module.files.items()}
    text = "".join(module.text for module in [alone, *made])
    ends = "".join(f"(* keep *) {module.name} {module.name}_i ();\n" for module in [alone, *made])
    text += f"module top;\n{ends}endmodule\n"
    found = synthesized({"all.v": text, **files}, "top", family, "yosys", flat=False)
    return [(module, found[module.name]["lut"] - found[alone.name]["lut"]) for module in made]


@pytest.mark.deep
def test_a_small_network_takes_what_is_estimated_on_an_ecp5() -> None:
    """yosys counts registers but for a few that hold one bit, and look-up tables within a tenth."""
    random = np.random.default_rng(4)
    weights = networks.drawn(random, (4, 4, 2), 6, 0.0)
    biases = [random.integers(-1500, 1500, 4), random.integers(-1500, 1500, 2)]
    design = parallel(networks.layered(weights, biases, (5, -1), Fixed((4,), 0, -128, 127)))
    near(design, "ecp5")


@pytest.mark.deep
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
def test_a_training_step_takes_what_is_estimated(family: str) -> None:
    """Most of it are products of numbers that are not known, in DSPs, which also add in some families."""
    near(parallel(learners.learner(), initial=learners.INITIAL), family, lut=0.1 if family == "ecp5" else 0.25)


def test_sums_that_follow_one_another_are_not_joined() -> None:
    """yosys would join signed sums into trees of adders of three numbers, at five times the LUTs of an ECP5."""
    builder = Builder()
    source = Fixed((4,), 0, -(2**15), 2**15 - 1)
    x = builder.input(source)
    total = builder.add(integers.Contract("i,ij->j"), x, builder.add(integers.Constant.of(np.ones((4, 1), np.int64))))
    near(parallel(networks.finished(builder, source, total)), "ecp5")


@pytest.mark.deep
@pytest.mark.parametrize("family", ["xc7", "ecp5"])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_take_what_is_estimated(name: str, family: str) -> None:
    """Nothing was fitted to these networks."""
    network = NETWORKS[name]
    near(integrated(network.made(), network.scheduler, network.options), family)


def near(design: Design, family: str, lut: float = 0.1, ff: float = 0.1) -> None:
    """Estimates are near what yosys makes of a design."""
    (found,) = synthesized(design.files, design.top, family, "yosys", scheduler=design.scheduler).values()
    said = design.report["families"][family]
    assert abs(said["lut"] - found["lut"]) <= lut * found["lut"], (said, found)
    assert abs(said["ff"] - found["ff"]) <= ff * found["ff"], (said, found)
    assert (said["dsp"], said["blocks"]) == (found["dsp"], found["blocks"])
