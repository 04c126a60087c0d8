# The two commands to know: `make demo` (and `make demo-down`), `make test`. The work is done in Python, in
# slurmtui/sandbox/install.py and demo.py.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin
# Each process has a SLURM and a Prefect server of its own; the tests of a file share them.
LIVE := $(BIN)/python -m pytest -n 2 --dist loadfile --durations=15 tests/live

.PHONY: help setup setup-dev demo demo-down test test-slurm-versions unit live soak lint bench clean

help:
	@echo 'make setup      install slurmtui into .venv, and the packages its sandbox needs'
	@echo 'make demo       a real SLURM, a Prefect server and three flows on this machine; opens the console on them'
	@echo 'make demo-down  end all of that, and remove its data'
	@echo 'make test       every test: real SLURM, real Prefect, a real terminal'
	@echo 'make test-slurm-versions  what is about SLURM, against four releases of it, each a real one (as root)'
	@echo 'make unit       the tests that need neither'
	@echo 'make soak       200 runs with cancels, retries and kills at random, and outages of a minute: hours'
	@echo 'make lint       ruff, mypy, the layers'
	@echo 'make bench      measure the console'
	@echo 'make clean      remove what the tools left (not .venv, not the state folder)'

setup: need-python
	@$(PYTHON) -m slurmtui.sandbox.install

setup-dev: need-python
	@$(PYTHON) -m slurmtui.sandbox.install --dev

.PHONY: need-python
need-python:
	@test -n "$(PYTHON)" || { echo 'slurmtui: Python 3.10 or newer is needed and was not found. As root: apt-get install python3 python3-venv' >&2; exit 1; }

demo: setup
	@$(BIN)/python -m slurmtui.sandbox.demo up

demo-down:
	@test -x $(BIN)/python || { echo 'slurmtui: there is no .venv here, so no demo was started from here' >&2; exit 1; }
	@$(BIN)/python -m slurmtui.sandbox.demo down

test: setup-dev
	$(BIN)/python -m pytest -n 2 tests/unit tests/ui
	$(LIVE)

# As root: the other releases of SLURM run in chroots, which are kept in the cache folder.
test-slurm-versions: setup-dev
	$(BIN)/python -m tests.versions

unit: need-python
	@$(PYTHON) -m slurmtui.sandbox.install --dev --no-packages
	$(BIN)/python -m pytest -n 2 tests/unit tests/ui

live: setup-dev
	$(LIVE)

soak: setup-dev
	SLURMTUI_SOAK_RUNS=200 SLURMTUI_TEST_OUTAGE_SECONDS=60 $(BIN)/python -m pytest tests/live/test_soak.py tests/live/test_faults_services.py

lint: need-python
	@$(PYTHON) -m slurmtui.sandbox.install --dev --no-packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --exclude '*.md' .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup-dev
	$(BIN)/python -m tests.bench.console
	$(BIN)/python -m pytest -m bench tests/bench

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis snapshot_report.html
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
