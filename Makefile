# `make` alone lists the targets. Everything is made inside this folder: .boot (uv), .venv, .run (data, logs, downloads).
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The first Python 3.11 to 3.13 that really runs (a version manager's shim may stand for one that is not chosen).
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
  $$python -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)
BIN := .venv/bin
# Bytecode is kept, whatever the caller's shell says of it: without, every start and every worker compiles all tests anew.
RUN := env -u PYTHONDONTWRITEBYTECODE PYTHONPATH=plugins:. GX_ANALYTICS_ENABLED=false
LANES := $(BIN)/python -m tests.lanes
# The hand-run matrices draw other examples each time, and print the seed that repeats them.
FRESH_SEED := $(or $(SEED),$(shell date +%s))
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV

.PHONY: help setup env demo demo-live up down test test-all test-page test-page-size test-kill test-upgrade test-own-airflow test-airflow-versions test-numba test-planner test-views test-live test-live-full check lint coverage mutate bench bench-beside bench-planner bench-pipeline bench-fleet fuzz wheel release lock clean

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

env: ## write .env with random passwords and keys, for docker compose
	@$(PYTHON) -m stack.compose.env_file

demo: setup ## the whole pipeline on a demo cluster, or with BOOTSTRAP=host:port on yours (COMMAND_CONFIG=client.properties where it is secured); ends with a verdict
	@$(RUN) $(BIN)/python -m stack.demo.pipeline $(if $(BOOTSTRAP),--bootstrap $(BOOTSTRAP)) $(if $(COMMAND_CONFIG),--command-config $(COMMAND_CONFIG))

demo-live: setup ## start real Kafka brokers, advise them, let Kafka's own tool execute the plan, compare, roll back
	@$(RUN) $(BIN)/python -m stack.demo.live

up: setup ## start Postgres and Airflow and leave them running
	@$(RUN) $(BIN)/python -m stack.up

down: setup ## stop what `make up` started
	@$(RUN) $(BIN)/python -m stack.down

test: setup ## the fast tests and one run of the main job; about eight minutes
	@$(LANES) test

test-all: setup ## everything that needs only this machine and Debian's chromium: whole searches, SQL, Spark, Airflow, the page
	@$(LANES) test-all

test-page: setup ## the page in a real Airflow, driven by Debian's chromium (apt-get install chromium): logins, moves, contrast, phone
	@$(RUN) $(BIN)/python -m pytest -q -m browser tests/stack

test-kill: setup ## SIGKILL, ENOSPC and Ctrl-C at every file operation of plan, advise and publish; SIGKILL at five chosen and 40 random moments of runs in a real Airflow (SEED=1 MINUTES=75; started again it goes on; `make test-all` has some of each); prints the tables
	@$(RUN) $(BIN)/python -m tests.unit.publish.kill_table
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/stack/kills
	@$(RUN) $(BIN)/python -m tests.stack.kills.random_kills --seed $(or $(SEED),1) --minutes $(or $(MINUTES),75)

test-upgrade: setup ## the version before (BEFORE=commit) becomes this one while a run is under way in a real Airflow
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/stack/test_upgrade.py

test-planner: setup ## thousands of random clusters put to the planner and to exact models: bounds, widened bands, causes, shares, words (half an hour; SEED=; `make test-all` has a sample)
	@echo "SEED=$(FRESH_SEED)"
	@$(RUN) $(BIN)/python -m pytest -q -n 2 --dist load --hypothesis-profile=fresh --hypothesis-seed=$(FRESH_SEED) -m matrix tests/properties tests/unit/cluster_arrays tests/unit/kernels tests/unit/plans/topic_leaders

test-own-airflow: setup ## the wheel by plain pip beside an installed Airflow, in a fresh environment: DAGs, the demo, the page, approval
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/stack/test_own_airflow.py -k "own]"

test-airflow-versions: setup ## the same in the newest Airflow 3.2 and 3.1
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/stack/test_own_airflow.py -k "not own]"

test-page-size: setup ## 1,000 brokers, 50,000 moves, 2,000 groups: seconds of every page on the server and in chromium, the size of the report; hostile names on every page; prints the table
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/sql/page

test-views: setup ## 12 clusters x 90 days: seconds of every view and panel, what readings take on disk; prints the tables
	@$(RUN) $(BIN)/python -m pytest -q -s -m matrix tests/sql/test_views_in_time.py tests/sql/test_board_queries.py tests/sql/test_stored_size.py

