# Two commands do everything: `make paper` runs the main job, `make test` the tests.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j2 # kernels are compiled while the rest is installed and checked
endif
export PYTHONDONTWRITEBYTECODE := # tests start hundreds of processes: what one has compiled the next may read
PYTHON ?= python3
ENTRY ?= ucls-exact
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
WARNINGS ?= # options of pytest
CONSTRAINTS ?= # a file of versions, e.g. constraints.txt
UPGRADE ?= # not empty: the newest allowed version of everything, also of what is already installed
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(strip $(CONSTRAINTS)),-c $(strip $(CONSTRAINTS))) $(if $(strip $(UPGRADE)),--upgrade --upgrade-strategy eager)
PYTEST = $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder
QUICK = -m "not slow" --durations=15 $(WARNINGS)

.PHONY: paper docs test test-all test-lowest test-newest test-slurm pytest coverage release check kernels bench bench-check benchmark-quick clean

paper: $(READY)
	$(BIN)/ucls paper run --quick --out out/paper

docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo out/site/index.html

test: check kernels
	$(PYTEST) $(QUICK)

test-all: check kernels
	$(PYTEST)

# The tests with the lowest and with the newest versions that pyproject.toml allows, each in an environment of its own.
# Style and types are checked with the usual versions only. What an old package uses of a newer one may be deprecated.
test-lowest:
	mkdir -p out
	$(PYTHON) .ci/lowest > out/lowest.txt
	$(MAKE) VENV=out/lowest CONSTRAINTS=out/lowest.txt WARNINGS='-W ignore::DeprecationWarning' pytest

test-newest:
	mkdir -p out
	$(MAKE) VENV=out/newest CONSTRAINTS= UPGRADE=yes pytest

pytest: $(DEV) kernels
	$(PYTEST) $(QUICK)

# Which lines of the package the tests reach. What kernels run as machine code is not counted.
coverage: $(DEV) kernels
	$(PYTEST) $(QUICK) --cov --cov-report=term:skip-covered --cov-report=xml:out/coverage.xml

# Builds dist/ for a tag, `make release TAG=v0.3.0`, if the changelog has a date for it and the tests pass.
release: $(DEV)
	rm -rf dist
	mkdir dist
	$(BIN)/python .ci/release '$(TAG)' > dist/NOTES.md
	$(MAKE) test
	$(BIN)/python -m hatchling build --directory dist
	$(PIP_INSTALL) twine
	$(BIN)/python -m twine check --strict dist/*.whl dist/*.tar.gz

# Starts a Slurm of one node, from Debian's packages; without them it says how to install them.
test-slurm: $(DEV)
	$(BIN)/python -m faults.slurm
	UCLS_SLURM=1 $(BIN)/python -m pytest -q tests/test_slurm.py

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

kernels: $(READY)
	$(BIN)/ucls compile ucls/RiverSwim-v0 --algo ucls-exact --algo ucls --algo gv-ucb --jobs 1

# The quick part of the exploration benchmark, and its page; ENTRY=... enters another algorithm.
benchmark-quick: $(READY)
	$(BIN)/ucls benchmark run $(ENTRY) --quick
	$(BIN)/ucls benchmark check out/benchmark/$(ENTRY).json
	$(BIN)/ucls benchmark page out/benchmark/$(ENTRY).json

bench: $(DEV)
	-$(PIP_INSTALL) 'ucls[bench]'
	$(BIN)/python -m bench

bench-check: $(DEV)
	$(BIN)/python -m bench check

# The package is all that `make paper` needs; tests, checks and pages need more.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --editable .
	touch $(READY)

$(DEV): $(READY)
	$(PIP_INSTALL) --no-compile 'ucls[dev]' # adds to what is there
	touch $(DEV)

clean:
	rm -rf $(VENV) out
