# `make` alone lists the targets. Everything is made inside this folder: .boot (uv), .venv, .run (data, logs, downloads).
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The first Python 3.11 to 3.13 that really runs (a version manager's shim may stand for one that is not chosen).
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
  $$python -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)
BIN := .venv/bin
# Bytecode is kept, whatever the caller's shell says of it: without, every start and every worker compiles all tests anew.
RUN := env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=plugins:. GX_ANALYTICS_ENABLED=false
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV

.PHONY: help setup demo demo-live up down test slow-tests test-kill test-live test-live-full check lint fast-tests coverage mutate bench bench-beside bench-planner fuzz wheel lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: .venv/.ready ## make the environment (.venv) from the committed lock; the command is then .venv/bin/rebalance-advisor

.boot/bin/uv:
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11, 3.12 or 3.13 is needed and none was found. Name one: make PYTHON=/path/to/python3.12"; exit 1; }
	@echo "setup: fetching uv"
	@$(PYTHON) -m venv .boot && .boot/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'

.venv/.ready: pyproject.toml uv.lock | .boot/bin/uv
	@echo "setup: installing the locked packages into .venv"
	@started=$$(date +%s); .boot/bin/uv sync --frozen --all-extras --no-extra kerberos --compile-bytecode --quiet --python $(PYTHON) && \
	  echo "setup: packages downloaded and installed in $$(( $$(date +%s) - started )) s"
	@touch $@

demo: setup ## the whole pipeline on a demo cluster, or with BOOTSTRAP=host:port on yours; ends with a verdict
	@$(RUN) $(BIN)/python -m stack.demo.pipeline $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP)) $(if $(COMMAND_CONFIG),--command-config $(COMMAND_CONFIG))

demo-live: setup ## start real Kafka brokers, advise them, let Kafka's own tool execute the plan, compare, roll back
	@$(RUN) $(BIN)/python -m stack.demo.live

up: setup ## start Postgres and Airflow and leave them running
	@$(RUN) $(BIN)/python -m stack.up

down: setup ## stop what `make up` started
	@$(RUN) $(BIN)/python -m stack.down

test: fast-tests slow-tests ## all tests that need nothing but this machine

slow-tests: setup
	@$(RUN) $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "(slow or planned) and not live and not stack and not matrix"
	@$(RUN) $(BIN)/python -m pytest -q -m "stack and not live and not matrix"

test-kill: setup ## SIGKILL, ENOSPC and Ctrl-C at every file operation of plan, advise and publish; SIGKILL at five moments of a run in a real Airflow (`make test` has some of each); prints the tables
	@$(RUN) $(BIN)/python -m tests.unit.publish.kill_table
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/stack/test_kill_table.py

test-live: setup ## tests against real Kafka brokers, Kafka's own classes and Debian's Prometheus (Maven, a JDK, apt)
	@$(RUN) $(BIN)/python -m pytest -q -m "live and not matrix" tests/live

test-live-full: setup ## every live test on every release, 2,000 fresh cases a family (CONFORMANCE_CASES, CONFORMANCE_SEED)
	@$(RUN) env CONFORMANCE_CASES=$(or $(CONFORMANCE_CASES),2000) $(BIN)/python -m pytest -q -m live tests/live

check: setup ## lint, types, layers and the fast tests, side by side
	@$(MAKE) --no-print-directory -j 2 lint fast-tests

lint: setup
	@$(BIN)/ruff format --check --quiet . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(RUN) $(BIN)/lint-imports

fast-tests: setup
	@$(RUN) $(BIN)/python -m pytest -q -n 3 --dist loadfile -p no:anyio --brief-search -m "not live and not stack and not slow and not matrix"

coverage: setup ## line coverage of the small cases with kernels interpreted, and the lines that none reaches
	@$(RUN) $(BIN)/python -m tests.mutation.coverage_table

mutate: setup ## a seeded sample of mutants, each put to the tests that reach its line; prints the survivors (MUTANTS=150 SEED=1; AGAIN=its output asks again of them)
	@$(RUN) $(BIN)/python -m tests.mutation --mutants $(or $(MUTANTS),150) --seed $(or $(SEED),1) $(if $(AGAIN),--again $(AGAIN))

bench: setup ## assignors, weighted and key hashes against Kafka's own Java, in one run: all cells, or CELLS=24 of each (Maven and a JDK are needed)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_assignors $(if $(CELLS),--cells $(CELLS))

bench-beside: setup ## our assignors in this checkout and in another one, in turns: what became slower (OTHER=folder CELLS=60)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_beside $(OTHER) $(if $(CELLS),--cells $(CELLS))

bench-planner: setup ## the planner on cluster models beside a peer's results, and its gaps to the bound (MODELS=folder)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_planner --models $(or $(MODELS),../shared/clusters)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_gaps

fuzz: setup ## 20,000 damaged inputs put to everything that reads; prints read, refused, crash and hang by kind (INPUTS=…)
	@$(RUN) $(BIN)/python -m tests.fuzz --inputs $(or $(INPUTS),20000)

# For the Python of .venv: another one that finds nothing of its own in the wheel compiles at its first run.
wheel: setup ## build dist/*.whl with kernels compiled for x86-64-v3: a first run finds them and compiles nothing
	@$(RUN) $(BIN)/python -m stack.wheel.carry_kernels
	@rm -rf dist && $(BIN)/python -m hatchling build -t wheel && ls -l dist

lock: .boot/bin/uv ## resolve the lock anew (only public PyPI addresses may stand in it)
	@env -u UV_DEFAULT_INDEX -u UV_INDEX -u UV_INDEX_URL .boot/bin/uv lock

clean: ## remove what `make` made, except downloads
	@rm -rf .venv .boot build dist plugins/kafka_rebalance/carried .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
