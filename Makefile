# Two commands do everything: `make paper` runs the main job, `make test` the tests.
MAKEFLAGS += -j2 # kernels are compiled while the rest is installed and checked
export PYTHONDONTWRITEBYTECODE := # tests start hundreds of processes: what one has compiled the next may read
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev

.PHONY: paper docs test test-all check kernels bench bench-check clean

paper: $(READY)
	$(BIN)/ucls paper --quick --out out/paper

docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo out/site/index.html

test: check kernels
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" --durations=15

test-all: check kernels
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

kernels: $(READY)
	$(BIN)/ucls compile ucls/RiverSwim-v0 --agent ucls-exact --agent ucls --agent gv-ucb --jobs 1

bench: $(DEV)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check 'ucls[bench]'
	$(BIN)/python -m bench

bench-check: $(DEV)
	$(BIN)/python -m bench check

# The package is all that `make paper` needs; tests, checks and pages need more.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $(READY)

$(DEV): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile 'ucls[dev]' # adds to what is there
	touch $(DEV)

clean:
	rm -rf $(VENV) out
