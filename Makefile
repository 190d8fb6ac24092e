# The front door.  `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
RUN    := $(BIN)/python -m

# One stamp a venv: made anew when what is to be installed has changed.
$(VENV)/.demo: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("holdfast needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(RUN) pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(RUN) pip install --quiet --disable-pip-version-check --editable '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@$(RUN) pip install --quiet --disable-pip-version-check --group test --group dev --group docs --group bench
	@touch $@

.PHONY: help demo test check bench docs torture clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(VENV)/.demo  ## two processes lose updates without a lock, and none with one; a dead holder is replaced
	@$(BIN)/holdfast demo

test: $(VENV)/.dev  ## every test, with coverage
	@$(RUN) coverage erase
	@$(RUN) coverage run -m pytest $(ARGS)
	@$(RUN) coverage combine --quiet
	@$(RUN) coverage report

check: $(VENV)/.dev  ## format, lint, types, and that the docs build
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/pyright --pythonpath $(BIN)/python --warnings
	@PYTHONPATH=src $(BIN)/pyright --pythonpath $(BIN)/python --verifytypes holdfast --ignoreexternal | grep score
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.dev  ## speed, beside floors and rivals in the same run; results under bench/results/
	@$(RUN) bench

docs: $(VENV)/.dev  ## the documentation as a site, under site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

torture: $(VENV)/.dev  ## the long searches and fault runs, minutes instead of seconds
	@$(RUN) pytest -m wide -o faulthandler_timeout=0 $(ARGS)

clean:  ## forget what was built and installed
	@rm -rf $(VENV) build dist site .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
