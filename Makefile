# make demo     Rill and CURE on a generated stream, beside its floors, from nothing to a report
# make test     lint, types and all quick tests
# make long     the tests that take minutes (set MILLPOND_DATA for those on the real streams)
# make serve-demo   a service fed with drifting streams, and its live page
# make crash    a durable fleet killed a thousand times; figures go to benchmarks/results
# make bench    the benchmarks; results go to benchmarks/results
# make fuzz     ten minutes of fuzzing for each reader of files; figures and corpus are kept
# make pretrain-smoke  a toy of the pretraining on the CPU, in under two minutes
# make clean    remove what the targets above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

# One stamp for each set of packages, so that the set-up is done once and again when it changes.
$(VENV)/demo.stamp: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "millpond needs Python 3.11 or newer: make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/test.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/fuzz.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	touch $@

$(VENV)/torch.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[torch]'
	touch $@

.PHONY: demo test long serve-demo crash bench fuzz pretrain-smoke clean
.DEFAULT_GOAL := test

demo: $(VENV)/demo.stamp
	$(BIN)/millpond run agr_a --backbone rill --policy cure --tau 0.4 --out runs/demo
	$(BIN)/millpond run agr_a --backbone knn --policy cure --tau 0.4 --out runs/demo-knn
	$(BIN)/millpond compare runs/demo runs/demo-knn
	@echo "Now open runs/demo/report.html"

$(VENV)/serve.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[serve]'
	touch $@

serve-demo: $(VENV)/serve.stamp
	$(BIN)/python -m millpond.serve.demo

test: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(JOBS)

long: $(VENV)/test.stamp
	$(BIN)/pytest -n $(JOBS) -m long

crash: $(VENV)/test.stamp
	PYTHONPATH=tests $(BIN)/python benchmarks/fleet_crashes.py

bench: $(VENV)/test.stamp
	$(BIN)/python benchmarks/eviction.py

fuzz: $(VENV)/fuzz.stamp
	$(BIN)/python benchmarks/fuzz.py

pretrain-smoke: $(VENV)/torch.stamp
	$(BIN)/python -m pretraining.smoke

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache
