# make run    environment, install, then an example from description to plots
# make test   environment, install, all tests
# make check  what a developer runs before a commit: lint, types, layers, all tests
# make bench  figures and ratios; installs the peers where a benchmark wants them

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test check lint types layers coverage bench search lock clean
.DEFAULT_GOAL := run

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dalembert needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[test]'
	@touch $@

run: $(VENV)/.installed
	$(BIN)/python examples/hanging_chain.py

# Compiled once before the parallel workers start; each of them would compile for itself otherwise.
test: $(VENV)/.installed-test
	$(BIN)/python tests/warm_up.py
	$(BIN)/python -m pytest --numprocesses auto --quiet

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-test
	$(BIN)/mypy

layers: $(VENV)/.installed-test
	$(BIN)/lint-imports --no-cache

check: lint types layers test

# The compiled functions run as plain Python here, so that the coverage sees them.
coverage: $(VENV)/.installed-test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --numprocesses auto --quiet --cov=dalembert --cov-report=term-missing

# A wider random search than the checks make: other seeds, more examples.
search: $(VENV)/.installed-test
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest tests --quiet --numprocesses auto

$(VENV)/.installed-peers: $(VENV)/.installed-test
	$(PIP) install --constraint constraints.txt --editable '.[peers]'
	@touch $@

bench: $(VENV)/.installed-peers
	$(BIN)/python benchmarks/run.py

# Renews constraints.txt from a fresh environment.
lock:
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip --quiet install '.[test]'
	$(VENV)/lock/bin/python -m pip freeze --exclude dalembert > constraints.txt
	rm -rf $(VENV)/lock

clean:
	rm -rf $(VENV) build out .mypy_cache .ruff_cache src/*.egg-info