test-live: setup ## real Kafka brokers, Kafka's own classes and Debian's Prometheus (Maven, a JDK, apt)
	@$(LANES) test-live

test-live-full: setup ## every live test on every release, 2,000 fresh cases a family (CONFORMANCE_CASES, CONFORMANCE_SEED)
	@$(RUN) env CONFORMANCE_CASES=$(or $(CONFORMANCE_CASES),2000) $(BIN)/python -m pytest -q -m live tests/live
	@$(RUN) env LIVE_KAFKA=4.3.1 $(BIN)/python -m pytest -q -m live -k "not 3.9.2" --ignore-glob="*_releases.py" tests/live/test_live_*.py

check: setup ## lint, types, layers and the fast tests, side by side
	@$(LANES) check

lint: setup
	@$(BIN)/ruff format --check --quiet . || { echo "run: .venv/bin/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(RUN) $(BIN)/lint-imports

coverage: setup ## the lines that `make test` reaches, by package, and those missed; with ALL=1 also `make test-all`
	@$(RUN) $(BIN)/python -m tests.mutation.coverage_table $(if $(ALL),--all)

mutate: setup ## a seeded sample of mutants, each put to the tests that reach its line: the shares killed by `make test` and `make test-all`, and the survivors (MUTANTS=150 SEED=1; AGAIN=its output asks again of them)
	@$(RUN) $(BIN)/python -m tests.mutation --mutants $(or $(MUTANTS),150) --seed $(or $(SEED),1) $(if $(AGAIN),--again $(AGAIN))

bench: setup ## assignors, weighted and key hashes against Kafka's own Java, in one run: all cells, or CELLS=24 of each (Maven and a JDK are needed)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_assignors $(if $(CELLS),--cells $(CELLS))

bench-beside: setup ## our assignors in this checkout and in another one, in turns: what became slower (OTHER=folder CELLS=60)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_beside $(OTHER) $(if $(CELLS),--cells $(CELLS))

bench-planner: setup ## the planner on cluster models beside a peer's results, and its gaps to the bound, also where replicas of a partition differ in size (MODELS=folder)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_planner --models $(or $(MODELS),../shared/clusters)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_gaps
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_noise

bench-pipeline: setup ## advisories of 10,000 and 100,000 partitions through Airflow, Spark and Postgres: wall, CPU and memory of each task (SIZES="10k 100k 333k" SCENARIOS=all)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_pipeline $(addprefix --only ,$(SIZES)) --scenarios $(or $(SCENARIOS),today)

bench-fleet: setup ## many clusters of 10,000 partitions advised at once: advisories an hour, CPU and memory by component, where tasks waited (CLUSTERS=50 SLOTS=1 DAG=advise, or collect)
	@$(RUN) $(BIN)/python -m tests.benchmarks.bench_fleet --clusters $(or $(CLUSTERS),50) --slots $(or $(SLOTS),1) --dag $(or $(DAG),advise)

fuzz: setup ## 20,000 damaged inputs put to everything that reads; prints read, refused, crash and hang by kind (INPUTS=…)
	@$(RUN) $(BIN)/python -m tests.fuzz --inputs $(or $(INPUTS),20000)

test-numba: setup ## the kernels, and the planner's pinned answers, with each older numba that pyproject.toml allows (NUMBAS="0.66 0.67")
	@for minor in $(or $(NUMBAS),0.66 0.67); do folder=.run/numba-$$minor && echo "numba $$minor" && \
	  .boot/bin/uv pip install --quiet --target $$folder --python $(BIN)/python "numba==$$minor.*" && \
	  PYTHONPATH=$$folder:plugins:. NUMBA_CACHE_DIR=$$folder/cache $(BIN)/python -m pytest -q tests/unit/kernels tests/unit/planner/test_pinned_answers.py || exit 1; done

wheel: setup ## build dist/*.whl
	@rm -rf dist && $(BIN)/python -m hatchling build -t wheel && ls -l dist

release: wheel ## the wheel, its list of packages with licences (CycloneDX) and the JSON schemas, in dist/
	@$(RUN) $(BIN)/python -m stack.wheel.release dist

lock: .boot/bin/uv ## resolve the lock anew (only public PyPI addresses may stand in it)
	@env -u UV_DEFAULT_INDEX -u UV_INDEX -u UV_INDEX_URL .boot/bin/uv lock

clean: ## remove what `make` made, except downloads
	@rm -rf .venv .boot build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
