"""`circuitize cost`: what it prints, and what it refuses in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_programs import refused, run

from circuitize.api.costs import cost
from circuitize.cli.arguments import parser

STEP = f"{Path(__file__).resolve().parent.parent.parent / 'examples' / 'iris.py'}:step"


def test_words_and_their_readings() -> None:
    made = run("cost", STEP, "--memory", "500", "--steps", "4")
    assert made.status == 0
    for words in ("words moved, fused", "cache or GPU, words of 4 bytes", "FPGA, 32 lanes", "run of 4 steps"):
        assert words in made.out
    told = json.loads(run("cost", STEP, "--memory", "500", "--steps", "4", "--word", "2", "--json").out)
    assert told["cache"]["moved_bytes"] == 2 * told["moved_words"]
    assert sum(group["moved"] for group in told["groups"]) == told["moved_words"]
    assert [chunk["steps"] for chunk in told["prover"]["chunks"]] == [1, 2, 4]
    assert f"{told['moved_words']:,}" in made.out


def test_a_memory_that_is_too_small_is_said() -> None:
    assert "groups do not fit" in run("cost", STEP, "--memory", "2", "--steps", "1").out


@pytest.mark.parametrize("arguments", [["--memory", "0"], ["--lanes", "many"], ["--steps", "-3"], ["--words", "4"]])
def test_bad_use_is_one_line(arguments: list[str]) -> None:
    assert arguments[0] in refused("cost", STEP, *arguments)


def test_the_parser_knows_the_memory() -> None:
    assert parser("cost").parse_args(["cost", "x"]).memory == cost.MEMORY
