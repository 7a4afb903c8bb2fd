# Two commands for a fresh machine with Python 3.11, pip and make: `make report` and `make test`.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Compiled timings and goldens are made with what constraints.txt pins; ranges are in pyproject.toml.
INSTALLED := $(VENV)/.installed

.PHONY: report test check suites zoo format clean

report: $(INSTALLED)
	$(BIN)/parity report examples/digits/model.pt

test: check suites

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest tests

suites: $(INSTALLED)
	$(BIN)/pytest suites

# The trained models of suites/zoo: their packages hold the weights, about 300 MB in all.
zoo: $(INSTALLED)
	$(BIN)/python -m suites.zoo.install
	$(BIN)/pytest suites/zoo

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) parity-report dist build .pytest_cache .mypy_cache .ruff_cache

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[cpu,dev]"
	touch $@
