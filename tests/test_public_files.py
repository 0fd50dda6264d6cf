"""What hosting sites and tools read says what is true: workflows, templates, hooks, the citation, the toolchain."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CARGO = tomllib.loads((ROOT / "provers" / "native" / "Cargo.toml").read_text())
YAML = [ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml", *sorted((ROOT / ".github").rglob("*.yml"))]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))

CITATION_KEYS = """
abstract authors cff-version commit contact date-released doi identifiers keywords license license-url message
preferred-citation references repository repository-artifact repository-code title type url version
"""
BOTH_KEYS = "address alias city country email fax orcid post-code region tel website"
PERSON_KEYS = f"{BOTH_KEYS} affiliation family-names given-names name-particle name-suffix"
ENTITY_KEYS = f"{BOTH_KEYS} date-end date-start location name"
"""Of the Citation File Format 1.2.0, schema-guide.md."""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_is_a_mapping(path: Path) -> None:
    assert isinstance(read(path), dict)


def test_the_workflow_runs_what_is_run_here() -> None:
    (workflow,) = (ROOT / ".github" / "workflows").glob("*.yml")
    steps = read(workflow)["jobs"]["test"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert ".ci/run" in commands
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    caches = [line for step in steps for line in str(step.get("with", {})).split("'") if "/" in line]
    named = re.findall(r"(?:tests|provers)/[\w/.*-]+", " ".join(caches))
    assert named
    assert not [path for path in named if path != "provers/native/target" and not list(ROOT.glob(path.rstrip(".")))]


def test_hooks_are_the_checks() -> None:
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    expected = {line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()}
    (repo,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert {hook["entry"] for hook in repo["hooks"]} == expected
    assert repo["repo"] == "local" and all(hook["language"] == "system" for hook in repo["hooks"])


def test_the_citation_is_of_its_format() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert {"authors", "cff-version", "message", "title"} <= set(citation) <= set(CITATION_KEYS.split())
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    for author in citation["authors"]:
        assert set(author) <= set((ENTITY_KEYS if "name" in author else PERSON_KEYS).split())
    project = PROJECT["project"]
    assert (citation["title"], citation["license"]) == (project["name"], project["license"])
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]


def test_versions_agree() -> None:
    """The newest release of the changelog has the version of the package and the date of the citation."""
    citation, changelog = read(ROOT / "CITATION.cff"), (ROOT / "CHANGELOG.md").read_text()
    assert citation["version"] == PROJECT["project"]["version"]
    assert CARGO["workspace"]["package"]["version"] == PROJECT["project"]["version"]
    unreleased, newest, *_ = re.findall(r"^## (.+)$", changelog, re.M)
    assert unreleased == "Unreleased" and newest == f"{citation['version']} ({citation['date-released']})"


def test_no_address_is_invented() -> None:
    """The project's own address is not known to it: what people publish names none, and no e-mail."""
    texts = [*YAML, *TEMPLATES, ROOT / "SECURITY.md", ROOT / ".github" / "pull_request_template.md"]
    assert not [path.name for path in texts if re.search(r"https?://|[\w.]+@[\w-]+\.\w", path.read_text())]
    assert not PROJECT["project"].get("urls") and not any("email" in author for author in PROJECT["project"]["authors"])


def test_the_toolchain_is_one_that_the_crates_accept() -> None:
    """A channel, not a version, so that rustup downloads none; and what `make check` asks of it."""
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
    assert toolchain["channel"] == "stable"
    assert {"clippy", "rustfmt"} == set(toolchain["components"])
    folder = subprocess.run([ROOT / ".ci" / "rust"], capture_output=True, text=True, check=True).stdout.strip()
    found = subprocess.run([Path(folder) / "cargo", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    version = [int(part) for part in found.stdout.split()[1].split("-")[0].split(".")]
    assert version >= [int(part) for part in CARGO["workspace"]["package"]["rust-version"].split(".")]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_templates_say_what_they_are_for(template: Path) -> None:
    front = yaml.safe_load(template.read_text().split("---\n")[1])
    assert {"name", "about"} <= set(front)


def test_the_security_page_names_attacks_that_exist() -> None:
    patterns = re.findall(r"`(test_[\w*]+\.py)`", (ROOT / "SECURITY.md").read_text())
    assert len(patterns) >= 15
    assert not [pattern for pattern in patterns if not list((ROOT / "tests" / "attacks").glob(pattern))]


def long_lines(text: str) -> list[str]:
    """Lines of prose over 120 characters: not in a fence, and neither a row of a table nor a picture."""
    found, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if not fenced and len(line) > 120 and not line.lstrip().startswith(("|", "![")):
            found.append(line)
    return found


def test_lines_of_prose_are_short() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 100
    assert {path.name: found for path in pages if (found := long_lines(path.read_text()))} == {}
    assert long_lines("a " * 61) and not long_lines("| " + "a " * 61)
