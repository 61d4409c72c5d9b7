# Two commands set everything up: `make demo` runs the main job, `make test` the tests.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check --quiet
DEMO ?=

.PHONY: demo test lint types clean wheel

demo: $(VENV)/installed
	$(VENV)/bin/harness-eval run $(DEMO)

test: $(VENV)/installed-dev
	$(VENV)/bin/pytest -n 2 --dist worksteal

lint: $(VENV)/installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/installed-dev
	$(VENV)/bin/mypy

wheel: $(VENV)/installed-dev
	$(VENV)/bin/python -m build --wheel --outdir dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) dist build
