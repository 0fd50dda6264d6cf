# circuitize: `make demo` shows it, `make test` tests it. Everything is built inside this folder; PYTHON=... chooses the interpreter.

VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find provers/native -name target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
EVERY_SOURCE := $(patsubst tests/sources/%/requirements.txt,.stamps/source-%,$(wildcard tests/sources/*/requirements.txt))
# Those that `make deep` alone runs are installed for it alone.
SOURCES := $(filter-out .stamps/source-hgq .stamps/source-sklearn,$(EVERY_SOURCE))
PACKAGE := pyproject.toml setup.py setup.cfg $(NATIVE)
# Workers of pytest, for two cores: a third one takes longer than its waiting for other processes saves. Each has a thread
# of linear algebra and of trees: more threads than cores would wait for one another by spinning. The allocator keeps
# arrays that are freed, which otherwise go back to the system and are cleared again for the next ones.
JOBS := 2
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	MALLOC_MMAP_THRESHOLD_=268435456 MALLOC_TRIM_THRESHOLD_=536870912 MALLOC_TOP_PAD_=67108864 \
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Modules are compiled once, whatever the environment says, and not again by each process that a test starts.
export PYTHONDONTWRITEBYTECODE :=

define install
	rust=$$(.ci/rust) && rm -f src/circuitize/_native*.so && \
		PATH="$$rust:$$PATH" $(BIN)/pip install -q --no-build-isolation -e '$1'
endef

.PHONY: help build demo quick test deep check site coverage golden picture wheels wasm page page-test bench clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo     the whole story on real data, in one screen (artefacts in ./circuitize-demo)'
	@echo 'make quick    one case of each class of tests, no hardware, no proofs: in 2 minutes'
	@echo 'make test     every check and every test: what continuous integration runs, in 10 minutes'
	@echo 'make deep     every test with thousands of cases, fuzzing, kills, synthesis: for hours; the log is deep.log'
	@echo 'make check    formatting, lint, types and import direction, Python and Rust'
	@echo 'make bench    the benchmarks, side by side with their peers'
	@echo 'make site     the documentation as a site, in build/site; a warning is an error'
	@echo 'make coverage which lines the tests of `make test` run, in build/coverage/html: twice its time and more'
	@echo 'make golden   rewrite the golden files after a change that was meant'
	@echo 'make picture  draw which folder imports which, in docs/packages.svg'
	@echo 'make wheels   wheels that install without Rust, for x86_64 and aarch64, in dist'
	@echo 'make wasm     the verifiers in Rust as one WebAssembly module'
	@echo 'make page     the web page that verifies, in build/verify.html; make page-test tries it in Chromium'
	@echo 'make build    the package and its Rust extension, in $(VENV)'
	@echo 'make clean    remove everything that was built'

build: .stamps/build
demo: .stamps/demo
	$(BIN)/circuitize demo

# While the crates are compiled, so are the tests' modules, once: each worker of pytest would compile all of them.
test: check site .stamps/interop .stamps/hardware .stamps/browser $(SOURCES)
	$(BIN)/pytest --collect-only -qq >/dev/null & .ci/test-rust; status=$$?; wait; exit $$status
	$(PYTEST) --durations 10

quick: .stamps/check
	$(BIN)/ruff check
	TIER=quick $(PYTEST) -q

deep: page .stamps/check .stamps/notebook .stamps/interop .stamps/hardware .stamps/verilator .stamps/browser $(EVERY_SOURCE)
	TIER=deep .ci/deep env $(PYTEST) --durations 50

golden: .stamps/check .stamps/interop .stamps/hardware .stamps/browser $(SOURCES)
	$(BIN)/pytest -q --update-golden

wheels: wheel-x86_64 wheel-aarch64

wheel-%: .stamps/venv
	.ci/wheel $*

# The verifiers alone: no prover, no Python. The page is one file, which needs no server.
wasm:
	.ci/wasm

page:
	module=$$(.ci/wasm) && .ci/page "$$module" build/verify.html

page-test: page .stamps/check .stamps/browser
	TIER=deep $(BIN)/pytest -q -n 0 tests/provers/test_page.py tests/attacks/test_page_attacks.py

picture: .stamps/check
	$(BIN)/python tests/support/import_graph.py docs/packages.svg

bench: .stamps/check
	@rust=$$(.ci/rust) && set -e && for script in benchmarks/*.py; do \
		echo "== $$script"; PATH="$$rust:$$PATH" $(BIN)/python "$$script"; done

# Read anew each time: a page that has not changed would keep its warnings to itself.
site: .stamps/site
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --quiet -c docs/site -d build/site-read . build/site

coverage: .stamps/coverage .stamps/interop .stamps/hardware .stamps/browser $(SOURCES)
	$(PYTEST) --cov --cov-report=term --cov-report=html

check: .stamps/check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	.ci/lint-rust

clean:
	rm -rf $(VENV) .venv-* .stamps build dist src/*.egg-info provers/native/target tests/interop/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f src/circuitize/_native*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: one per set of dependencies, each an editable install, so that only the Rust extension is ever rebuilt.

.stamps/venv:
	python=$$(.ci/python) && "$$python" -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| $(BIN)/pip install -q -r /dev/stdin
	@mkdir -p .stamps && touch $@

.stamps/build: .stamps/venv $(PACKAGE)
	$(call install,.)
	@touch $@

.stamps/demo: .stamps/venv $(PACKAGE)
	$(call install,.[demo])
	@touch .stamps/build $@

.stamps/check: .stamps/venv $(PACKAGE)
	$(call install,.[check])
	@touch .stamps/build .stamps/demo $@

# What is not needed by the package or its tests: extras, whose packages are added to the environment of the checks.
.stamps/site .stamps/notebook .stamps/coverage: .stamps/%: .stamps/check
	$(BIN)/python -c 'import sys, tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
		print(*extras[sys.argv[1]], sep="\n")' $* | $(BIN)/pip install -q -r /dev/stdin
	@touch $@

.stamps/interop: tests/interop/package-lock.json
	.ci/nodejs
	.ci/golang
	cd tests/interop && npm ci --silent --no-audit --no-fund --ignore-scripts
	@mkdir -p .stamps && touch $@

# Packages of other systems do not agree with one another (catgrad needs numpy below 2, so Python below 3.13): each has an
# environment of its own, where this package is read from src.
.stamps/source-%: tests/sources/%/requirements.txt
	python=$$(PYTHON='/usr/bin/python3.12 /usr/bin/python3.11 python3.12 python3.11 python3' .ci/python) && \
		"$$python" -m venv .venv-$*
	.venv-$*/bin/pip install -q -r $<
	@mkdir -p .stamps && touch $@

.stamps/hardware: .ci/hardware
	.ci/hardware
	@mkdir -p .stamps && touch $@

# cocotb wants a newer Verilator than the other tests do.
.stamps/verilator: .ci/verilator .stamps/check
	.ci/verilator >/dev/null
	@touch $@

.stamps/browser: .ci/browser
	.ci/browser
	@mkdir -p .stamps && touch $@
