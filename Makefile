# Every target sets up what it needs: Python 3.11 or newer on the PATH is enough.

VENV := .venv
BIN := $(VENV)/bin
SET_UP := $(VENV)/.set-up
LOCKED := --universal --python-version 3.11 --generate-hashes --no-annotate --no-header

ONLY ?=
QUICK ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast check bench docs soak lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(SET_UP) ## show the rules and the registry at work on an evolution
	@$(BIN)/tally demo

test: check ## check, then run every test
	@sh tools/need-postgresql
	@$(BIN)/python -m pytest -n auto --hypothesis-profile=ci

test-fast: $(SET_UP) ## run the tests that need no JVM, with fewer generated examples
	@sh tools/need-postgresql
	@$(BIN)/python -m pytest -n auto -m "not jvm" --hypothesis-profile=fast

check: $(SET_UP) ## check format, lint, types and layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(SET_UP) ## measure against the peers [ONLY=pattern] [QUICK=1]
	@$(BIN)/python -m bench.run $(if $(ONLY),--only '$(ONLY)') $(if $(QUICK),--quick)

docs: $(SET_UP) ## regenerate the reference pages and build the site in build/site
	@$(BIN)/python -m tools.reference
	@$(BIN)/mkdocs build --strict

soak: $(SET_UP) ## run the property tests with many random examples, and the kill tests with their full counts
	@sh tools/need-postgresql
	@$(BIN)/python -m pytest -n auto tests/properties --hypothesis-profile=soak
	@TALLYSTICK_SOAK=1 $(BIN)/python -m pytest -s tests/concurrency tests/spark/faults

lock: ## resolve the dependencies anew into requirements.lock
	@python=$$(sh tools/find-python) && $$python -m venv --clear build/lock
	@build/lock/bin/pip install --quiet uv
	@build/lock/bin/uv pip compile pyproject.toml --extra dev $(LOCKED) --quiet --upgrade --output-file requirements.lock
	@rm -rf build/lock

clean: ## remove what the other targets made, .venv too
	@rm -rf $(VENV) build bench/results src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(SET_UP): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) ..."
	@test -x $(BIN)/python || { python=$$(sh tools/find-python) && $$python -m venv --clear $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@
